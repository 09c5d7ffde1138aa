"""Subscripts that depend on data: what is known of the others serves tiles, buffers and loops over cells.

cells     scatters that are independent from cell to cell of a rounded subscript; their trees are for `test_on_trees.py`
lookups   reads of any element of a row, in tiles that keep the row
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import islpy as isl
import pytest

from polyc.model.program import Options
from polyc.model.tree import Band, Domain, Node, rewrite
from polyc.pipeline import compile_region
from polyc.runtime.check import check
from polyc.verify import check as faults_of
from tests.programs import after, region_in, region_of

FOLDER = Path(__file__).parent
CELLS = sorted((FOLDER / "cells").glob("*.c"))
LOOKUPS = sorted((FOLDER / "lookups").glob("*.c"))
FAILURES = {"verification-failed", "text-not-checked", "budget", "not-printed"}
SIZES = (1, 2, 7, 8, 9, 31, 33)


@pytest.mark.parametrize("file", CELLS, ids=lambda f: f.stem)
def test_cells_are_parallel(file: Path) -> None:
    result = compile_region(region_in(file), Options())
    codes = {remark.code for remark in result.program.remarks}
    assert result.verified
    assert "cells" in codes
    assert not codes & FAILURES
    assert "omp parallel for" in result.text


@pytest.mark.parametrize("file", LOOKUPS, ids=lambda f: f.stem)
def test_text_of_lookups(file: Path, golden: Callable[[Path, str], None]) -> None:
    result = compile_region(region_in(file), Options(max_recompute=1e9, tile_sizes=(8,), inline=False))
    assert result.verified
    assert not {remark.code for remark in result.program.remarks} & FAILURES
    golden(file.with_suffix(".golden"), result.text)


@pytest.mark.parametrize("file", [*CELLS, *LOOKUPS], ids=lambda f: f.stem)
@pytest.mark.parametrize("tiles", [(), (8,), (3, 5)], ids=str)
def test_values(file: Path, tiles: tuple[int, ...]) -> None:
    """Bit by bit, at sizes around those of cells."""
    region = region_in(file)
    options = Options(max_recompute=1e9, tile_sizes=tiles, inline=False) if tiles else Options()
    result = compile_region(region, options)
    assert check(region, result, sizes=SIZES) == []


DEPENDENT = {
    "cells overlap": """
void f(int n, const float in[n], float h[n / 8 + 2][16])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        h[i / 8][(int)in[i] & 15] += in[i];
        h[(i + 4) / 8][(int)in[i] & 15] += in[i];
    }
#pragma endscop
}
""",
    "a scalar goes from cell to cell": """
void f(int n, const float in[n], float h[n / 8 + 2][16], float *last)
{
    float before = 0.0f;
#pragma scop
    for (int i = 0; i < n; i++) {
        h[i / 8][(int)in[i] & 15] += before;
        before = in[i];
    }
    *last = before;
#pragma endscop
}
""",
    "no rounding": """
void f(int n, const int key[n], int h[16])
{
#pragma scop
    for (int i = 0; i < n; i++)
        h[key[i] & 15]++;
#pragma endscop
}
""",
}


@pytest.mark.parametrize("name", DEPENDENT)
def test_left_alone(name: str, tmp_path: Path) -> None:
    region = region_of(DEPENDENT[name], tmp_path)
    result = compile_region(region, Options())
    assert "cells" not in {r.code for r in result.program.remarks}
    assert "omp parallel" not in result.text
    assert check(region, result, sizes=SIZES) == []


VOTES = """
static int wrong[6];

void f(int n, const unsigned char leaf[n][60], int out[6])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        int votes[6] = { 0 };
        for (int t = 0; t < 60; t++)
            votes[leaf[i][t] % 6]++;
        int best = 0;
        for (int c = 1; c < 6; c++)
            if (votes[c] > votes[best])
                best = c;
        wrong[best]++;
    }
    for (int c = 0; c < 6; c++)
        out[c] = wrong[c];
#pragma endscop
}
"""


def test_cells_of_an_iteration_alone_are_in_no_clause(tmp_path: Path) -> None:
    """Each iteration has its own `votes`, under another name: threads combine `wrong`."""
    region = region_of(VOTES, tmp_path)
    result = compile_region(region, Options(threads="always"))
    assert result.verified
    clauses = [line.split("for")[1] for line in result.text.splitlines() if "omp parallel for" in line]
    assert clauses == [" reduction(+: wrong[:6])", ""]
    assert check(region, result, sizes=SIZES) == []


def test_within_a_cell_is_a_race() -> None:
    """Rows of one cell on two threads."""
    program = after(region_in(FOLDER / "cells" / "rows.c"), "parallel")
    assert faults_of(program) == []

    def change(node: Node) -> Node:
        if not isinstance(node, Band):
            return node
        members = (replace(m, parallel=m.name == "i", vector=False) for m in node.members)
        return replace(node, members=tuple(members))

    broken = replace(program, tree=Domain(program.tree.domain, rewrite(program.tree.child, change)))
    assert [fault.kind for fault in faults_of(broken)] == ["race"]


def test_a_part_of_what_data_may_choose_is_too_small() -> None:
    """A buffer that has not the whole dimension in which a subscript depends on data."""
    options = {"max_recompute": 1e9, "tile_sizes": (8,), "inline": False}
    program = after(region_in(FOLDER / "lookups" / "table.c"), "privatize", **options)
    (buffer,) = (b for b in program.buffers.values() if b.array == "table")
    assert faults_of(program) == []
    extent = buffer.extents[0].sub(
        isl.PwAff.val_on_domain(buffer.extents[0].domain(), isl.Val.one(isl.DEFAULT_CONTEXT))
    )
    smaller = replace(program, buffers=program.buffers | {buffer.key: replace(buffer, extents=(extent,))})
    assert {fault.kind for fault in faults_of(smaller)} == {"buffer-bounds"}


def test_a_row_by_a_variable_of_the_iteration(tmp_path: Path) -> None:
    """The rows are looked up before the iterations set it."""
    text = """
void f(float t[13][9], const int k[202], float out[3][201])
{
#pragma scop
    for (int y = 0; y < 3; y++)
        for (int v = 0; v < 200; v++) {
            int x = v;
            out[y][x] = t[x / 16][k[x] + k[x + 1]] * t[x / 16][k[x] + k[x]] * 0.25f;
        }
#pragma endscop
}
"""
    result = compile_region(region_of(text, tmp_path), Options(machine="x86-64-v3", threads="always"))
    assert result.verified
    assert "polyc_lookup_float8(&t[" in result.text
    assert "&t[x / 16]" not in result.text


CHOSEN = """
static long h[64];
static int count;
void f(int n, const float x[n], const int b[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float d = x[i] - x[j];
            if (d > 0) {
                int k = b[i] & 31;
                h[k + (b[j] & 31)] += 2;
                count++;
            }
        }
#pragma endscop
}
"""


@pytest.mark.parametrize(("size", "clause"), [("64", "reduction(+: h[:64]) reduction(+: count)"), ("99999", "atomic")])
def test_scatters_that_data_decide_on(size: str, clause: str, tmp_path: Path) -> None:
    """Of a small array each thread has a copy; updates of a large one are atomic, where there are many cores."""
    region = region_of(CHOSEN.replace("h[64]", f"h[{size}]"), tmp_path)
    result = compile_region(region, Options(threads="always", machine="zen4"))
    assert result.verified
    assert not {remark.code for remark in result.program.remarks} & FAILURES
    assert clause in result.text
    assert check(region, result, sizes=SIZES) == []
