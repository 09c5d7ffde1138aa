"""Sums that stream through an array: several at once, in registers. Trees: in `sums/`, for `test_on_trees.py`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import islpy as isl
import pytest

from polyc.model.program import Options, Program
from polyc.model.tree import Band, Domain, Filter, Member, Node, Role, Sequence, rewrite
from polyc.passes.products.absorb import _with
from polyc.pipeline import compile_region, initial_program, passes_for
from polyc.runtime.check import check
from polyc.verify import check as faults_of
from tests.programs import after, region_in, region_of
from tests.turns import turn

MACHINES = ("generic", "zen4", "aarch64")
FILES = sorted((Path(__file__).parent / "sums").glob("*.c"))
ROOM = 10_000_000
"""isl operations: more than by default, so that each text is compared."""
FAILURES = {"verification-failed", "text-not-checked", "budget", "not-printed", "not-jammed"}


@pytest.mark.parametrize(
    ("file", "machine"),
    [(file, machine) for k, file in enumerate(FILES) for machine in turn(MACHINES, k, len(MACHINES))],
    ids=lambda v: v.stem if isinstance(v, Path) else v,
)
def test_values(file: Path, machine: str) -> None:
    """Bit by bit, at sizes around those of blocks and tiles."""
    region = region_in(file)
    result = compile_region(region, Options(machine=machine, budget=ROOM))
    codes = {remark.code for remark in result.program.remarks}
    assert result.verified
    assert "jammed" in codes
    assert not codes & FAILURES
    assert check(region, result, sizes=(1, 7, 8, 9, 64, 67, 530)) == []


NOT_JAMMED = {
    "a window": """
void f(int n, double A[n + 3], double w[3], double y[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++)
            y[i] += A[i + k] * w[k];
#pragma endscop
}
""",
    "a chain": """
void f(int n, double A[n][n], double x[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            x[i] -= A[i][j] * x[i - 1];
#pragma endscop
}
""",
    "one sum": """
void f(int n, double A[n], double s[1])
{
#pragma scop
    for (int i = 0; i < n; i++)
        s[0] += A[i];
#pragma endscop
}
""",
}


@pytest.mark.parametrize("name", NOT_JAMMED)
def test_other_nests_stay(name: str, tmp_path: Path) -> None:
    result = compile_region(region_of(NOT_JAMMED[name], tmp_path), Options())
    assert not {r.code for r in result.program.remarks} & {"jammed", "not-jammed"}


def test_given_tiles_stay() -> None:
    """Who gives tile sizes gets them."""
    result = compile_region(region_in(FILES[-1]), Options(tile_sizes=(5, 7)))
    assert not {r.code for r in result.program.remarks} & {"jammed", "not-jammed"}


# --- the check sees what breaks it -----------------------------------------------------------------------------------


@cache
def jammed(name: str) -> Program:
    file = next(f for f in FILES if f.stem == name)
    found = after(region_in(file), "jam")
    assert faults_of(found) == []
    return found


def changed(program: Program, change: Callable[[Node], Node]) -> Program:
    tree = Domain(program.tree.domain, rewrite(program.tree.child, change))
    assert tree.child is not program.tree.child
    return replace(program, tree=tree)


@pytest.mark.parametrize("name", ["rows", "columns", "triangle"])
@pytest.mark.parametrize("step", [0, 2])
def test_a_lost_copy_is_seen(name: str, step: int) -> None:
    """Registers that are not filled, or not written back."""

    def change(node: Node) -> Node:
        match node:
            case Sequence(children=steps) if len(steps) == 3 and "fill" in str(steps[0].filter):
                return Sequence(steps[:step] + steps[step + 1 :])
            case _:
                return node

    assert faults_of(changed(jammed(name), change))


@pytest.mark.parametrize("name", ["columns", "triangle"])
def test_the_rest_comes_last(name: str) -> None:
    """What is left over of a sum, before the blocks: its additions would come in another order."""

    def change(node: Node) -> Node:
        match node:
            case Sequence(children=(Filter() as whole, *rest)) if rest and "fill" not in str(whole.filter):
                return Sequence((*rest, whole))
            case _:
                return node

    assert faults_of(changed(jammed(name), change))


def test_rows_in_another_order_are_seen() -> None:
    """The rows of one vector from the last to the first."""

    def change(node: Node) -> Node:
        match node:
            case Band(members=(first, *others)) if first.role is Role.REGISTER and not first.coincident:
                return replace(node, members=(replace(first, schedule=first.schedule.neg()), *others))
            case _:
                return node

    assert faults_of(changed(jammed("columns"), change))


def test_the_pass_does_nothing_else(tmp_path: Path) -> None:
    """A program without sums stays the same object."""
    text = """
void f(int n, double A[n], double B[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        B[i] = 2.0 * A[i];
#pragma endscop
}
"""
    program = initial_program(region_of(text, tmp_path).scop, Options())
    for name, run in passes_for(Options()):
        before, program = program, run(program)
        if name == "jam":
            assert program.tree is before.tree


def test_what_was_added_to_tiles_runs_once_in_their_loops() -> None:
    """Also where these have a value for it already, of the time before it was added to tiles."""
    both, one = (isl.UnionPwAff(text) for text in ("{ S[i] -> [(i)]; T[i] -> [(i)] }", "{ S[i] -> [(i)] }"))
    assert _with(Member(both), one).schedule.plain_is_equal(both)
