"""Elementwise producers are computed where they are read, or a remark says why not."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyc.model.program import Compiled, Options
from polyc.pipeline import compile_region
from polyc.runtime.check import check
from tests.differential.toolbox import OTHERWISE
from tests.programs import region_of

HEAD = "#include <math.h>\n"

INLINED = {
    "transposed": (
        """
void f(int n, int m, float A[n][m], float B[m], float C[m][n])
{
    float T[n][m];
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            T[i][j] = A[i][j] * B[j];
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            C[i][j] = T[j][i] + 1.0f;
#pragma endscop
}
""",
        "A[j][i] * B[i] + 1.0f",
    ),
    "shifted": (
        """
void f(int n, double A[n], double C[n])
{
    double T[n + 1];
#pragma scop
    for (int i = 0; i <= n; i++)
        T[i] = A[i > 0 ? i - 1 : 0] * i;
    for (int i = 0; i < n; i++)
        C[i] = 2.0 - T[i + 1];
#pragma endscop
}
""",
        "C[i] = 2.0 - A[i] * (i + 1)",
    ),
    "strided": (
        """
void f(int n, double A[2 * n], double C[n])
{
    double T[2 * n];
#pragma scop
    for (int i = 0; i < 2 * n; i++)
        T[i] = sqrt(A[i]) + i;
    for (int i = 0; i < n; i++)
        C[i] = T[2 * i] / 3.0;
#pragma endscop
}
""",
        "(double)(polyc_sqrt(A[2 * i]) + 2 * i) / 3.0",
    ),
    "strided_write": (
        """
void f(int n, double A[n], double C[n])
{
    double T[3 * n];
#pragma scop
    for (int i = 0; i < n; i++)
        T[3 * i + 1] = A[i] + i;
    for (int i = 0; i < n; i++)
        C[i] = T[3 * (n - 1 - i) + 1];
#pragma endscop
}
""",
        "A[n - i - 1]",
    ),
    "two_halves": (
        """
void f(int n, double A[2 * n], double C[n], double D[n])
{
    double T[2 * n];
#pragma scop
    for (int i = 0; i < 2 * n; i++)
        T[i] = A[i] + 1.0;
    for (int i = 0; i < n; i++)
        C[i] = T[i] * 2.0;
    for (int i = 0; i < n; i++)
        D[i] = T[i + n];
#pragma endscop
}
""",
        "D[i] = A[n + i] + 1.0",
    ),
    "even_and_odd": (
        """
void f(int n, double A[2 * n], double C[n])
{
    double T[2 * n];
#pragma scop
    for (int i = 0; i < 2 * n; i++)
        T[i] = A[i] * A[i];
    for (int i = 0; i < n; i++)
        C[i] = T[2 * i] - T[2 * i + 1];
#pragma endscop
}
""",
        "A[2 * i] * A[2 * i] - A[2 * i + 1] * A[2 * i + 1]",
    ),
    "row_sums": (
        """
void f(int n, int m, float A[n][m], float C[n])
{
    float T[n][m];
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            T[i][j] = A[i][j] * A[i][j];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            C[i] += T[i][j];
#pragma endscop
}
""",
        "C[i] += A[i][j] * A[i][j]",
    ),
    "reshaped": (
        """
void f(int n, int A[6 * n], int C[n][6])
{
    int T[6 * n];
#pragma scop
    for (int i = 0; i < 6 * n; i++)
        T[i] = A[i] + i;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 6; j++)
            C[i][j] = T[6 * i + j];
#pragma endscop
}
""",
        "A[6 * i + j] + (6 * i + j)",
    ),
    "doubles_into_floats": (
        """
void f(int n, double A[n], double C[n])
{
    float T[n];
#pragma scop
    for (int i = 0; i < n; i++)
        T[i] = A[i] / 3.0;
    for (int i = 0; i < n; i++)
        C[i] = T[n - 1 - i] + A[i];
#pragma endscop
}
""",
        "(float)(A[n - i - 1] / 3.0) + A[i]",
    ),
    "bytes": (
        """
void f(int n, int A[n], int C[n])
{
    unsigned char T[n];
#pragma scop
    for (int i = 0; i < n; i++)
        T[i] = A[i] - 300;
    for (int i = 0; i < n; i++)
        C[i] = T[n - 1 - i] + 1;
#pragma endscop
}
""",
        "(unsigned char)(A[n - i - 1] - 300) + 1",
    ),
    "unsigned_counter": (
        """
void f(unsigned n, float A[n], double C[n])
{
    float T[n];
#pragma scop
    for (unsigned i = 0; i < n; i++)
        T[i] = A[i] + (i - 5) / 7;
    for (unsigned i = 0; i < n; i++)
        C[i] = T[n - 1 - i];
#pragma endscop
}
""",
        "((unsigned)((long)n - i - 1) - 5) / 7",
    ),
    "conditional_domain": (
        """
void f(int n, double A[n], double B[n], double C[n])
{
    double T[n];
#pragma scop
    for (int i = 0; i < n; i++) {
        if (i % 2 == 0)
            T[i] = A[i] * 2.0;
        else
            T[i] = B[i];
    }
    for (int i = 0; i < n; i++)
        if (i % 2 == 0 && i > 3)
            C[i] = T[i - 2];
        else if (i % 2 == 1 && i > 3)
            C[i] = T[i - 2] + 1.0;
#pragma endscop
}
""",
        "C[i] = A[i - 2] * 2.0",
    ),
    "conditional_value": (
        """
void f(int n, double A[n], double C[n])
{
    double T[n];
#pragma scop
    for (int i = 0; i < n; i++)
        T[i] = A[i] * i;
    for (int i = 0; i < n; i++)
        C[i] = i > 0 ? T[i - 1] : 7.0;
#pragma endscop
}
""",
        "C[i] = i > 0 ? A[i - 1] * (i - 1) : 7.0",
    ),
    "chain_of_three": (
        """
void f(int n, int m, float A[n][m], float C[n][m], float D[m])
{
    float T[n][m], U[m][n], V[n][m];
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            T[i][j] = A[i][j] + j;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            U[i][j] = T[j][i] * D[i];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            V[i][j] = U[j][i] - i;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            C[i][j] = V[n - 1 - i][j];
#pragma endscop
}
""",
        "(A[n - i - 1][j] + j) * D[j] - (n - i - 1)",
    ),
    "gathered_input": (
        """
void f(int n, double A[100], int p[n], double C[n])
{
    double T[n];
#pragma scop
    for (int i = 0; i < n; i++)
        T[i] = A[p[i] & 63] * 2.0;
    for (int i = 0; i < n; i++)
        C[i] = T[n - 1 - i];
#pragma endscop
}
""",
        "A[p[n - i - 1] & 63] * 2.0",
    ),
    "time_loop": (
        """
void f(int n, double A[n], double C[4][n])
{
    double T[n];
#pragma scop
    for (int t = 0; t < 4; t++) {
        for (int i = 0; i < n; i++)
            T[i] = A[i] + t;
        for (int i = 0; i < n; i++)
            C[t][i] = T[n - 1 - i];
    }
#pragma endscop
}
""",
        "A[n - i - 1] + t",
    ),
    "overwritten_later": (
        """
void f(int n, double A[n], double C[n])
{
    double T[n];
#pragma scop
    for (int i = 0; i < n; i++)
        T[i] = A[i] * 3.0;
    for (int i = 0; i < n; i++)
        C[i] = T[n - 1 - i];
    for (int i = 0; i < n; i++)
        A[i] = 0.0;
#pragma endscop
}
""",
        "C[i] = A[n - i - 1] * 3.0",
    ),
}
"""Name -> a program, and what stands in the result."""

DECLINED = {
    "read-twice": """
void f(int n, double A[n], double C[n], double D[n])
{
    double T[n];
#pragma scop
    for (int i = 0; i < n; i++)
        T[i] = A[i] + 1.0;
    for (int i = 0; i < n; i++)
        C[i] = T[n - 1 - i];
    for (int i = 0; i < n; i++)
        D[i] = T[i] * 2.0;
#pragma endscop
}
""",
    "input-overwritten": """
void f(int n, double A[n], double C[n])
{
    double T[n];
#pragma scop
    for (int i = 0; i < n; i++)
        T[i] = A[i] + 1.0;
    for (int i = 0; i < n; i++)
        A[i] = C[i];
    for (int i = 0; i < n; i++)
        C[i] = T[n - 1 - i];
#pragma endscop
}
""",
    "live-out": """
void f(int n, double A[n], double T[n], double C[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        T[i] = A[i] + 1.0;
    for (int i = 0; i < n; i++)
        C[i] = T[n - 1 - i];
#pragma endscop
}
""",
    "several-writers": """
void f(int n, double A[n], double C[n])
{
    double T[n + 2];
#pragma scop
    T[0] = 0.0;
    for (int i = 0; i < n; i++)
        T[i + 1] = A[i] + 1.0;
    for (int i = 0; i < n; i++)
        C[i] = T[i];
#pragma endscop
}
""",
    "fewer-parallel-loops": """
void f(int n, double A[n], double C[n + 1])
{
    double T[n];
#pragma scop
    for (int i = 0; i < n; i++)
        T[i] = exp(A[i]);
    for (int i = 0; i < n; i++)
        C[i + 1] = C[i] * 0.5 + T[n - 1 - i];
#pragma endscop
}
""",
    "not-a-value": """
void f(int n, double A[n], double C[n])
{
    double T[n];
#pragma scop
    for (int i = 0; i < n; i++)
        T[i] = A[i] + 1.0;
    for (int i = 0; i < n; i++) {
        double x = 0.0;
        while (x < 3.0)
            x += 1.0 + T[n - 1 - i] * T[n - 1 - i];
        C[i] = x;
    }
#pragma endscop
}
""",
    "irregular": """
void f(int n, double A[n], double C[n])
{
    double T[n];
#pragma scop
    for (int i = 0; i < n; i++)
        T[i] = A[i] + 1.0;
    for (int i = 0; i < n; i++)
        C[i] = T[i < 5 && n > 9 ? 4 - i : i];
#pragma endscop
}
""",
    "too-long": f"""
void f(int n, double A[n], double C[n])
{{
    double T[n];
#pragma scop
    for (int i = 0; i < n; i++)
        T[i] = {" + ".join(f"A[i] * {k}.0" for k in range(60))};
    for (int i = 0; i < n; i++)
        C[i] = T[n - 1 - i];
#pragma endscop
}}
""",
}
"""The reason of the remark -> a program."""

SILENT = {
    "reduction": """
void f(int n, int m, double A[n][m], double C[n])
{
    double T[n];
#pragma scop
    for (int i = 0; i < n; i++)
        T[i] = 0.0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            T[i] += A[i][j];
    for (int i = 0; i < n; i++)
        C[i] = T[n - 1 - i];
#pragma endscop
}
""",
    "window": """
void f(int n, double A[n + 2], double C[n])
{
    double T[n + 2];
#pragma scop
    for (int i = 0; i < n + 2; i++)
        T[i] = A[i] * 2.0;
    for (int i = 0; i < n; i++)
        C[i] = T[i] + T[i + 1] + T[i + 2];
#pragma endscop
}
""",
    "chain": """
void f(int n, double A[n], double C[n])
{
    double T[n];
#pragma scop
    for (int i = 0; i < n; i++)
        T[i] = A[i] * 2.0;
    for (int i = 0; i < n; i++)
        C[i] = T[i] > 0.0 ? T[i] : 0.0;
#pragma endscop
}
""",
}
"""What is no candidate."""


def result(text: str, folder: Path, **options: object) -> Compiled:
    """The compiled region, whose values are those of the original."""
    region = region_of(HEAD + text, folder)
    found = compile_region(region, Options(**options))  # type: ignore[arg-type]
    assert found.verified
    assert not {r.code for r in found.program.remarks} & {"verification-failed", "text-not-checked", "budget"}
    assert check(region, found, sizes=(1, 2, 7, 40)) == []
    return found


def said(found: Compiled) -> list[tuple[str, str]]:
    return [(r.code, r.data.get("reason", "")) for r in found.program.remarks if r.stage == "inline"]


@pytest.mark.parametrize("name", INLINED)
def test_inlined(name: str, tmp_path: Path) -> None:
    text, expected = INLINED[name]
    found = result(text, tmp_path)
    assert {code for code, _ in said(found)} == {"inlined"}
    assert not [b for b in found.program.buffers.values() if b.array != "C" or not b.name.endswith("_sum")]
    assert "T[" not in found.text
    assert expected in found.text


@pytest.mark.parametrize("name", INLINED)
def test_not_inlined_on_demand(name: str, tmp_path: Path) -> None:
    found = result(INLINED[name][0], tmp_path, inline=False)
    assert said(found) == []
    assert found.program.inlined == ()


@pytest.mark.parametrize("reason", DECLINED)
def test_declined(reason: str, tmp_path: Path) -> None:
    region = region_of(HEAD + DECLINED[reason], tmp_path)
    found = compile_region(region, Options())
    assert set(said(found)) == {("not-inlined", reason)}
    assert found.program.inlined == ()
    assert check(region, found, sizes=(1, 2, 7, 40)) == []


@pytest.mark.parametrize("name", SILENT)
def test_no_candidate(name: str, tmp_path: Path) -> None:
    assert said(result(SILENT[name], tmp_path)) == []


TERMS = """
void f(int n, int m, double A[n][m], double b[m], double C[m][m])
{{
#pragma scop
    for (int i = 0; i < m; i++)
        for (int j = i; j < m; j++) {{
            double s = 0;
            for (int k = 0; k < n; k++) {{
                double p = A[k][i] - b[i];
                double q = A[k][{other}] - b[{other}];
                s += p * q;
            }}
            C[i][j] = s / n;
        }}
#pragma endscop
}}
"""


def test_terms_of_a_sum(tmp_path: Path) -> None:
    """One is moved by i, the other one by j: together they are a product of matrices. Both by i, they are none."""
    found = result(TERMS.format(other="j"), tmp_path)
    assert [code for code, _ in said(found)] == ["inlined", "inlined"]
    assert not any(name in found.text.split(OTHERWISE)[0] for name in ("p = ", "q = "))
    assert said(result(TERMS.format(other="i"), tmp_path)) == []


@pytest.mark.parametrize("options", [{"fuse": "min"}, {"fuse": "max"}, {"tile_sizes": None}, {"tile_sizes": (5, 7)}])
def test_in_other_modes(options: dict[str, object], tmp_path: Path) -> None:
    found = result(INLINED["chain_of_three"][0], tmp_path, **options)
    assert {code for code, _ in said(found)} == {"inlined"}


@pytest.mark.parametrize("budget", [1, 3000, 10_000, 30_000, 60_000, 100_000])
def test_under_small_budgets(budget: int, tmp_path: Path) -> None:
    """Where the pass or its check does not end, the producers keep their nests."""
    region = region_of(INLINED["chain_of_three"][0], tmp_path)
    found = compile_region(region, Options(budget=budget))
    assert "verification-failed" not in {r.code for r in found.program.remarks}
    assert check(region, found, sizes=(1, 7)) == []
