"""Where data choose what is read, only that is computed, or a remark says why not."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyc.model.program import Compiled, Options
from polyc.pipeline import compile_region
from polyc.runtime.check import check
from tests.programs import region_of

HEAD = "#include <math.h>\n"

CHOSEN = {
    # Between the bounds of an expression: `T` is a pointer, whose first size is unknown.
    "bounded": (
        """
void f(int n, float A[n], float B[8][n], float (*T)[n], float C[n])
{
#pragma polyc live-out(C)
#pragma scop
    for (int k = 0; k < 8; k++)
        for (int i = 0; i < n; i++)
            T[k][i] = A[i] * k - B[k][i];
    for (int i = 0; i < n; i++) {
        int at = (int)fminf(fmaxf(A[i], 0.0f), 100.0f);
        int k = (at > 0 ? at : 0) < 6 ? (at > 0 ? at : 0) : 6;
        C[i] = T[k + 1][i] / 2.0f;
    }
#pragma endscop
}
""",
        "C[i] = (A[i] * (k_2 + 1) - B[k_2 + 1][i]) / 2.0f",
    ),
    # C forbids to leave the array.
    "declared": (
        """
void f(int n, float A[n], float B[8][n], int p[n], float C[n])
{
    float T[8][n];
#pragma scop
    for (int k = 0; k < 8; k++)
        for (int i = 0; i < n; i++)
            T[k][i] = A[i] * k - B[k][i];
    for (int i = 0; i < n; i++)
        C[i] = T[p[i] & 7][i];
#pragma endscop
}
""",
        "C[i] = A[i] * (p[i] & 7) - B[p[i] & 7][i]",
    ),
    "flat": (
        """
void f(int n, int m, float *A, float *B, int *p, float *C, float *T)
{
#pragma polyc live-out(C)
#pragma scop
    for (int k = 0; k < 8; k++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < m; j++)
                T[(k * n + i) * m + j] = A[i * m + j] - B[(k * n + i) * m + j];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            int at = p[i * m + j];
            int k = (at > 0 ? at : 0) < 7 ? (at > 0 ? at : 0) : 7;
            C[i * m + j] = T[(k * n + i) * m + j];
        }
#pragma endscop
}
""",
        None,
    ),
    # What is chosen reads what is chosen in its turn.
    "chain": (
        """
void f(int n, float A[n], float B[16][n], int p[n], float C[n])
{
    float S[16][n], T[16][n];
#pragma scop
    for (int k = 0; k < 16; k++)
        for (int i = 0; i < n; i++)
            S[k][i] = A[i] * k;
    for (int k = 0; k < 16; k++)
        for (int i = 0; i < n; i++)
            T[k][i] = S[k][i] + B[k][n - 1 - i];
    for (int i = 0; i < n; i++)
        C[i] = T[p[i] & 15][n - 1 - i];
#pragma endscop
}
""",
        None,
    ),
    "of_other_types": (
        """
void f(int n, double A[n], double B[16][n], unsigned char p[n], double C[n])
{
    double T[16][n];
#pragma scop
    for (long k = 0; k < 16; k++)
        for (int i = 0; i < n; i++)
            T[k][i] = A[i] / (k + 1) + (k - 20) * i;
    for (int i = 0; i < n; i++)
        C[i] = T[p[i] / 16][i];
#pragma endscop
}
""",
        "A[i] / ((long)(p[i] / 16) + 1) + ((long)(p[i] / 16) - 20) * i",
    ),
    "two_of_them": (
        """
void f(int n, float A[n], float B[8][8][n], int p[n], int q[n], float C[n])
{
    float T[8][8][n];
#pragma scop
    for (int k = 0; k < 8; k++)
        for (int l = 0; l < 8; l++)
            for (int i = 0; i < n; i++)
                T[l][k][i] = A[i] * k - B[k][l][i];
    for (int i = 0; i < n; i++)
        C[i] = T[p[i] & 7][q[i] & 7][i] + T[q[i] & 7][p[i] & 7][i];
#pragma endscop
}
""",
        None,
    ),
    # It stays for the window, and is not stored for what data choose.
    "kept_for_others": (
        """
void f(int n, int m, float A[n][m], float C[n][m], float D[8][n][m])
{
    float T[8][n][m];
#pragma scop
    for (int k = 0; k < 8; k++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < m; j++)
                T[k][i][j] = A[i][j] * k + 1.0f;
    for (int k = 0; k < 8; k++)
        for (int i = 0; i < n; i++)
            for (int j = 1; j < m - 1; j++)
                D[k][i][j] = T[k][i][j - 1] + T[k][i][j + 1];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            C[i][j] = T[(int)A[i][j] & 7][i][j];
#pragma endscop
}
""",
        None,
    ),
}

DECLINED = {
    "data-dependent": """
void f(int n, double A[64], int p[n], double *T, double C[n])
{
#pragma polyc live-out(C)
#pragma scop
    for (int i = 0; i < 64; i++)
        T[i] = A[i] + 1.0;
    for (int i = 0; i < n; i++)
        C[i] = T[p[i] & 63];
#pragma endscop
}
""",
    "more-work": """
void f(int n, double A[64], int p[n], double C[n])
{
    double T[64];
#pragma scop
    for (int i = 0; i < 64; i++)
        T[i] = exp(A[i]);
    for (int i = 0; i < n; i++)
        C[i] = T[p[i] & 63];
#pragma endscop
}
""",
    "input-overwritten": """
void f(int n, float A[n], float B[8][n], int p[n], float C[n])
{
    float T[8][n];
#pragma scop
    for (int k = 0; k < 8; k++)
        for (int i = 0; i < n; i++)
            T[k][i] = A[i] - B[k][i];
    for (int i = 0; i < n; i++)
        B[3][i] = 0.0f;
    for (int i = 0; i < n; i++)
        C[i] = T[p[i] & 7][i];
#pragma endscop
}
""",
    "several-writers": """
void f(int n, float A[n], float B[8][n], int p[n], float C[n])
{
    float T[8][n];
#pragma scop
    for (int k = 0; k < 8; k++)
        for (int i = 0; i < n; i++)
            T[k][i] = A[i] - B[k][i];
    for (int i = 0; i < n; i++)
        T[5][i] = 0.0f;
    for (int i = 0; i < n; i++)
        C[i] = T[p[i] & 7][i];
#pragma endscop
}
""",
    "data-dependent, of several values": """
void f(int n, float A[n], float B[8][n], int p[n], float (*T)[n], float C[n])
{
#pragma polyc live-out(C)
#pragma scop
    for (int k = 0; k < 8; k++)
        for (int i = 0; i < n; i++)
            T[k][i] = A[i] - B[k][i];
    for (int i = 0; i < n; i++) {
        int k = p[i] > 0 ? p[i] : 0;
        k = k < 6 ? k : p[0];
        C[i] = T[k][i];
    }
#pragma endscop
}
""",
    # Not all that may be chosen: a guard leaves some elements as they were.
    "data-dependent, with a guard": """
void f(int n, int m, float A[n], float B[8][n], float T[8][n], int p[n], float C[n])
{
#pragma polyc live-out(C)
#pragma scop
    for (int k = 0; k < 8; k++)
        for (int i = 0; i < n; i++)
            if (k < m)
                T[k][i] = A[i] - B[k][i];
    for (int i = 0; i < n; i++)
        C[i] = T[p[i] > 0 ? (p[i] < 7 ? p[i] : 7) : 0][i];
#pragma endscop
}
""",
    "irregular": """
void f(int n, float A[n], float B[16][n], int p[n], float C[n])
{
    float T[16][n];
#pragma scop
    for (int k = 0; k < 16; k++)
        for (int i = 0; i < n; i++)
            T[15 - k][i] = A[i] - B[k][i];
    for (int i = 0; i < n; i++)
        C[i] = T[p[i] & 15][i];
#pragma endscop
}
""",
    "fewer-parallel-loops": """
void f(int n, float A[n], float B[8][n], int p[n], float C[n])
{
    float T[8][n];
#pragma scop
    for (int k = 0; k < 8; k++)
        for (int i = 0; i < n; i++)
            T[k][i] = A[i] - B[k][i];
    for (int i = 1; i < n; i++)
        C[i] = C[i - 1] * T[p[i] & 7][i];
#pragma endscop
}
""",
    "too-long": """
void f(int n, float A[n], float B[8][n], int p[n], float C[n])
{
    float T[8][n];
#pragma scop
    for (int k = 0; k < 8; k++)
        for (int i = 0; i < n; i++)
            T[k][i] = B[k][i] - (A[i] * (A[i] * (A[i] * (A[i] * (A[i] * (A[i] * (A[i] * (A[i] * (A[i] * (A[i] * (
                      A[i] + 1.0f) + 2.0f) + 3.0f) + 4.0f) + 5.0f) + 6.0f) + 7.0f) + 8.0f) + 9.0f) + 10.0f) + 11.0f);
    for (int i = 0; i < n; i++)
        C[i] = T[p[i] & 7][i] + T[p[i] & 3][i] + T[p[i] & 1][i] + T[p[i] & 5][i];
#pragma endscop
}
""",
    "not-a-value": """
void f(int n, float A[n], float B[8][n], int p[n], int C[n])
{
    int T[8][n];
#pragma scop
    for (int k = 0; k < 8; k++)
        for (int i = 0; i < n; i++)
            T[k][i] = (int)(A[i] - B[k][i]);
    for (int i = 0; i < n; i++)
        C[i] = p[T[p[i] & 7][i] > 0 ? 1 : 0];
#pragma endscop
}
""",
}


def said(found: Compiled) -> set[tuple[str, str]]:
    return {(r.code, r.data.get("reason", "")) for r in found.program.remarks if r.stage == "chosen"}


def result(text: str, tmp_path: Path, **options: object) -> Compiled:
    region = region_of(HEAD + text, tmp_path)
    found = compile_region(region, Options(**options))  # type: ignore[arg-type]
    assert found.passed
    assert found.certificate.run == "agrees"
    assert not [r for r in found.program.remarks if r.code in ("verification-failed", "text-not-checked")]
    assert check(region, found, sizes=(1, 2, 7, 40)) == []
    return found


@pytest.mark.parametrize("name", CHOSEN)
def test_chosen(name: str, tmp_path: Path) -> None:
    text, expected = CHOSEN[name]
    found = result(text, tmp_path)
    assert said(found) == {("inlined", "")}
    assert ("T" in {a.array for s in found.program.scop.statements.values() for a in s.accesses}) == (
        name[:4] == "kept"
    )
    assert expected is None or expected in found.text


@pytest.mark.parametrize("reason", DECLINED)
def test_declined(reason: str, tmp_path: Path) -> None:
    found = result(DECLINED[reason], tmp_path)
    assert said(found) == {("not-inlined", reason.split(",")[0])}
    assert found.program.inlined == ()


def test_not_on_demand(tmp_path: Path) -> None:
    found = result(CHOSEN["declared"][0], tmp_path, inline=False)
    assert said(found) == set()
    assert found.program.inlined == ()


POINTER = """
void f(int n, float A[n], float (*B)[n], int p[n], float C[n])
{
    float T[8][n];
#pragma scop
    for (int k = 0; k < 8; k++)
        for (int i = 0; i < n; i++)
            T[k][i] = A[i] * k - B[k][i];
    for (int i = 0; i < n; i++)
        C[i] = T[p[i] & 7][i];
#pragma endscop
}
"""


@pytest.mark.parametrize("target", ["cuda", "opencl"])
def test_on_a_gpu(target: str, tmp_path: Path) -> None:
    """Each thread computes what is chosen, where it is known how much has to be copied to the GPU for that."""
    found = compile_region(region_of(HEAD + CHOSEN["declared"][0], tmp_path), Options(target=target))
    assert found.passed
    assert said(found) == {("inlined", "")}
    assert "T" not in found.device[0]
    found = compile_region(region_of(HEAD + POINTER, tmp_path), Options(target=target))
    assert said(found) == {("not-inlined", "size-unknown")}
    assert found.device


def test_on_a_gpu_in_the_shim(tmp_path: Path) -> None:
    region = region_of(HEAD + CHOSEN["declared"][0], tmp_path)
    found = compile_region(region, Options(target="cuda"))
    assert check(region, found, sizes=(1, 9, 300)) == []
