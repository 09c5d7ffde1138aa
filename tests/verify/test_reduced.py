"""The check of reductions in kernels can fail: each test breaks one on purpose and sees it caught."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from polyc.model.program import Program
from polyc.model.tree import Band, Domain, Mark, Node, Sequence, rewrite
from polyc.passes.gpu import gpu_reductions
from polyc.verify import check
from tests.programs import after, region_of

DOT = """
void dot(int n, double x[n], double s[1])
{
#pragma scop
    for (int i = 0; i < n; i++)
        s[0] += x[i];
#pragma endscop
}
"""
ROWS = """
void rows(int n, double a[n][n], double s[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        s[i] = 0;
        for (int j = 0; j < n; j++)
            s[i] += a[i][j];
        s[i] = 2 * s[i];
    }
#pragma endscop
}
"""
PREFIX = """
void prefix(int n, double x[n], double y[n])
{
    double s = 0;
#pragma scop
    for (int i = 0; i < n; i++) {
        s += x[i];
        y[i] = s;
    }
#pragma endscop
}
"""
NEXT = """
void next(int n, double x[n], double s[n])
{
#pragma scop
    for (int i = 1; i < n; i++)
        s[i] = s[i - 1] + x[i];
#pragma endscop
}
"""


def mapped(text: str, folder: Path) -> Program:
    return after(region_of(text, folder), "barriers", target="cuda", reassociate=True)


def changed(program: Program, change: Callable[[Node], Node]) -> str:
    """What the check says of the program with its tree changed."""
    tree = Domain(program.tree.domain, rewrite(program.tree.child, change))
    return said(replace(program, tree=tree))


def said(program: Program) -> str:
    return "; ".join(f"{fault.kind}: {fault.message}" for fault in check(program))


@pytest.fixture
def dot(tmp_path: Path) -> Program:
    return mapped(DOT, tmp_path)


@pytest.fixture
def rows(tmp_path: Path) -> Program:
    return mapped(ROWS, tmp_path)


def test_the_unbroken_programs_pass(dot: Program, rows: Program) -> None:
    assert said(dot) == ""
    assert said(rows) == ""


def test_no_mark(dot: Program, rows: Program) -> None:
    def change(node: Node) -> Node:
        return node.child if isinstance(node, Mark) and node.kind == "reduce" else node

    assert "race: the parallel loop i carries a dependence on s" in changed(dot, change)
    assert "race: the parallel loop j carries a dependence on s" in changed(rows, change)


def test_the_order_is_to_be_kept(dot: Program) -> None:
    kept = replace(dot, options=replace(dot.options, reassociate=False))
    assert "race: the parallel loop i carries a dependence on s" in said(kept)


def test_another_operator(dot: Program) -> None:
    def change(node: Node) -> Node:
        if isinstance(node, Band):
            return replace(node, members=tuple(replace(m, reductions=(("*", "s"),)) for m in node.members))
        return node

    assert "race" in changed(dot, change)


def test_no_array_is_named(dot: Program) -> None:
    def change(node: Node) -> Node:
        if isinstance(node, Band):
            return replace(node, members=tuple(replace(m, reductions=()) for m in node.members))
        return node

    assert "race" in changed(dot, change)


def test_two_operators_for_one_array(dot: Program) -> None:
    """Each would have parts of its own, and both would be combined."""

    def change(node: Node) -> Node:
        if isinstance(node, Band):
            members = tuple(replace(m, reductions=(("+", "s"), ("*", "s"))) for m in node.members)
            return replace(node, members=members)
        return node

    assert "race" in changed(dot, change)


def test_blocks_without_a_bound(dot: Program) -> None:
    """The array of the blocks' parts has room for so many."""

    def change(node: Node) -> Node:
        return replace(node, blocks=0) if isinstance(node, Mark) and node.kind == "kernel" else node

    assert "race: the parallel loop i carries a dependence on s" in changed(dot, change)


@pytest.mark.parametrize("text", [PREFIX, NEXT], ids=["read on the way", "several cells"])
def test_no_reduction(text: str, tmp_path: Path) -> None:
    """A loop that is marked and dealt out, though its sums are needed on the way, or go to a cell each."""
    program = mapped(text, tmp_path)
    assert said(program) == ""

    def change(node: Node) -> Node:
        if isinstance(node, Band):
            (member,) = node.members
            dealt = replace(member, parallel=True, mapped="global.x", reductions=(("+", "s"),))
            return Mark("reduce", replace(node, members=(dealt,)))
        return replace(node, sizes=(256,)) if isinstance(node, Mark) and node.kind == "kernel" else node

    assert "race: the parallel loop i carries a dependence on s" in changed(program, change)


def test_the_mark_is_around_the_results(rows: Program) -> None:
    """A part for all rows together."""

    def change(node: Node) -> Node:
        if isinstance(node, Mark) and node.kind == "reduce":
            return node.child
        if isinstance(node, Band) and node.members[0].name == "i":
            member = replace(node.members[0], reductions=(("+", "s"),))
            return Mark("reduce", replace(node, members=(member,)))
        return node

    assert "race: the parallel loop j carries a dependence on s" in changed(rows, change)


def test_one_thread_comes_to_the_mark(rows: Program) -> None:
    def change(node: Node) -> Node:
        return Mark("once", node) if isinstance(node, Mark) and node.kind == "reduce" else node

    assert "race" in changed(rows, change)


def test_no_barrier_before_or_after(rows: Program) -> None:
    def change(node: Node) -> Node:
        if isinstance(node, Sequence):
            return Sequence(tuple(replace(step, barrier=False) for step in node.children))
        return node

    assert "barrier: no barrier between S0 and S1, which touch s" in changed(rows, change)
    assert "barrier: no barrier between S1 and S2, which touch s" in changed(rows, change)


def test_blocks_share_a_part_of_a_kernel(rows: Program) -> None:
    """Blocks would each combine their parts into the row's cell."""

    def change(node: Node) -> Node:
        if isinstance(node, Band) and node.members[0].name == "j":
            return replace(node, members=(replace(node.members[0], mapped="global.x"),))
        if isinstance(node, Band):
            return replace(node, members=tuple(replace(m, mapped="", parallel=False) for m in node.members))
        return node

    assert "race: the parallel loop j carries a dependence on s" in changed(rows, change)


RECORD = """
void record(int n, float x[n], int at[1], float most[1])
{
#pragma scop
    for (int i = 0; i < n; i++)
        if (x[i] > most[0]) {
            most[0] = x[i];
            at[0] = i;
        }
#pragma endscop
}
"""
APART = (
    RECORD[: RECORD.index("for (")]
    + """for (int i = 0; i < n; i++) {
        at[0] = x[i] > most[0] ? i : at[0];
        most[0] = x[i] > most[0] ? x[i] : most[0];
    }
#pragma endscop
}
"""
)


@pytest.mark.parametrize(
    "pairs", [((">=", "most"), ("with:most", "at")), ((">", "most"),), ((">", "most"), ("max", "at"))]
)
def test_another_record(pairs: tuple[tuple[str, str], ...], tmp_path: Path) -> None:
    program = mapped(RECORD, tmp_path)
    assert said(program) == ""

    def change(node: Node) -> Node:
        if isinstance(node, Band):
            return replace(node, members=tuple(replace(m, reductions=pairs) for m in node.members))
        return node

    assert "race: the parallel loop i carries a dependence on at" in changed(program, change)


def test_a_record_that_changes_before_what_goes_with_it(tmp_path: Path) -> None:
    def change(node: Node) -> Node:
        return Sequence(node.children[::-1]) if isinstance(node, Sequence) else node

    assert "race: the parallel loop i carries a dependence on at" in changed(mapped(APART, tmp_path), change)


COLUMNS = """
void columns(int n, double a[n][n], double s[n], double t[n])
{
#pragma scop
    for (int j = 0; j < n; j++) {
        s[j] = 0;
        for (int i = 0; i < n; i++)
            s[j] += a[i][j] + t[j];
        s[j] = 2 * s[j];
    }
#pragma endscop
}
"""


def dealt(program: Program, **changes: object) -> str:
    """What the check says with a change of the loop that blocks of a kernel before share."""

    def change(node: Node) -> Node:
        if isinstance(node, Band) and node.members[0].mapped.startswith("part"):
            return replace(node, members=tuple(replace(m, **changes) for m in node.members))  # type: ignore[arg-type]
        return node

    return changed(program, change)


def test_columns(tmp_path: Path) -> None:
    program = mapped(COLUMNS, tmp_path)
    assert said(program) == ""
    assert "race: the parallel loop i carries a dependence on s" in dealt(program, mapped="block.y")
    assert "race: the parallel loop i carries a dependence on s" in dealt(program, reductions=(("max", "s"),))
    assert "S1 leaves no part of a reduction for another kernel" in dealt(program, reductions=())

    def unmarked(node: Node) -> Node:
        return node.child if isinstance(node, Mark) and node.kind == "reduce" else node

    assert "S1 leaves no part of a reduction for another kernel" in changed(program, unmarked)

    def unbounded(node: Node) -> Node:
        return replace(node, blocks=0) if isinstance(node, Mark) and node.kind == "kernel" else node

    assert "S1 leaves no part of a reduction for another kernel" in changed(program, unbounded)


@pytest.mark.parametrize(
    ("first", "update"),
    [("t[j] = 3; s[j] = 0;", ""), ("a[0][j] = s[j] = 0;", ""), ("s[j] = 0;", "s[j] = fmax(s[j], a[i][j]);")],
    ids=["what it reads", "another's", "what it starts with"],
)
def test_columns_that_need_what_their_kernel_makes(
    first: str, update: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is below the mark runs before all else, so that the pass makes two kernels of these."""
    text = COLUMNS.replace("s[j] = 0;", first).replace("s[j] += a[i][j] + t[j];", update or "s[j] += a[i][j] + t[j];")
    assert said(mapped("#include <math.h>" + text, tmp_path)) == ""
    monkeypatch.setattr(gpu_reductions._Reductions, "meet", lambda *_: False)
    assert "leaves no part of a reduction" in said(mapped("#include <math.h>" + text, tmp_path))
