"""The check of mapped programs can fail: each test breaks a kernel on purpose and sees it caught."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from polyc.model.program import Program
from polyc.model.tree import Band, Domain, Filter, Mark, Node, Sequence, deals_to_threads, rewrite, walk
from polyc.verify import check
from tests.programs import after, region_in, region_of

FIGURES = Path(__file__).parent.parent / "passes" / "figures"
TWO_STEPS = """
void f(int n, float a[n], float b[n])
{
#pragma scop
    for (int t = 0; t < 10; t++) {
        for (int i = 1; i < n - 1; i++)
            b[i] = a[i - 1] + a[i + 1];
        for (int i = 1; i < n - 1; i++)
            a[i] = b[i];
    }
#pragma endscop
}
"""


@pytest.fixture(scope="module")
def fused() -> Program:
    """The convolution with its producer in the tile, in shared memory."""
    return after(region_in(FIGURES / "figure_1a.c"), "barriers", target="cuda")


def changed(program: Program, change: Callable[[Node], Node]) -> Program:
    return replace(program, tree=Domain(program.tree.domain, rewrite(program.tree.child, change)))


def messages(program: Program) -> str:
    return "; ".join(f"{fault.kind}: {fault.message}" for fault in check(program))


def test_the_unbroken_program_passes(fused: Program) -> None:
    assert check(fused) == []
    assert any(isinstance(n, Mark) and n.kind == "kernel" for n in nodes(fused))


def nodes(program: Program) -> list[Node]:
    return list(walk(program.tree.child))


def test_no_barrier_before_the_reader(fused: Program) -> None:
    def change(node: Node) -> Node:
        if isinstance(node, Sequence):
            return Sequence(tuple(replace(s, barrier=False) for s in node.children))
        return node

    assert "barrier: no barrier between S0 and S2, which touch A" in messages(changed(fused, change))


def test_no_barrier_before_shared_memory_is_used_again(fused: Program) -> None:
    def change(node: Node) -> Node:
        if isinstance(node, Band):
            return replace(node, members=tuple(replace(m, barrier=False) for m in node.members))
        return node

    assert "no barrier in the loop w around A_tile" in messages(changed(fused, change))


def test_a_barrier_that_not_all_threads_come_to(fused: Program) -> None:
    """In each iteration of a loop that is dealt out to them: some have more iterations than others."""

    def change(node: Node) -> Node:
        if isinstance(node, Band) and any(deals_to_threads(m) for m in node.members):
            return replace(node, members=tuple(replace(m, barrier=deals_to_threads(m)) for m in node.members))
        return node

    assert "not all threads of a block come to a barrier on the way to S1" in messages(changed(fused, change))


def test_a_barrier_where_one_thread_is(fused: Program) -> None:
    def change(node: Node) -> Node:
        inner = node.children[0].child if isinstance(node, Sequence) else None
        if isinstance(node, Sequence) and isinstance(inner, Band):
            members = tuple(replace(m, mapped="", barrier=True) for m in inner.members)
            alone = Mark("once", replace(inner, members=members))
            return Sequence((replace(node.children[0], child=alone), *node.children[1:]))
        return node

    assert "not all threads of a block come to a barrier on the way to S0" in messages(changed(fused, change))


def test_a_barrier_on_the_host(fused: Program) -> None:
    def change(node: Node) -> Node:
        if isinstance(node, Mark) and node.kind == "kernel":
            return Sequence((Filter(fused.tree.domain, node, barrier=True),))
        return node

    assert "the host comes to a barrier on the way to S1" in messages(changed(fused, change))


def test_a_loop_that_is_not_dealt_out(fused: Program) -> None:
    """Every thread would run all iterations."""

    def change(node: Node) -> Node:
        if isinstance(node, Band) and any(deals_to_threads(m) for m in node.members):
            return replace(node, members=tuple(replace(m, mapped="", parallel=False) for m in node.members))
        return node

    assert "is not dealt out to the threads of a block" in messages(changed(fused, change))


def test_one_axis_twice(fused: Program) -> None:
    def change(node: Node) -> Node:
        if isinstance(node, Band) and node.members[0].mapped == "block.y":
            return replace(node, members=tuple(replace(m, mapped="block.x") for m in node.members))
        return node

    assert "is not dealt out to the blocks" in messages(changed(fused, change))


def test_one_thread_whose_steps_are_of_different_blocks(fused: Program) -> None:
    """Tiles dealt out to threads, their points to blocks: each block has its own memory for the tile."""
    axes = {"block.y": "thread.y", "block.x": "thread.x", "thread.y": "block.y", "thread.x": "block.x"}

    def change(node: Node) -> Node:
        if isinstance(node, Band):
            return replace(node, members=tuple(replace(m, mapped=axes.get(m.mapped, "")) for m in node.members))
        return node

    assert "no barrier between S0 and S2, which touch A" in messages(changed(fused, change))


def test_blocks_of_one_thread(tmp_path: Path) -> None:
    """They need no barriers, but one block does not see what another one writes."""
    program = after(region_of(TWO_STEPS, tmp_path), "barriers", target="cuda")

    def change(node: Node) -> Node:
        if isinstance(node, Mark) and node.kind == "kernel":
            return node.child
        if isinstance(node, Sequence) and len(node.children) == 2:
            return Mark("kernel", node, sizes=(1,))
        return node

    assert "no barrier between S0 and S1, which touch" in messages(changed(program, change))


def test_mapped_outside_of_a_kernel(fused: Program) -> None:
    def change(node: Node) -> Node:
        return node.child if isinstance(node, Mark) and node.kind == "kernel" else node

    assert "is mapped outside of a kernel" in messages(changed(fused, change))


def test_once_outside_of_a_kernel(fused: Program) -> None:
    def change(node: Node) -> Node:
        return Mark("once", node) if isinstance(node, Mark) and node.kind == "kernel" else node

    assert "S1 is left to one thread outside of a kernel" in messages(changed(fused, change))


def test_a_loop_that_carries_a_dependence(fused: Program) -> None:
    """The window's loop, dealt out to blocks."""

    def change(node: Node) -> Node:
        if isinstance(node, Band) and node.members[0].name == "kh":
            return replace(node, members=(replace(node.members[0], mapped="block.z"), *node.members[1:]))
        return node

    assert "race: the parallel loop kh carries a dependence on C" in messages(changed(fused, change))


def test_two_kernels_made_one(tmp_path: Path) -> None:
    """Blocks do not wait for each other: what one writes no other may read."""
    program = after(region_of(TWO_STEPS, tmp_path), "barriers", target="cuda")
    assert check(program) == []
    kernels = [n for n in nodes(program) if isinstance(n, Mark) and n.kind == "kernel"]
    assert len(kernels) == 2

    def change(node: Node) -> Node:
        if isinstance(node, Mark) and node.kind == "kernel":
            return node.child
        if isinstance(node, Sequence) and len(node.children) == 2:
            return Mark("kernel", node, sizes=kernels[0].sizes)
        return node

    assert "barrier: no barrier between" in messages(changed(program, change))


SHORT_ROWS = """
void f(int n, float a[n][7], float b[n][7])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 7; j++)
            b[i][j] = 2 * a[i][j];
#pragma endscop
}
"""


def test_a_counted_loop_without_an_index(tmp_path: Path) -> None:
    """The loop that has the index they share is not dealt out any more."""
    program = after(region_of(SHORT_ROWS, tmp_path), "barriers", target="cuda")
    assert check(program) == []

    def change(node: Node) -> Node:
        if isinstance(node, Band) and node.members[0].mapped == "global.x":
            return replace(node, members=(replace(node.members[0], mapped="block.x"), *node.members[1:]))
        return node

    assert "has no index that it is counted in" in messages(changed(program, change))


def test_a_counted_loop_that_carries_a_dependence(tmp_path: Path) -> None:
    """A row's sum, with the loop over the row counted in the index of the rows."""
    summed = SHORT_ROWS.replace("b[i][j] = 2", "b[i][0] += 2")
    program = after(region_of(summed, tmp_path), "barriers", target="cuda")
    assert check(program) == []

    def change(node: Node) -> Node:
        if isinstance(node, Band) and len(node.members) == 2:
            rows, columns = node.members
            return replace(node, members=(rows, replace(columns, mapped="linear", parallel=True)))
        return node

    assert "race: the parallel loop j carries a dependence on b" in messages(changed(program, change))
