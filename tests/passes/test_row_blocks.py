"""Nests that walk over rows, in blocks of rows; the trees are in `rows/`, for `test_on_trees.py`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from polyc.model.program import Options, Program
from polyc.model.tree import Band, Domain, Node, Role, Sequence, rewrite
from polyc.nests import sums
from polyc.passes.products.jam import jam_sums
from polyc.pipeline import compile_region, initial_program
from polyc.runtime.check import check
from polyc.verify import check as faults_of
from tests.programs import after, region_in, region_of

FILES = sorted((Path(__file__).parent / "rows").glob("*.c"))
ROOM = 20_000_000
"""isl operations: more than by default, so that each text is compared."""
FAILURES = {"verification-failed", "text-not-checked", "budget", "not-printed", "not-jammed"}
SIZES = (1, 7, 8, 9, 31, 64, 67, 135)


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.stem)
@pytest.mark.parametrize(("machine", "target"), [("generic", "openmp"), ("zen4", "openmp"), ("generic", "c")])
def test_values(file: Path, machine: str, target: str) -> None:
    """Bit by bit, at sizes around those of blocks."""
    region = region_in(file)
    result = compile_region(region, Options(machine=machine, target=target, budget=ROOM))
    codes = {remark.code for remark in result.program.remarks}
    assert result.verified
    assert codes >= {"row-blocks", "jammed"}
    assert not codes & FAILURES
    assert check(region, result, sizes=SIZES) == []


MANY = {
    "rows of a pointer": """
void f(int n, int m, double *restrict L, double *restrict x)
{
#pragma scop
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++)
            for (int t = 0; t < m; t++)
                x[i * m + t] -= L[i * n + j] * x[j * m + t];
        for (int t = 0; t < m; t++)
            x[i * m + t] /= L[i * n + i];
    }
#pragma endscop
}
""",
    "a row for each right-hand side": """
void f(int n, int m, double *restrict L, double *restrict x)
{
#pragma scop
    for (int t = 0; t < m; t++)
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < i; j++)
                x[t * n + i] -= L[i * n + j] * x[t * n + j];
            x[t * n + i] /= L[i * n + i];
        }
#pragma endscop
}
""",
    "from the last row": """
void f(int n, int m, float U[restrict n][n], float x[restrict n][m])
{
#pragma scop
    for (int k = n - 1; k >= 0; k--) {
        for (int t = 0; t < m; t++)
            x[k][t] /= U[k][k];
        for (int i = 0; i < k; i++)
            for (int t = 0; t < m; t++)
                x[i][t] -= U[i][k] * x[k][t];
    }
#pragma endscop
}
""",
}


@pytest.mark.parametrize("name", MANY)
def test_many_right_hand_sides(name: str, tmp_path: Path) -> None:
    """What earlier blocks give is a sum of products, in register tiles, whichever loop was outermost."""
    region = region_of(MANY[name], tmp_path)
    result = compile_region(region, Options(budget=ROOM))
    codes = {remark.code for remark in result.program.remarks}
    assert result.verified
    assert codes >= {"row-blocks", "register-tile"}
    assert not codes & FAILURES
    assert check(region, result, sizes=(1, 47, 49, 97)) == []


LEFT_ALONE = {
    "nearest rows first, many right-hand sides": """
void f(int n, int m, double U[restrict n][n], double x[restrict n][m])
{
#pragma scop
    for (int i = n - 1; i >= 0; i--) {
        for (int j = i + 1; j < n; j++)
            for (int t = 0; t < m; t++)
                x[i][t] -= U[i][j] * x[j][t];
        for (int t = 0; t < m; t++)
            x[i][t] /= U[i][i];
    }
#pragma endscop
}
""",
    "nearest rows first": """
void f(int n, double U[n][n], double x[n])
{
#pragma scop
    for (int i = n - 1; i >= 0; i--) {
        for (int j = i + 1; j < n; j++)
            x[i] -= U[i][j] * x[j];
        x[i] = x[i] / U[i][i];
    }
#pragma endscop
}
""",
    "all of a sum is needed before": """
void f(int n, double A[n][n], double x[n], double s[n], double t[n])
{
#pragma scop
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            s[j] += A[i][j] * x[i];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            t[i] += A[i][j] * s[j];
#pragma endscop
}
""",
    "something between": """
void f(int n, double A[n][n], double x[n], double y[n], double s[n], double t[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            t[i] += A[i][j] * y[j];
    x[0] = t[n - 1];
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            s[j] += A[i][j] * x[i];
#pragma endscop
}
""",
    "other rows": """
void f(int n, double A[n][n], double B[n][n], double x[n], double s[n], double t[n])
{
#pragma scop
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            s[j] += A[i][j] * x[i];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            t[i] += A[n - 1 - i][j] * x[j];
#pragma endscop
}
""",
}


@pytest.mark.parametrize("name", LEFT_ALONE)
def test_other_nests_stay(name: str, tmp_path: Path) -> None:
    region = region_of(LEFT_ALONE[name], tmp_path)
    result = compile_region(region, Options())
    assert "row-blocks" not in {r.code for r in result.program.remarks}
    assert check(region, result, sizes=(1, 9, 67)) == []


def test_given_tiles_stay() -> None:
    """Who gives tile sizes gets them."""
    for file in FILES:
        result = compile_region(region_in(file), Options(tile_sizes=(5, 7)))
        assert "row-blocks" not in {r.code for r in result.program.remarks}


# --- the check sees what breaks it -----------------------------------------------------------------------------------


def blocked(name: str, last: str = "jam") -> Program:
    file = next(f for f in FILES if f.stem == name)
    found = after(region_in(file), last)
    assert faults_of(found) == []
    return found


def changed(program: Program, change: Callable[[Node], Node]) -> Program:
    tree = Domain(program.tree.domain, rewrite(program.tree.child, change))
    assert tree.child is not program.tree.child
    return replace(program, tree=tree)


@pytest.mark.parametrize("name", ["product_twice", "updated", "triangular_solve", "backwards"])
@pytest.mark.parametrize("last", ["rowblocks", "jam"])
def test_steps_of_a_block_in_another_order_are_seen(name: str, last: str) -> None:
    def change(node: Node) -> Node:
        match node:
            case Band(members=(*_, block), child=Sequence(children=steps)) if (
                block.role is Role.TILE and not block.coincident and len(steps) == 2
            ):
                return replace(node, child=Sequence(steps[::-1]))
            case _:
                return node

    assert faults_of(changed(blocked(name, last), change))


@pytest.mark.parametrize("name", ["product_twice", "both_ways", "updated", "triangular_solve"])
def test_blocks_in_another_order_are_seen(name: str) -> None:
    def change(node: Node) -> Node:
        match node:
            case Band(members=(block,)) if block.role is Role.TILE and not block.coincident:
                return replace(node, members=(replace(block, schedule=block.schedule.neg()),))
            case _:
                return node

    assert faults_of(changed(blocked(name, "rowblocks"), change))


def test_a_register_that_others_read_from_memory_is_seen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A sum that reads what it has in registers itself: all rows beside each other, without blocks."""
    monkeypatch.setattr(sums, "_keeps_to_itself", lambda *_: True)
    file = next(f for f in FILES if f.stem == "unit_diagonal")
    text = file.read_text().replace("j < i", "j < n")
    program = initial_program(region_of(text, tmp_path).scop, Options())

    def change(node: Node) -> Node:
        match node:
            case Band(members=(row,), child=Band() as inner):
                return Band((replace(row, coincident=True), *inner.members), False, inner.child)
            case _:
                return node

    found = jam_sums(changed(program, change))
    assert "jammed" in {r.code for r in found.remarks}
    assert faults_of(found)
