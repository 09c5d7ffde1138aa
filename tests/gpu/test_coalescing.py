"""Several short loops with one index: the same values, readable code, and only where it gains something."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyc.model.program import Options
from tests.gpu.test_kernels import TARGETS, assert_same
from tests.programs import compiled, region_of

HEAD = "void f(int n, int m, float A[n][7][9], float t[n][7][9], float b[9], float B[n][7][9], float C[n][m][5])"
LOOPS = "for (int i = 0; i < n; i++) for (int j = 0; j < 7; j++) for (int k = 0; k < 9; k++)"


def program(*nests: str) -> str:
    return f"{HEAD} {{\n#pragma polyc live-out(B, C)\n#pragma scop\n" + "\n".join(nests) + "\n#pragma endscop\n}\n"


CHAIN = program(f"{LOOPS} t[i][j][k] = 2 * A[i][j][k] + b[k];", f"{LOOPS} B[i][j][k] = t[i][j][k] * t[i][j][k];")
PART = program("for (int i = 0; i < n; i++) for (int j = 1; j < m; j++) for (int k = 1; k < 5; k++) C[i][j][k] *= 3;")
INNER = program(
    "for (int i = 0; i < n; i++) for (int j = 0; j < 7; j++) { B[i][j][0] = 0;",
    "for (int k = 0; k < 9; k++) B[i][j][0] += A[i][j][k]; }",
)
"""A sequential loop below two loops that share an index."""
FIXED = """
void fixed(float a[12][50][1][3], float b[12][50][1][3])
{
#pragma scop
    for (int i = 0; i < 12; i++)
        for (int j = 2; j < 50; j++)
            for (int k = 0; k < 1; k++)
                for (int l = 0; l < 3; l++)
                    b[i][j][k][l] = 2 * a[i][j][k][l];
#pragma endscop
}
"""
GAIN = {"chain": CHAIN, "part": PART, "inner": INNER, "fixed": FIXED}
LOSE = {
    "long rows": "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) C[i][j][0] = 1;",
    "shared data": "for (int i = 0; i < n; i++) for (int k = 0; k < 7; k++) B[i][0][k] = A[i][0][k] + A[i][0][k + 2];",
    "no box": "for (int i = 0; i < 7; i++) for (int j = 0; j <= i; j++) B[0][i][j] = A[0][i][j];",
    "one loop": "for (int k = 0; k < 9; k++) B[0][0][k] = b[k];",
}
HEAD_OF_CHAIN = """\
  for (index c = 256 * bx + tx; c < (index)n * 63; c += (index)256 * gridDim.x) {
    const index i = c / 63;
    const index j = c / 9 % 7;
    const index k = c % 9;
    float t_here;
    t_here = 2 * A[i][j][k] + b[k];
    B[i][j][k] = t_here * t_here;
  }
"""


def codes(text: str, folder: Path, **options: object) -> set[str]:
    return {remark.code for remark in compiled(text, folder, target="cuda", **options).program.remarks}


def test_it_reads_well(tmp_path: Path) -> None:
    result = compiled(CHAIN, tmp_path, target="cuda")
    assert result.passed
    assert HEAD_OF_CHAIN in result.device[0]
    assert "dim3 grid(polyc_blocks(((long)n * 63 + 255L) / 256, 2147483647));" in result.device[0]


def test_loops_around_go_to_other_axes(tmp_path: Path) -> None:
    text = compiled(PART, tmp_path, target="cuda").device[0]
    assert "for (index i = by; i < n; i += gridDim.y)" in text
    assert "c < ((index)m - 1) * 4" in text


@pytest.mark.parametrize("name", LOSE)
def test_where_it_gains_nothing(name: str, tmp_path: Path) -> None:
    assert "coalesced" not in codes(program(LOSE[name]), tmp_path)


def test_tiles_that_the_user_wants_are_kept(tmp_path: Path) -> None:
    assert "coalesced" in codes(CHAIN, tmp_path)
    assert "coalesced" not in codes(CHAIN, tmp_path, tile_sizes=(4,))
    assert "coalesced" not in codes(CHAIN, tmp_path, tile_sizes=None)


@pytest.mark.slow
@TARGETS
@pytest.mark.parametrize("name", GAIN)
@pytest.mark.parametrize("more", [{}, {"grid": (3, 2)}, {"block": (48,)}], ids=["chosen", "grid", "block"])
def test_the_same_values(name: str, more: dict[str, tuple[int, ...]], target: str, tmp_path: Path) -> None:
    done = assert_same(
        region_of(GAIN[name], tmp_path), Options(target=target, grid=more.get("grid"), block=more.get("block"))
    )
    assert "coalesced" in {remark.code for remark in done.program.remarks}


ROWS = """
void rows(int n, float a[n][{columns}], double b[n][{columns}], float c[n][{columns}])
{{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = {first}; j < {columns}; j++)
            c[i][j] = a[i][j] * (float)b[i][j];
#pragma endscop
}}
"""


def test_neighbours_are_moved_at_once(tmp_path: Path) -> None:
    """16 bytes of floats, since rows begin at multiples of that; nvcc is told where arrays do."""
    result = compiled(ROWS.format(columns=300, first=0), tmp_path, target="cuda")
    assert result.passed
    assert "const index j = c2 % 75;" in result.device[0]
    assert "c[i][4 * j + j2] = a[i][4 * j + j2] * (float)b[i][4 * j + j2];" in result.device[0]
    assert "a = (const float (*)[300])__builtin_assume_aligned(a, 16);" in result.device[0]


@pytest.mark.parametrize(("columns", "first"), [(302, 0), (300, 1)])
def test_neighbours_that_begin_elsewhere(columns: int, first: int, tmp_path: Path) -> None:
    text = compiled(ROWS.format(columns=columns, first=first), tmp_path, target="cuda").device[0]
    assert "assume_aligned" not in text


@TARGETS
def test_neighbours_have_the_same_values(target: str, tmp_path: Path) -> None:
    assert_same(region_of(ROWS.format(columns=300, first=0), tmp_path), Options(target=target))
