"""Contractions: what is recognised, what their tiles look like, and that they compute the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyc.model.program import Options
from polyc.model.tree import Band, Mark, Role, walk
from polyc.nests.contractions import Contraction, contraction_of
from polyc.pipeline import compile_region
from polyc.runtime import compare
from polyc.runtime.opencl import support
from polyc.verify import check
from tests.programs import after, compiled, region_of

PRODUCT = """
void f(float A[70][53], float B[53][45], float C[70][45])
{
#pragma scop
    for (int i = 0; i < 70; i++)
        for (int j = 0; j < 45; j++) {
            C[i][j] = 0.0f;
            for (int k = 0; k < 53; k++)
                C[i][j] += A[i][k] * B[k][j];
        }
#pragma endscop
}
"""
ADDED = """
void f(int m, int n, int p, double A[p][m], double B[n][p], double C[m][n])
{
#pragma scop
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < p; k++)
                C[i][j] += A[k][i] * B[j][k];
#pragma endscop
}
"""
BATCHED = """
void f(float A[3][40][33], float B[3][33][50], float bias[50], float out[3][40][50])
{
    float t[3][40][50];
#pragma polyc live-out(out)
#pragma scop
    for (int b = 0; b < 3; b++)
        for (int i = 0; i < 40; i++)
            for (int j = 0; j < 50; j++) {
                t[b][i][j] = 0.0f;
                for (int k = 0; k < 33; k++)
                    t[b][i][j] += A[b][i][k] * B[b][k][j];
            }
    for (int b = 0; b < 3; b++)
        for (int i = 0; i < 40; i++)
            for (int j = 0; j < 50; j++)
                out[b][i][j] = t[b][i][j] + bias[j] > 0.0f ? t[b][i][j] + bias[j] : 0.0f;
#pragma endscop
}
"""
TRIANGLE = """
void f(int n, int m, double A[n][m], double C[n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++)
            for (int k = 0; k < m; k++)
                C[i][j] += A[i][k] * A[j][k];
#pragma endscop
}
"""
CONVOLUTION = """
void f(float in[4][9][20][20], float w[35][9][3][3], float out[4][35][18][18])
{
#pragma scop
    for (int b = 0; b < 4; b++)
        for (int f = 0; f < 35; f++)
            for (int y = 0; y < 18; y++)
                for (int x = 0; x < 18; x++) {
                    out[b][f][y][x] = 0.0f;
                    for (int c = 0; c < 9; c++)
                        for (int u = 0; u < 3; u++)
                            for (int v = 0; v < 3; v++)
                                out[b][f][y][x] += in[b][c][y + u][x + v] * w[f][c][u][v];
                }
#pragma endscop
}
"""
PARTLY = """
void f(int n, double A[n][n], double B[n][n], double C[n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < i; k++)
                C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
"""
"""How long a sum is depends on its row: what lies outside of the domain is not harmless."""
TWICE = """
void f(int n, float A[n][n], float B[n][n], float T[n][n], float C[n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            T[i][j] = 0.0f;
            for (int k = 0; k < n; k++)
                T[i][j] += A[i][k] * B[k][j];
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                C[i][j] += T[i][k] * B[k][j];
#pragma endscop
}
"""
PADDED = """
void f(float in[20][9][9][9], float shift[9], float w[35][9][3][3], float out[20][35][9][9])
{
    float a[20][9][11][11], r[20][35][9][9];
#pragma polyc live-out(out)
#pragma scop
    for (int b = 0; b < 20; b++)
        for (int c = 0; c < 9; c++)
            for (int y = 0; y < 11; y++)
                for (int x = 0; x < 11; x++)
                    a[b][c][y][x] = (y < 1 || y > 9 || x < 1 || x > 9) ? 0.0f : in[b][c][y - 1][x - 1] + shift[c];
    for (int b = 0; b < 20; b++)
        for (int f = 0; f < 35; f++)
            for (int y = 0; y < 9; y++)
                for (int x = 0; x < 9; x++) {
                    r[b][f][y][x] = 0.0f;
                    for (int c = 0; c < 9; c++)
                        for (int u = 0; u < 3; u++)
                            for (int v = 0; v < 3; v++)
                                r[b][f][y][x] += a[b][c][y + u][x + v] * w[f][c][u][v];
                }
    for (int b = 0; b < 20; b++)
        for (int f = 0; f < 35; f++)
            for (int y = 0; y < 9; y++)
                for (int x = 0; x < 9; x++)
                    out[b][f][y][x] = r[b][f][y][x] > 0.0f ? r[b][f][y][x] : 0.0f;
#pragma endscop
}
"""
"""The padded sum runs for each panel, and is never stored."""
ALIGNED = PRODUCT.replace("70", "80").replace("45", "72").replace("53", "48")
"""Rows of whole 16 bytes, with a border."""
AFTERWARDS = """
void f(int m, int n, int p, float A[m][p], float B[n][p], float bias[n], float C[m][n])
{
#pragma scop
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            float s = bias[j];
            for (int k = 0; k < p; k++)
                s += A[i][k] * B[j][k];
            s = s * 0.25f;
            float t = s > 1.0f ? 1.0f : s;
            float u = t * t;
            C[i][j] = s * u + t * C[i][j] - u;
        }
#pragma endscop
}
"""
"""What follows the sum has values of its own for each result, each of them used twice."""
MASKED = """
void f(int n, int d, float scale, float A[n][d], float B[n][d], float C[n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float s = 0.0f;
            for (int k = 0; k < d; k++)
                s += A[i][k] * B[j][k];
            s *= scale;
            if (j > i)
                s = -1000.0f;
            C[i][j] = s;
        }
#pragma endscop
}
"""
"""What follows the sum has a smaller domain than the sum: outside of it, and inside of the tile, it may not run."""
PROGRAMS = {
    "masked": MASKED,
    "afterwards": AFTERWARDS,
    "aligned": ALIGNED,
    "padded": PADDED,
    "product": PRODUCT,
    "added": ADDED,
    "batched": BATCHED,
    "triangle": TRIANGLE,
    "convolution": CONVOLUTION,
    "partly": PARTLY,
    "twice": TWICE,
}


def contractions(text: str, folder: Path) -> list[tuple[Band, Contraction]]:
    program = after(region_of(text, folder), "pretiling", target="cuda")
    bands = [n for n in walk(program.tree.child) if isinstance(n, Band)]
    return [(b, c) for b in bands if (c := contraction_of(program, b)) is not None]


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_a_contraction(name: str, tmp_path: Path) -> None:
    found = contractions(PROGRAMS[name], tmp_path)
    assert len(found) == (2 if name == "twice" else 1)
    for band, one in found:
        names = band.members[one.rows].name, band.members[one.columns].name
        assert names == {"convolution": ("f", "x"), "padded": ("b", "f")}.get(name, ("i", "j"))
        assert len(one.operands) == 2


@pytest.mark.parametrize(
    "body",
    [
        "C[i][j] += A[i][j] * B[k][j];",  # an operand moves with both
        "C[i][j] += B[k][j];",  # nothing stays with the columns
        "C[i][k] += A[i][j] * B[j][k];",  # the result moves with the sum
        "C[i][j] = A[i][k] * B[k][j];",  # nothing is summed up
    ],
)
def test_what_is_none(body: str, tmp_path: Path) -> None:
    text = (
        "void f(float A[64][64], float B[64][64], float C[64][64])\n{\n#pragma scop\n"
        "    for (int i = 0; i < 64; i++)\n        for (int j = 0; j < 64; j++)\n"
        f"            for (int k = 0; k < 64; k++)\n                {body}\n#pragma endscop\n}}\n"
    )
    found = contractions(text, tmp_path)
    assert all({b.members[c.rows].name, b.members[c.columns].name} != {"i", "j"} for b, c in found)


@pytest.mark.parametrize("name", PROGRAMS)
def test_tiles_in_registers(name: str, tmp_path: Path) -> None:
    program = after(region_of(PROGRAMS[name], tmp_path), "barriers", target="cuda")
    assert check(program) == []
    codes = [r.code for r in program.remarks]
    assert codes.count("register-tile") == (2 if name == "twice" else 1)
    sums = [b for b in program.buffers.values() if b.storage == "register"]
    panels = [b for b in program.buffers.values() if b.order]
    assert len(panels) == 2 * len(sums)
    loops = [m for n in walk(program.tree.child) if isinstance(n, Band) for m in n.members]
    assert any(m.role is Role.REGISTER for m in loops)
    kernels = [n for n in walk(program.tree.child) if isinstance(n, Mark) and n.kind == "kernel"]
    assert len(kernels) == len(sums)


def test_a_producer_runs_for_each_panel(tmp_path: Path) -> None:
    program = after(region_of(PADDED, tmp_path), "registers", target="cuda")
    assert "S0" not in {n for g in program.groups for n in g.outputs}
    (panel,) = [b for b in program.buffers.values() if b.array == "a"]
    assert {name for name, _ in panel.accesses} == {"S0", "S2"}
    assert program.padded.get("S0") == "zero"
    assert "S0 runs for each panel of S2, which reads it: its values are never stored" in [
        r.message for r in program.remarks
    ]


def test_copies_of_16_bytes(tmp_path: Path) -> None:
    """Where rows of the array and of the panel lie alike: those of B. A's panel has its columns as rows."""
    for text, found in ((ALIGNED, 2), (PRODUCT, 0)):
        compiled = compile_region(region_of(text, tmp_path), Options(target="cuda"))
        assert compiled.device[0].count("polyc_fetch16(&B_panel") == found
        assert "polyc_fetch16(&A_panel" not in compiled.device[0]


def test_what_lies_outside(tmp_path: Path) -> None:
    """Sums run free, but where their length depends on the row; copies bring zeros, results are stored under guard."""
    program = after(region_of(PRODUCT, tmp_path), "registers", target="cuda")
    assert (program.padded["S0"], program.padded["S1"]) == ("free", "free")
    copies = sorted(kind for name, kind in program.padded.items() if name in program.copies)
    assert copies == ["guarded", "zero", "zero"]
    partly = after(region_of(PARTLY, tmp_path), "registers", target="cuda")
    assert partly.padded["S0"] == "guarded"


def test_sizes_of_ones_own_leave_it_alone(tmp_path: Path) -> None:
    program = after(region_of(PRODUCT, tmp_path), "registers", target="cuda", tile_sizes=(5, 7, 3))
    assert not any(b.storage == "register" for b in program.buffers.values())


ON_OPENCL = ("product", "partly", "padded")
"""The two targets differ in a few words; PoCL takes seconds to compile each."""


@pytest.mark.slow
@pytest.mark.parametrize(("name", "target"), [*((n, "cuda") for n in PROGRAMS), *((n, "opencl") for n in ON_OPENCL)])
def test_same_values(name: str, target: str, tmp_path: Path) -> None:
    if target == "opencl" and support() is None:
        pytest.skip("there is no OpenCL")
    region = region_of(PROGRAMS[name], tmp_path)
    compiled = compile_region(region, Options(target=target))
    assert compiled.passed
    assert any(r.code == "register-tile" for r in compiled.program.remarks)
    assert "unroll" in compiled.device[0]
    report = compare(region, compiled, (1, 37))
    assert not report.differences, report.differences[0].message
    assert report.rows, report.skipped


def test_a_product_that_is_stored_transposed(tmp_path: Path) -> None:
    """The loops of what stores it are brought into the product's order, so that its tile is in registers."""
    text = """
void f(int n, float p[6][8][n][n], float v[6][8][n][n], float t[6][8][n][n], float out[6][n][8][n])
{
#pragma polyc live-out(out)
#pragma scop
    for (int b = 0; b < 6; b++)
        for (int h = 0; h < 8; h++)
            for (int i = 0; i < n; i++)
                for (int d = 0; d < n; d++) {
                    t[b][h][i][d] = 0.0f;
                    for (int j = 0; j < n; j++)
                        t[b][h][i][d] += p[b][h][i][j] * v[b][h][j][d];
                }
    for (int b = 0; b < 6; b++)
        for (int i = 0; i < n; i++)
            for (int h = 0; h < 8; h++)
                for (int d = 0; d < n; d++)
                    out[b][i][h][d] = 2 * t[b][h][i][d];
#pragma endscop
}
"""
    result = compiled(text, tmp_path, target="cuda")
    assert result.passed
    assert {"register-tile", "pretiling-fused"} <= {r.code for r in result.program.remarks}
    assert result.device[0].count("__global__") == 1
