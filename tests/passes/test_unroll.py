"""Iterations that are written out, since they share what they read or the smaller image's columns. The trees are in
`unrolled/`, for `test_on_trees.py`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import islpy as isl
import pytest

from polyc.model.program import Options
from polyc.model.tree import LEAF, Band, Domain, Member, Role
from polyc.pipeline import compile_region
from polyc.runtime.check import check
from polyc.verify import check as faults_of
from tests.programs import after, compiled, region_in, region_of

FILES = sorted((Path(__file__).parent / "unrolled").glob("*.c"))
FAILURES = {"verification-failed", "budget", "not-printed", "text-not-checked"}
SIZES = (1, 2, 3, 4, 5, 17, 40)


@pytest.mark.parametrize("name", ["box", "stretch"])
def test_text(name: str, golden: Callable[[Path, str], None]) -> None:
    """Unrolled rows of a tile, and columns that are written out."""
    file = next(file for file in FILES if file.stem == name)
    golden(file.with_suffix(".golden"), compile_region(region_in(file), Options()).text)


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.stem)
@pytest.mark.parametrize("target", ["openmp", "c"])
def test_values(file: Path, target: str) -> None:
    """Bit by bit, at sizes around those of the parts."""
    region = region_in(file)
    result = compile_region(region, Options(target=target))
    codes = {remark.code for remark in result.program.remarks}
    assert result.verified
    assert "unrolled" in codes
    assert not codes & FAILURES
    assert check(region, result, sizes=SIZES) == []


LEFT_ALONE = {
    "rows that read other elements": "A[i][j] = B[i][j] + B[i][j + 1] + B[i][j + 2] + B[i][j + 3] + B[i][j + 4];",
    "rows that need each other": "A[i][j] = A[i - 1][j] + B[i][j] + B[i - 1][j] + B[i + 1][j] + B[i + 2][j];",
    "little to load": "A[i][j] = B[i][j] + B[i - 1][j];",
}


SHARED = "A[i][j] = B[i][j] + B[i][j + 1] + B[i][j + 2] + B[i + 1][j] + B[i + 1][j + 1] + B[i + 1][j + 2];"


def staged(statement: str) -> str:
    """A nest that reads what the tile has made."""
    return f"""
void f(int n, double A[n + 4][n + 4], double B[n + 4][n + 4], double C[n + 5][n + 4])
{{
#pragma polyc live-out(A)
#pragma scop
    for (int i = 0; i < n + 4; i++)
        for (int j = 0; j < n + 4; j++)
            B[i][j] = C[i + 1][j] - C[i][j];
    for (int i = 1; i < n; i++)
        for (int j = 1; j < n; j++)
            {statement}
#pragma endscop
}}
"""


@pytest.mark.parametrize("name", LEFT_ALONE)
def test_other_nests_stay(name: str, tmp_path: Path) -> None:
    region = region_of(staged(LEFT_ALONE[name]), tmp_path)
    result = compile_region(region, Options())
    assert "unrolled" not in {r.code for r in result.program.remarks}
    assert check(region, result, sizes=(1, 9, 33)) == []


def test_rows_that_are_read_through_pointers_stay(tmp_path: Path) -> None:
    """A store to one row may change what the next one reads, as far as C compilers know: nothing is loaded once."""
    nest = "    for (int i = 1; i < n; i++)\n        for (int j = 1; j < n; j++)\n            " + SHARED
    head = "void f(int n, double A[n + 4][n + 4], double B[n + 4][n + 4])\n{\n#pragma scop\n"
    text = f"{head}{nest}\n#pragma endscop\n}}\n"
    assert "unrolled" in {r.code for r in compiled(staged(SHARED), tmp_path).program.remarks}
    assert "unrolled" not in {r.code for r in compiled(text, tmp_path).program.remarks}


LONG = (
    "(in[y][x - 1] * in[y][x - 1] + 2 * in[y][x] * in[y][x] + 3 * in[y][x] * in[y][x + 1] + 5 * x * x + 7 * n * x) / 6"
)


@pytest.mark.parametrize(
    ("columns", "element", "value", "made"),
    [
        (799, "unsigned char", LONG, True),
        (789, "unsigned char", LONG, False),
        (799, "short", LONG, False),
        (799, "unsigned char", "in[y][x - 1] + in[y][x]", False),
    ],
    ids=["fourteen left", "four left", "shorts", "little to compute"],
)
def test_the_last_bytes_of_rows(columns: int, element: str, value: str, made: bool, tmp_path: Path) -> None:
    """They have a loop of their own where they are half of a short vector or more, and take time."""
    region = region_of(
        f"""
void f(int n, const {element} in[n][801], {element} out[n][801])
{{
#pragma scop
    for (int y = 0; y < n; y++)
        for (int x = 1; x < {columns}; x++)
            out[y][x] = {value};
#pragma endscop
}}
""",
        tmp_path,
    )
    result = compile_region(region, Options())
    assert ("in shorter vectors" in " ".join(r.message for r in result.program.remarks)) == made
    assert check(region, result, sizes=(1, 3)) == []


def test_rows_that_need_each_other_are_seen(tmp_path: Path) -> None:
    """A loop that carries a dependence, cut like one that carries none."""
    text = """
void f(int n, double A[n + 4][n + 4], double B[n + 4][n + 4])
{
#pragma scop
    for (int i = 1; i < n; i++)
        for (int j = 1; j < n; j++)
            A[i][j] = A[i - 1][j + 1] + A[i - 1][j - 1] + B[i][j];
#pragma endscop
}
"""
    program = after(region_of(text, tmp_path), "schedule")
    context = program.tree.domain.get_ctx()
    i, part, j, digit = (
        Member(isl.UnionPwAff.read_from_str(context, f"{{ S0[i, j] -> [({value})] }}"))
        for value in ("i", "i - i mod 4", "j", "i mod 4")
    )
    unrolled = Band((replace(digit, role=Role.UNROLLED),), True, LEAF)
    for band, is_right in ((Band((i, j), False, LEAF), True), (Band((part, j), False, unrolled), False)):
        faults = faults_of(replace(program, tree=Domain(program.tree.domain, band)))
        assert (faults == []) == is_right


def test_subscripts_with_fractions(tmp_path: Path) -> None:
    """i % 2 in steps of three is ((-2 - i) mod 6)/3 to isl: whole where the loop runs, with no cell elsewhere."""
    region = region_of(
        """
        double a[99][99], b[99][99];
        void f(int m) {
        #pragma scop
          for (int i = 1; i < m + 2; i += 3)
            a[2 * i][2 * i] = b[2 * i + 1][i % 2] - a[2 * i + 2][i % 2];
        #pragma endscop
        }
        """,
        tmp_path,
    )
    assert "isl-failed" not in {r.code for r in compile_region(region, Options()).program.remarks}


@pytest.mark.parametrize("kind", ["diamond", "skewed", "overlapped"])
def test_clamps_in_tiles_over_time(kind: str, tmp_path: Path) -> None:
    """No vector loop asks at each column whether it is the first one."""
    program = Path(__file__).parents[1] / "differential/programs/clamped_steps.c"
    text = program.read_text().split("int main")[0].replace('#include "driver.h"', "")
    found = compiled(text, tmp_path, time_tile=(kind, ()))
    assert found.verified
    lines = found.text.splitlines()
    loops = [lines[k + 1 : k + 3] for k, line in enumerate(lines) if line.strip().endswith("_simd")]
    assert not any("(x == 0 ?" in line for loop in loops for line in loop)
    if kind != "overlapped":
        assert any("x - 1" in line and "x + 1" in line for loop in loops for line in loop)


DEPTHWISE = """
void f(int n, const float in[n][40][40], const float w[9], float out[n][40][40])
{
#pragma scop
    for (int c = 0; c < n; c++)
        for (int y = 0; y < 40; y++)
            for (int x = 0; x < 40; x++) {
                float s = 0;
                for (int k = 0; k < 3; k++)
                    for (int l = 0; l < 3; l++)
                        if (y + k >= 1 && y + k <= 40 && x + l >= 1 && x + l <= 40)
                            s += in[c][y + k - 1][x + l - 1] * w[3 * k + l];
                out[c][y][x] = s;
            }
#pragma endscop
}
"""


def test_windows_inside_of_a_small_image(tmp_path: Path) -> None:
    """C compilers make vectors of the loop over whole windows, and none of one with their borders."""
    region = region_of(DEPTHWISE, tmp_path)
    result = compile_region(region, Options())
    assert "for (int x = 1; x < 39; x++) {" in result.text
    assert check(region, result, sizes=(1, 2)) == []


SEAM = """
void f(int n, int w, int p[n][w], signed char from[n][w])
{
#pragma scop
    for (int y = 1; y < n; y++)
        for (int x = 0; x < w; x++) {
            int best = p[y - 1][x], k = 0;
            if (x > 0 && p[y - 1][x - 1] < best) { best = p[y - 1][x - 1]; k = -1; }
            if (x < w - 1 && p[y - 1][x + 1] < best) { best = p[y - 1][x + 1]; k = 1; }
            p[y][x] += best;
            from[y][x] = k;
        }
#pragma endscop
}
"""


def test_ends_of_statements_that_branch(tmp_path: Path) -> None:
    region = region_of(SEAM, tmp_path)
    result = compile_region(region, Options())
    assert "for (int x = 1; x < w - 1; x++) {" in result.text
    assert check(region, result, sizes=(1, 2, 3, 9)) == []
