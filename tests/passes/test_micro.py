"""Sums of products on CPUs: what gets register tiles, what is printed, and that values stay the same bit for bit."""

from __future__ import annotations

from functools import reduce
from pathlib import Path

import pytest

from polyc.cost.micro_sizes import micro_sizes
from polyc.machine import load_cpu
from polyc.model.program import Compiled, Options
from polyc.model.tree import Band, walk
from polyc.passes.fusion.cluster import Declined
from polyc.passes.fusion.fuser import Fuser
from polyc.pipeline import compile_region
from polyc.runtime.check import check
from tests.differential.toolbox import OTHERWISE
from tests.programs import compiled, region_of
from tests.turns import turn

MACHINES = ("x86-64-v3", "x86-64-v4", "aarch64")
LENGTHS = (1, 7, 24, 61, 150)

PRODUCT = """
void f(int n, int m, int l, {t} alpha, {t} beta, {t} A[n][l], {t} B[l][m], {t} C[n][m])
{{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {{
            C[i][j] *= beta;
            for (int k = 0; k < l; k++)
                C[i][j] += alpha * A[i][k] * B[k][j];
        }}
#pragma endscop
}}
"""

NESTS = {
    "window of any size": """
void f(int n, int c, int k, float in[n + 4][n + 4][c], float w[20][k][k][c], float out[n][n][20])
{
#pragma scop
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++)
            for (int o = 0; o < 20; o++) {
                float sum = 0.5f;
                for (int u = 0; u < (k < 5 ? k : 5); u++)
                    for (int v = 0; v < (k < 5 ? k : 5); v++)
                        for (int i = 0; i < c; i++)
                            sum += in[y + u][x + v][i] * w[o][u][v][i];
                out[y][x][o] = sum > 0 ? sum : 0;
            }
#pragma endscop
}
""",
    "planes of any number": """
void f(int n, int c, int k, float in[c][n + 4][n + 4], float w[c][5][5][20], float out[20][n][n])
{
#pragma scop
    for (int o = 0; o < 20; o++)
        for (int y = 0; y < n; y++)
            for (int x = 0; x < n; x++) {
                float sum = 0.5f;
                for (int i = 0; i < c; i++)
                    for (int u = 0; u < (k < 5 ? k : 5); u++)
                        for (int v = 0; v < (k < 5 ? k : 5); v++)
                            sum += in[i][y + u][x + v] * w[i][u][v][o];
                out[o][y][x] = sum;
            }
#pragma endscop
}
""",
    "over time": """
void f(int n, int m, int l, float in[n][n][l], float w[20][l], float out[n][n][20], float d[2])
{
#pragma scop
    for (int t = 0; t < 3; t++) {
        for (int y = 0; y < n; y++)
            for (int x = 0; x < n; x++)
                for (int o = 0; o < 20; o++) {
                    float sum = 0.5f;
                    for (int i = 0; i < l; i++)
                        sum += in[y][x][i] * w[o][i];
                    out[y][x][o] = sum * d[1];
                }
        d[0] = 0.5f * out[0][0][0] + d[1];
        d[1] = d[0] * d[0];
    }
#pragma endscop
}
""",
    "product": PRODUCT.format(t="double"),
    "single precision": PRODUCT.format(t="float"),
    "transposed": """
void f(int n, int m, int l, double A[l][n], double B[m][l], double C[n][m])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            for (int k = 0; k < l; k++)
                C[i][j] -= B[j][k] * A[k][i];
#pragma endscop
}
""",
    "triangle of the result": """
void f(int n, int l, double alpha, double A[n][l], double B[n][l], double C[n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++)
            for (int k = 0; k < l; k++)
                C[i][j] += A[j][k] * alpha * B[i][k] + B[j][k] * alpha * A[i][k];
#pragma endscop
}
""",
    "triangle of an operand": """
void f(int n, int m, double A[n][n], double B[n][m], double C[n][m])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            for (int k = 0; k < i; k++)
                C[k][j] += 2.0 * B[i][j] * A[i][k];
#pragma endscop
}
""",
    "in place": """
void f(int n, int m, double A[n][n], double B[n][m])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            for (int k = i + 1; k < n; k++)
                B[i][j] += A[k][i] * B[k][j];
#pragma endscop
}
""",
    "in place, with a factor": """
void f(int n, int m, double alpha, double A[n][n], double B[n][m])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            for (int k = i + 1; k < n; k++)
                B[i][j] -= A[k][i] * alpha * B[k][j];
#pragma endscop
}
""",
    "result that stays in the tile": """
void f(int n, int l, float A[n][l], float B[l][40], float out[n][40])
{
    float C[n][40];
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 40; j++) {
            C[i][j] = 0.0f;
            for (int k = 0; k < l; k++)
                C[i][j] += A[i][k] * B[k][j];
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 40; j++)
            out[i][j] = C[i][j] > 0.5f ? C[i][j] : 0.0f;
#pragma endscop
}
""",
    "window": """
void f(int n, int m, float in[16][n + 2][m + 2], float w[24][16][3][3], float out[24][n][m])
{
#pragma scop
    for (int o = 0; o < 24; o++)
        for (int y = 0; y < n; y++)
            for (int x = 0; x < m; x++)
                for (int c = 0; c < 16; c++)
                    for (int p = 0; p < 3; p++)
                        for (int q = 0; q < 3; q++)
                            out[o][y][x] += in[c][y + p][x + q] * w[o][c][p][q];
#pragma endscop
}
""",
    "window of channels last, two steps at a time": """
void f(int n, int m, float in[2][2 * n + 1][2 * m + 1][9], float w[3][3][9][33], float out[2][n][m][33])
{
#pragma scop
    for (int b = 0; b < 2; b++)
        for (int y = 0; y < n; y++)
            for (int x = 0; x < m; x++)
                for (int o = 0; o < 33; o++)
                    for (int p = 0; p < 3; p++)
                        for (int q = 0; q < 3; q++)
                            for (int c = 0; c < 9; c++)
                                out[b][y][x][o] += in[b][2 * y + p][2 * x + q][c] * w[p][q][c][o];
#pragma endscop
}
""",
}

CONVOLUTION = """
void f(float in[{b}][5][{s}][{s}], float shift[5], float w[40][5][{k}][{k}], float out[{b}][40][{t}][{t}])
{{
    static float a[{b}][5][{p}][{p}], r[{b}][40][{t}][{t}];
#pragma polyc live-out(out)
#pragma scop
    for (int b = 0; b < {b}; b++)
        for (int c = 0; c < 5; c++)
            for (int y = 0; y < {p}; y++)
                for (int x = 0; x < {p}; x++)
                    a[b][c][y][x] = (y < 1 || y > {s} || x < 1 || x > {s}) ? 0.0f : in[b][c][y - 1][x - 1] + shift[c];
    for (int b = 0; b < {b}; b++)
        for (int f = 0; f < 40; f++)
            for (int y = 0; y < {t}; y++)
                for (int x = 0; x < {t}; x++) {{
                    r[b][f][y][x] = 0.0f;
                    for (int c = 0; c < 5; c++)
                        for (int u = 0; u < {k}; u++)
                            for (int v = 0; v < {k}; v++)
                                r[b][f][y][x] += a[b][c][{d} * y + u][{d} * x + v] * w[f][c][u][v];
                }}
    for (int b = 0; b < {b}; b++)
        for (int f = 0; f < 40; f++)
            for (int y = 0; y < {t}; y++)
                for (int x = 0; x < {t}; x++)
                    out[b][f][y][x] = r[b][f][y][x] > 0.0f ? r[b][f][y][x] : 0.0f;
#pragma endscop
}}
"""


def convolution(size: int, window: int, step: int, images: int = 3) -> str:
    """Of images of five channels, padded by one, with 40 filters, between an addition and a relu."""
    padded = size + 2
    return CONVOLUTION.format(b=images, s=size, k=window, d=step, p=padded, t=(padded - window) // step + 1)


FACTORISATIONS = {
    "lu": """
void f(int n, double A[n][n])
{
#pragma scop
    for (int k = 0; k < n; k++) {
        for (int i = k + 1; i < n; i++)
            A[i][k] /= A[k][k] + 3.0;
        for (int i = k + 1; i < n; i++)
            for (int j = k + 1; j < n; j++)
                A[i][j] -= A[i][k] * A[k][j];
    }
#pragma endscop
}
""",
    "cholesky": """
void f(int n, double A[n][n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) {
            for (int k = 0; k < j; k++)
                A[i][j] -= A[i][k] * A[j][k];
            A[i][j] /= A[j][j] + 3.0;
        }
        for (int k = 0; k < i; k++)
            A[i][i] -= A[i][k] * A[i][k];
    }
#pragma endscop
}
""",
}


def remarks(result: Compiled, code: str) -> list[str]:
    return [r.message for r in result.program.remarks if r.code == code]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "machine"), [(n, m) for k, n in enumerate(NESTS) for m in turn(MACHINES, k, 3)])
def test_values_stay_the_same(name: str, machine: str, tmp_path: Path) -> None:
    region = region_of(NESTS[name], tmp_path)
    result = compile_region(region, Options(machine=machine))
    assert result.verified
    assert len(remarks(result, "register-tile")) == 1
    assert not remarks(result, "verification-failed")
    assert "vector_size" in result.text
    assert check(region, result, sizes=LENGTHS) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shape", "machine"), [((7, 3, 1), "x86-64-v4"), ((15, 3, 1), "x86-64-v3"), ((23, 5, 2), "aarch64")]
)
def test_convolutions_have_one_tile_of_several_loops(shape: tuple[int, int, int], machine: str, tmp_path: Path) -> None:
    """Vectors along the filters, rows of the result's other loops; what is added before runs where the panel is filled,
    and the relu where the tile is done."""
    region = region_of(convolution(*shape), tmp_path)
    result = compile_region(region, Options(machine=machine))
    assert result.verified
    assert len(remarks(result, "register-tile")) == 1
    assert not remarks(result, "verification-failed")
    assert "a[" not in result.text
    assert "vector_size" in result.text
    assert check(region, result, sizes=(1,)) == []


@pytest.mark.slow
def test_a_loop_of_one_iteration_is_in_no_band(tmp_path: Path) -> None:
    """One image: its index is the same for all instances of all statements."""
    region = region_of(convolution(14, 3, 1, images=1), tmp_path)
    result = compile_region(region, Options(machine="x86-64-v4"))
    assert result.verified
    assert len(remarks(result, "register-tile")) == 1
    assert not remarks(result, "verification-failed")
    assert "a[" not in result.text
    assert check(region, result, sizes=(1,)) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", FACTORISATIONS)
def test_factorisations_are_blocked(name: str, tmp_path: Path) -> None:
    region = region_of(FACTORISATIONS[name], tmp_path)
    result = compile_region(region, Options(machine="x86-64-v4"))
    assert result.verified
    assert not remarks(result, "verification-failed")
    assert remarks(result, "blocked")
    assert remarks(result, "register-tile")
    assert not any("for all threads" in message for message in remarks(result, "register-tile"))  # too short for that
    (size,) = {
        int(r.data["steps"]) for r in result.program.remarks if r.code == "blocked"
    }  # tiles of 8 x 24 begin where a block ends
    assert size % 24 == 0
    assert check(region, result, sizes=LENGTHS) == []


def test_triangles_of_tiles_that_read_their_own_rows_have_smaller_tiles(tmp_path: Path) -> None:
    result = compiled(NESTS["in place"], tmp_path, machine="x86-64-v4")
    (remark,) = remarks(result, "register-tile")
    assert remark.endswith("; a triangle in 96 rows in the same way, 32 rows at a time")
    assert "for (long it = 0; it < n - 1; it += 96)" in result.text
    assert "for (long it2 = it; it2 < polyc_min(n - 1, it + 95); it2 += 32)" in result.text


def test_an_invariant_factor_is_multiplied_where_the_panel_is_filled(tmp_path: Path) -> None:
    text = compiled(NESTS["product"], tmp_path, machine="x86-64-v4").text
    assert "A_panel[x0 - it][x1 - kt] = alpha * A[x0][x1];" in text
    assert "+= A_panel[it2 + i - it][k - kt] * polyc_double8(B_panel[k - kt][8 * j]);" in text


def test_threads_share_the_panel_of_rows(tmp_path: Path) -> None:
    """So that none waits for another one's tile, however many rows there are: each has strips of columns."""
    result = compiled(NESTS["product"], tmp_path, machine="x86-64-v4")
    parallel = [m for m in members(result) if m.parallel]
    assert [(m.name, m.size) for m in parallel] == [("i", 1), ("x0", 1), ("x0", 1), ("j", 24)]
    assert "omp parallel for schedule(dynamic)\n#endif\n          for (long jt2 = jt;" in result.text
    assert "for all threads" in remarks(result, "register-tile")[0]


@pytest.mark.parametrize("name", ["triangle of the result", "product"])
def test_tiles_are_one_threads(name: str, tmp_path: Path) -> None:
    """Strips of a triangle are of unequal lengths, and 40 columns are too few strips for the threads."""
    text = NESTS[name].replace("B[l][m]", "B[l][40]").replace("C[n][m]", "C[n][40]").replace("j < m", "j < 40")
    result = compiled(text, tmp_path, machine="x86-64-v4")
    assert len(remarks(result, "register-tile")) == 1
    assert "for all threads" not in remarks(result, "register-tile")[0]
    assert next(m.name for m in members(result) if m.parallel) == "i"


def test_the_next_tile_of_the_result_is_asked_for(tmp_path: Path) -> None:
    text = compiled(NESTS["product"], tmp_path, machine="x86-64-v4").text
    assert "x1 < polyc_min(m, jt2 + 25); x1 += 8)\n                  __builtin_prefetch(&C[x0][x1], 1);" in text
    short = compiled(FACTORISATIONS["lu"], tmp_path, machine="x86-64-v4")
    assert remarks(short, "register-tile")
    assert "__builtin_prefetch" not in short.text


def test_a_factor_behind_the_product_stays_there(tmp_path: Path) -> None:
    text = NESTS["product"].replace("alpha * A[i][k] * B[k][j]", "A[i][k] * B[k][j] * alpha")
    result = compiled(text, tmp_path, machine="x86-64-v4")
    assert remarks(result, "register-tile")
    assert "= A[x0][x1];" in result.text
    assert "* alpha" in result.text


def test_points_of_a_triangle_keep_the_factor(tmp_path: Path) -> None:
    """What reads the array instead of the panel has the whole expression."""
    text = compiled(NESTS["triangle of an operand"], tmp_path, machine="x86-64-v4").text
    assert "C[k][j] += 2.0 * B[i][j] * A[i][k];" in text


def test_the_shape_is_that_of_the_machine(tmp_path: Path) -> None:
    wide = compiled(NESTS["product"], tmp_path, machine="x86-64-v4").text
    narrow = compiled(NESTS["product"], tmp_path, machine="x86-64-v3").text
    assert "double C_panel[8][24] __attribute__((aligned(64)));" in wide
    assert "double C_panel[6][8] __attribute__((aligned(64)));" in narrow


def test_sums_that_move_along_both_operands_have_no_tile(tmp_path: Path) -> None:
    result = compiled(
        """
void f(int n, double A[n][n][40], double B[n][n][40], double C[n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < 40; k++)
                C[i][j] += A[i][j][k] * B[i][j][k];
#pragma endscop
}
""",
        tmp_path,
    )
    assert not remarks(result, "register-tile")
    assert not any(m.lanes for m in members(result))


def test_sizes_that_are_given_are_kept(tmp_path: Path) -> None:
    result = compiled(NESTS["product"], tmp_path, tile_sizes=(16, 64))
    assert not remarks(result, "register-tile")
    assert any(m.size == 64 for m in members(result))


def members(result: Compiled) -> list:  # type: ignore[type-arg]
    return [m for n in walk(result.program.tree.child) if isinstance(n, Band) for m in n.members]


SHARED = """
void f(float P[3][40][40], float V[3][40][64], float W[3][40][64], float one[3][40][64], float two[3][40][64]{more})
{{
    static float S[3][40][40];
#pragma polyc live-out(one, two{live})
#pragma scop
    for (int b = 0; b < 3; b++)
        for (int i = 0; i < 40; i++)
            for (int j = 0; j < 40; j++)
                S[b][i][j] = P[b][i][j] * 0.125f;
    for (int b = 0; b < 3; b++)
        for (int i = 0; i < 40; i++)
            for (int d = 0; d < 64; d++) {{
                one[b][i][d] = 0.0f;
                for (int j = 0; j < 40; j++)
                    one[b][i][d] += S[b][i][j] * V[b][j][d];
            }}
    for (int b = 0; b < 3; b++)
        for (int i = 0; i < 40; i++)
            for (int d = 0; d < 64; d++) {{
                two[b][i][d] = 0.0f;
                for (int j = 0; j < 40; j++)
                    two[b][i][d] += S[b][i][j] * W[b][j][d];
            }}
    {rest}
#pragma endscop
}}
"""
"""Two sums read what one nest makes."""
TURNED = """
void f(float P[3][4][40][40], float V[3][4][40][64], float out[3][40][4][64])
{
    static float T[3][4][40][64];
#pragma polyc live-out(out)
#pragma scop
    for (int b = 0; b < 3; b++)
        for (int h = 0; h < 4; h++)
            for (int i = 0; i < 40; i++)
                for (int d = 0; d < 64; d++) {
                    T[b][h][i][d] = 0.0f;
                    for (int j = 0; j < 40; j++)
                        T[b][h][i][d] += P[b][h][i][j] * V[b][h][j][d];
                }
    for (int b = 0; b < 3; b++)
        for (int i = 0; i < 40; i++)
            for (int h = 0; h < 4; h++)
                for (int d = 0; d < 64; d++)
                    out[b][i][h][d] = T[b][h][i][d];
#pragma endscop
}
"""


def test_a_producer_runs_for_the_panels_of_all_sums_that_read_it(tmp_path: Path) -> None:
    region = region_of(SHARED.format(more="", live="", rest=""), tmp_path)
    result = compile_region(region, Options(machine="x86-64-v4"))
    assert "S0 runs for each panel of S2 and S4, which read it: its values are never stored" in remarks(result, "fused")
    assert result.verified
    assert "S[" not in result.text
    assert check(region, result, sizes=(1,)) == []


def test_a_producer_whose_values_somebody_else_reads_has_its_nest(tmp_path: Path) -> None:
    rest = "for (int b = 0; b < 3; b++) for (int i = 0; i < 40; i++) last[b][i] = S[b][i][39 - i];"
    region = region_of(SHARED.format(more=", float last[3][40]", live=", last", rest=rest), tmp_path)
    result = compile_region(region, Options(machine="x86-64-v4"))
    assert len(remarks(result, "register-tile")) == 2
    assert not any("for each panel" in message for message in remarks(result, "fused"))
    assert result.verified
    assert check(region, result, sizes=(1,)) == []


@pytest.mark.parametrize("forgetting", [False, True])
def test_a_nest_of_its_own_stays_for_others(forgetting: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Should the pass forget who else reads the values, and nobody store them, the check says so."""
    monkeypatch.setattr(Fuser, "extend", lambda *_: Declined("budget", "this test wants a nest of its own"))
    if forgetting:
        monkeypatch.setattr("polyc.passes.products.registers.readers_of", lambda *_: set())
    rest = "for (int b = 0; b < 3; b++) for (int i = 0; i < 40; i++) last[b][i] = S[b][i][39 - i];"
    region = region_of(SHARED.format(more=", float last[3][40]", live=", last", rest=rest), tmp_path)
    result = compile_region(region, Options(machine="x86-64-v4"))
    assert bool(remarks(result, "verification-failed")) == forgetting
    assert (len(remarks(result, "register-tile")) == 2) or forgetting
    assert not any("for each panel" in message for message in remarks(result, "fused")) or forgetting
    assert check(region, result, sizes=(1,)) == []


def test_what_takes_a_sums_result_in_another_order_joins_it(tmp_path: Path) -> None:
    region = region_of(TURNED, tmp_path)
    result = compile_region(region, Options(machine="x86-64-v4"))
    assert [set(group.statements) for group in result.program.groups] == [{"S0", "S1", "S2"}]
    assert result.verified
    assert check(region, result, sizes=(1,)) == []


@pytest.mark.parametrize(
    ("extents", "expected"),
    [((128, 64), (8, 32)), ((128, 96), (8, 48)), ((1000, 1100), (8, 48)), ((None, 64), (8, 48)), ((130, 64), (13, 32))],
)
def test_a_register_tile_leaves_little_outside(extents: tuple[int | None, int], expected: tuple[int, int]) -> None:
    """Of 32 registers of 64 bytes: 64 columns are not one and a third of the usual tile's."""
    (size,) = micro_sizes(load_cpu("zen4"), *extents, 128, 4)
    assert (size.rows, size.columns) == expected
    assert size.block_m % size.rows == 0
    assert size.block_n % size.columns == 0


def test_a_result_in_a_tile_lies_as_its_registers_where_these_are_filled_often(tmp_path: Path) -> None:
    """The columns are the filters, and the array has them outside of an image's rows."""
    text = convolution(14, 3, 1).replace("[5]", "[512]").replace("c < 5", "c < 512")
    result = compile_region(region_of(text, tmp_path), Options(machine="x86-64-v4"))
    buffer = next(b for b in result.program.buffers.values() if b.name == "r_tile")
    assert buffer.order == (0, 2, 3, 1)
    assert result.verified


def test_panels_are_filled_for_empty_tiles_at_the_end_of_a_triangle(tmp_path: Path) -> None:
    """The last row is a tile of its own, and its first columns are none: copies run there, below a loop over one tile
    of columns that isl does not print."""
    text = """
void mirrored(double a[241][241], double s[241][241])
{
#pragma scop
    for (int i = 1; i <= 240; i++)
        for (int j = i; j <= 240; j++) {
            for (int k = 1; k <= 240; k++)
                s[i][j] += a[k][i] * a[k][j];
            s[j][i] = s[i][j];
        }
#pragma endscop
}
"""
    region = region_of(text, tmp_path)
    result = compile_region(region, Options())
    assert result.verified
    assert not remarks(result, "not-printed")
    assert len(remarks(result, "register-tile")) == 1
    assert check(region, result, sizes=(1,)) == []


@pytest.mark.parametrize("flat", [False, True])
@pytest.mark.parametrize("loops", ["i k", "k i"])
def test_triangular_systems_with_many_right_hand_sides(loops: str, flat: bool, tmp_path: Path) -> None:
    """Printed within the budget in either order of the loops: their panels are those of triangles in tiles. Rows of
    flat arrays are behind a guard that asks for sizes at which anything runs."""
    heads = {
        "i k": "for (int i = 0; i < n; i++)\n    for (int k = 0; k < i; k++)",
        "k i": "for (int k = 0; k < n; k++)\n    for (int i = k + 1; i < n; i++)",
    }
    arrays, update = "double L[restrict n][n], double X[restrict n][m]", "X[i][t] -= X[k][t] * L[i][k]"
    if flat:
        arrays = "double *restrict L, double *restrict X"
        update = "X[i * m + t] -= X[k * m + t] * L[i * n + k]"
    text = f"""
void f(int n, int m, {arrays})
{{
#pragma scop
{heads[loops]}
        for (int t = 0; t < m; t++)
            {update};
#pragma endscop
}}
"""
    result = compile_region(region_of(text, tmp_path), Options())
    assert result.verified
    assert remarks(result, "register-tile")
    assert not remarks(result, "budget")


COMPLEX = """
void f(int n, int m, int k, const float ar[n][k], const float ai[n][k], const float b[m][2 * k], float cr[n][m],
       float ci[n][m])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            float sr = 0.f, si = 0.f;
            for (int l = 0; l < k; l++) {
                float br = b[j][2 * l], bi = -b[j][2 * l + 1];
                sr += ar[i][l] * br - ai[i][l] * bi;
                si -= ar[i][l] * bi + ai[i][l] * br;
            }
            cr[i][j] += 2 * sr - si;
            ci[i][j] += 2 * si + sr;
        }
#pragma endscop
}
"""


def test_terms_that_several_sums_take(tmp_path: Path) -> None:
    region = region_of(COMPLEX, tmp_path)
    result = compile_region(region, Options())
    assert result.verified
    assert sum(remark.code == "register-tile" for remark in result.program.remarks) == 2
    assert check(region, result, sizes=(1, 2, 9, 50)) == []


UNSURE = """
void f(int n, int m, int d, const float q[n][d], const float b[m][d], float out[n][m])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            float s = 0;
            for (int k = 0; k < d; k++)
                s = VALUE;
            out[i][j] = s;
        }
#pragma endscop
}
"""


@pytest.mark.parametrize(
    ("value", "sure"),
    [("s < 9.0f ? s + q[i][k] * b[j][k] : s", False), ("s + (q[i][k] > b[j][k] ? q[i][k] : b[j][k])", True)],
)
def test_panels_hold_what_is_there_whatever_the_data_say(value: str, sure: bool, tmp_path: Path) -> None:
    """A row that no sum reads may not be there: the first pass that would fill a panel with it leaves it."""
    region = region_of(UNSURE.replace("VALUE", value), tmp_path)
    result = compile_region(region, Options())
    codes = {remark.code for remark in result.program.remarks}
    assert result.verified
    assert "verification-failed" not in codes
    assert ("register-tile" in codes) == sure
    assert check(region, result, sizes=(1, 2, 9, 50)) == []


TRIANGLE = """
void f(int n, int d, const T p[d][d], const T c[2 * n][d], T t[n][d])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int a = 0; a < d; a++) {
            t[i][a] = 0;
            for (int b = LOW; b < HIGH; b++)
                t[i][a] += p[a][b] * c[ROW][b];
        }
#pragma endscop
}
"""


def triangle(low: str, high: str, kind: str = "float", row: str = "i") -> str:
    told = {"LOW": low, "HIGH": high, "ROW": row, "T ": f"{kind} "}
    return reduce(lambda text, pair: text.replace(*pair), told.items(), TRIANGLE)


def test_the_edge_of_a_triangle_runs_along_rows(tmp_path: Path) -> None:
    """What is left of a product, which reads every second row, has no panel, whose layout would like another loop
    innermost; and where isl leaves out the loop over the last blocks, what is fetched ahead in them is known to be in
    these."""
    region = region_of(triangle("0", "a", row="2 * i"), tmp_path)
    result = compile_region(region, Options())
    assert result.verified
    assert "text-not-checked" not in {remark.code for remark in result.program.remarks}
    edge = result.text[result.text.index("t[i][a] += p[a][b] * c[2 * i][b]") - 200 :]
    assert edge.index("for (long b") < edge.index("t[i][a] +=")
    assert "for (long a" not in edge[edge.index("for (long b") : edge.index("t[i][a] +=")]
    assert check(region, result, sizes=(1, 2, 50, 101)) == []


@pytest.mark.parametrize(
    ("low", "high", "kind"),
    [("0", "a", "float"), ("0", "a + 1", "double"), ("a", "d", "double"), ("a + 1", "d", "float")],
)
def test_columns_that_end_one_by_one_are_summed_up_with_rows_in_vectors(
    low: str, high: str, kind: str, tmp_path: Path
) -> None:
    """On the diagonal no two columns of a register tile have the same steps, but all rows of one column have."""
    region = region_of(triangle(low, high, kind), tmp_path)
    result = compile_region(region, Options())
    codes = [remark.code for remark in result.program.remarks]
    assert result.verified
    assert "text-not-checked" not in codes
    assert "budget" not in codes
    (told,) = [r.message for r in result.program.remarks if r.code == "register-tile"]
    assert "one column after the other" in told
    assert "t[i][a] +=" not in result.text.split(OTHERWISE)[0]
    assert check(region, result, sizes=(1, 2, 31, 50, 101)) == []


NARROW = """
void f(int n, int k, const T a[n][k], const T b[k][COLUMNS], T o[n][COLUMNS])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int r = 0; r < COLUMNS; r++) {
            T s = 0;
            for (int j = 0; j < k; j++)
                s += a[i][j] * b[j][r];
            o[i][r] = s;
        }
#pragma endscop
}
"""


@pytest.mark.parametrize(("kind", "columns", "tiled"), [("double", 12, True), ("float", 8, True), ("float", 5, False)])
def test_results_of_a_few_columns_have_register_tiles(kind: str, columns: int, tiled: bool, tmp_path: Path) -> None:
    text = NARROW.replace("COLUMNS", str(columns)).replace("T ", f"{kind} ")
    region = region_of(text, tmp_path)
    result = compile_region(region, Options())
    assert result.verified
    assert ("register-tile" in {remark.code for remark in result.program.remarks}) == tiled
    assert check(region, result, sizes=(1, 2, 9, 50)) == []


FEW_ROWS_IN_CALLS = """
static float A[32 * 144], B[144 * 4096], C[32 * 4096];
static void product(int m, int n, int k, float *restrict a, float *restrict b, float *restrict c)
{
#pragma scop
    for (int i = 0; i < m; i++)
        for (int l = 0; l < k; l++) {
            float factor = a[i * k + l];
            for (int j = 0; j < n; j++)
                c[i * n + j] += factor * b[l * n + j];
        }
#pragma endscop
}
void run(void) { product(32, 4096, 144, A, B, C); }
"""


def test_tiles_may_be_larger_than_the_arrays_of_all_calls(tmp_path: Path) -> None:
    """Of 32 rows, a part of the operand at most as large as a tile: its panel has a constant size."""
    region = region_of(FEW_ROWS_IN_CALLS, tmp_path)
    found = compile_region(region, Options(machine="x86-64-v3"))
    assert found.verified
    assert "_panel[" in found.text
    assert "no-register-tile" not in {remark.code for remark in found.program.remarks}


LAYER = """
void f(float x[256][784], float w[512][784], float b[512], float a[256][512])
{
#pragma scop
    for (int n = 0; n < 256; n++)
        for (int o = 0; o < 512; o++) {
            a[n][o] = b[o];
            for (int i = 0; i < 784; i++)
                a[n][o] += x[n][i] * w[o][i];
        }
#pragma endscop
}
"""


def test_a_product_whose_rows_and_columns_are_one_tile_keeps_its_registers(tmp_path: Path) -> None:
    found = compile_region(region_of(LAYER, tmp_path), Options())
    assert "register-tile" in {remark.code for remark in found.program.remarks}
