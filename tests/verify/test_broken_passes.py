"""The static check can fail: each test breaks a program on purpose and sees it caught."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import islpy as isl
import pytest

from polyc.analysis.expand import expand
from polyc.model.program import Program
from polyc.model.tree import Band, Domain, Extension, Mark, Node, Sequence, rewrite, walk
from polyc.pipeline import compile_region
from polyc.verify import check
from polyc.verify.flow.dataflow import original_of
from polyc.verify.flow.filled import made_before_read
from tests.programs import after, region_in, region_of

FIGURES = Path(__file__).parent.parent / "passes" / "figures"


@pytest.fixture(scope="module")
def fused() -> Program:
    """The convolution with its producer in the tile."""
    return after(region_in(FIGURES / "figure_1a.c"), "privatize")


def changed(program: Program, change: Callable[[Node], Node]) -> Program:
    return replace(program, tree=Domain(program.tree.domain, rewrite(program.tree.child, change)))


def kinds(program: Program) -> set[str]:
    return {fault.kind for fault in check(program)}


def test_the_unbroken_program_passes(fused: Program) -> None:
    assert check(fused) == []


def test_wrong_tile_shape(fused: Program) -> None:
    """The extension's tile one row further down."""
    shift = isl.UnionMap("[H, W] -> { S0[h, w] -> S0[h + 1, w] }")

    def change(node: Node) -> Node:
        if isinstance(node, Extension):
            moved = node.relation.apply_range(shift).intersect_range(fused.scop.domain)
            return replace(node, relation=moved)
        return node

    assert "flow" in kinds(changed(fused, change))


def test_missing_element_of_the_extension(fused: Program) -> None:
    """One column less of the producer in each tile."""
    short = isl.UnionMap("{ [a, b] -> S0[h, w] : w < b + 129 }")

    def change(node: Node) -> Node:
        return replace(node, relation=node.relation.intersect(short)) if isinstance(node, Extension) else node

    faults = check(changed(fused, change))
    assert "flow" in {f.kind for f in faults}
    assert "S0" in faults[0].witness


def test_wrong_parallel_mark(fused: Program) -> None:
    """The reduction loop kh is not parallel."""

    def change(node: Node) -> Node:
        if isinstance(node, Band) and node.members[0].name == "kh":
            return replace(node, members=(replace(node.members[0], parallel=True), *node.members[1:]))
        return node

    broken = changed(fused, change)
    (fault,) = check(broken)
    assert fault.kind == "race"
    assert "kh" in fault.message


def test_wrong_vector_mark(fused: Program) -> None:
    def change(node: Node) -> Node:
        if isinstance(node, Band) and node.members[-1].name == "kw":
            return replace(node, members=(*node.members[:-1], replace(node.members[-1], vector=True)))
        return node

    assert kinds(changed(fused, change)) == {"race"}


def test_buffer_one_element_too_small(fused: Program) -> None:
    (key,) = [k for k, b in fused.buffers.items() if b.storage == "tile"]
    buffer = fused.buffers[key]
    one = isl.PwAff.val_on_domain(buffer.extents[1].domain(), isl.Val.one(isl.DEFAULT_CONTEXT))
    small = replace(buffer, extents=(buffer.extents[0], buffer.extents[1].sub(one)))
    assert kinds(replace(fused, buffers=fused.buffers | {key: small})) == {"buffer-bounds"}


def test_buffer_that_is_shared_between_parallel_tiles(fused: Program) -> None:
    """A buffer that is declared outside of the parallel loop."""

    def change(node: Node) -> Node:
        if isinstance(node, Mark) and node.kind == "allocate":
            return node.child
        if isinstance(node, Mark) and node.kind == "group":
            return Mark("allocate", node, names=tuple(fused.buffers))
        return node

    outside = {k: replace(b, depth=0) for k, b in fused.buffers.items()}
    broken = replace(changed(fused, change), buffers=outside)
    # With its corner at a tile that is not known there, the check is on a private copy of the whole array.
    whole = {k: replace(b, corner=None, storage="private") for k, b in outside.items()}
    assert "race" in kinds(replace(broken, buffers=whole))


def test_order_of_two_steps_swapped(fused: Program) -> None:
    """The consumer before the producer."""

    def change(node: Node) -> Node:
        if isinstance(node, Extension) and isinstance(node.child, Sequence):
            return replace(node, child=Sequence(tuple(reversed(node.child.children))))
        return node

    assert "flow" in kinds(changed(fused, change))


def test_reduction_backwards(fused: Program) -> None:
    """The order of additions in one location is kept."""

    def change(node: Node) -> Node:
        if isinstance(node, Band) and node.members[-1].name == "kw":
            back = replace(node.members[-1], schedule=node.members[-1].schedule.neg())
            return replace(node, members=(*node.members[:-1], back))
        return node

    assert "flow" in kinds(changed(fused, change))


def test_lost_instances(fused: Program) -> None:
    """The last column of the result is not computed."""
    inner = isl.UnionSet("[H, W] -> { S1[h, w] : w < W - 3; S2[h, w, a, b] : w < W - 3; S3[h, w] : w < W - 3 }")

    def change(node: Node) -> Node:
        if not isinstance(node, Band):
            return node
        members = tuple(
            replace(m, schedule=m.schedule.intersect_domain(inner.union(isl.UnionSet("[H, W] -> { S0[h, w] }"))))
            for m in node.members
        )
        return replace(node, members=members)

    broken = changed(fused, change)
    domain = fused.tree.domain.intersect(inner.union(isl.UnionSet("[H, W] -> { S0[h, w] }")))
    assert "live-out" in kinds(replace(broken, tree=Domain(domain, broken.tree.child)))


def test_scalar_that_is_not_private() -> None:
    """Figure 7's tmp without its private copies."""
    program = after(region_in(FIGURES / "figure_7.c"), "parallel")
    faults = check(program)
    assert {f.kind for f in faults} == {"race"}
    assert any("tmp" in f.message for f in faults)


def test_failure_falls_back_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pass that breaks the program is taken back; what is printed was checked."""
    import polyc.pipeline as pipeline

    original = pipeline.fuse_tiles

    def broken(program: Program) -> Program:
        short = isl.UnionMap("{ [a, b] -> S0[h, w] : w < b + 129 }")

        def change(node: Node) -> Node:
            return replace(node, relation=node.relation.intersect(short)) if isinstance(node, Extension) else node

        return changed(original(program), change)

    monkeypatch.setattr(pipeline, "fuse_tiles", broken)
    region = region_in(FIGURES / "figure_1a.c")
    result = compile_region(region, pipeline.Options())
    assert result.verified
    (remark,) = [r for r in result.program.remarks if r.code == "verification-failed"]
    assert "the values read from A" in remark.message
    assert not result.program.buffers


def test_instances_of_tiles_that_do_not_run(fused: Program) -> None:
    """An extension that leaves a row to a tile which the tile loops never reach adds nothing for it."""
    kept = isl.UnionMap("{ [a, b] -> S0[h, w] : a > 0 or h > 0 }")
    lost = isl.UnionMap("[H, W] -> { [a, b] -> S0[0, w] : a = -32 and b = 0 and 0 <= w < W }")

    def change(node: Node) -> Node:
        if isinstance(node, Extension):
            return replace(node, relation=node.relation.intersect(kept).union(lost))
        return node

    assert "flow" in kinds(changed(fused, change))


ACCUMULATOR = """
void product(int n, double A[n][n], double B[n][n], double C[n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double acc = 0;
            for (int k = 0; k < n; k++)
                acc += A[i][k] * B[k][j] * A[j][i];
            C[i][j] = acc;
        }
#pragma endscop
}
"""


def test_private_copy_that_is_declared_too_deep(tmp_path: Path) -> None:
    """A scalar that gathers over an inner loop, as if it were declared anew in each of its iterations."""
    program = after(region_of(ACCUMULATOR, tmp_path), "privatize", skipped=("spread",))
    (key,) = program.buffers
    assert check(program) == []
    deeper = replace(program.buffers[key], depth=program.buffers[key].depth + 1)
    assert kinds(replace(program, buffers={key: deeper})) == {"form"}, "its mark stands where it stood"

    def into_each_step(node: Node) -> Node:
        if isinstance(node, Mark) and node.kind == "allocate" and isinstance(node.child, Sequence):
            return Sequence(tuple(replace(s, child=with_mark(s.child)) for s in node.child.children))
        return node

    def with_mark(node: Node) -> Node:
        if isinstance(node, Band) and not node.members[0].coincident:
            return replace(node, child=Mark("allocate", node.child, names=(key,)))
        return node

    (k_loop,) = [s for s in steps_of(program) if isinstance(s, Band) and not s.members[0].coincident]
    assert k_loop.members
    assert "flow" in kinds(replace(changed(program, into_each_step), buffers={key: deeper}))


def steps_of(program: Program) -> list[Node]:
    marks = [n for n in walk(program.tree.child) if isinstance(n, Mark) and n.kind == "allocate"]
    return [s.child for m in marks if isinstance(m.child, Sequence) for s in m.child.children]


TWO_WRITERS = """
void f(float A[64][64], float D[64][64])
{
    float B[64][128];
#pragma scop
    for (int i = 0; i < 64; i++)
        for (int j = 0; j < 64; j++) {
            B[i][2 * j] = A[i][j] * 2.0f;
            B[i][2 * j + 1] = A[i][j] + 1.0f;
        }
    for (int i = 0; i < 62; i++)
        for (int j = 0; j < 62; j++)
            D[i][j] = B[i][2 * j] + B[i + 1][2 * j + 1] + B[i + 2][2 * j + 2];
#pragma endscop
}
"""


IN_TILES: dict[str, Any] = {"tile_sizes": (16, 16), "max_recompute": 1000.0, "inline": False}


@pytest.fixture(scope="module")
def two_writers(tmp_path_factory: pytest.TempPathFactory) -> Program:
    """A stencil over cells that two statements make, both in its tiles."""
    folder = tmp_path_factory.mktemp("writers")
    program = after(region_of(TWO_WRITERS, folder), "privatize", **IN_TILES)
    assert [n for n in walk(program.tree.child) if isinstance(n, Extension)]
    return program


def test_cells_of_two_writers_need_no_flow_of_isl(two_writers: Program) -> None:
    """Each cell has one writer, and a run of it comes before each read: nothing else is asked."""
    now = expand(two_writers)
    original = original_of(two_writers.scop, "B")
    assert made_before_read(two_writers, now, "B", original.accesses.all_writes, original.flow)
    assert check(two_writers) == []


@pytest.mark.parametrize("writer", ["S0", "S1"])
def test_one_of_two_writers_lacks_a_column(two_writers: Program, writer: str) -> None:
    short = isl.UnionMap(f"{{ [a, b] -> S0[i, j] : {'j < b + 15' if writer == 'S0' else ''} }}").union(
        isl.UnionMap(f"{{ [a, b] -> S1[i, j] : {'j < b + 15' if writer == 'S1' else ''} }}")
    )

    def change(node: Node) -> Node:
        return replace(node, relation=node.relation.intersect(short)) if isinstance(node, Extension) else node

    assert "flow" in kinds(changed(two_writers, change))


def test_one_of_two_writers_comes_late(two_writers: Program) -> None:
    def change(node: Node) -> Node:
        if isinstance(node, Extension) and isinstance(node.child, Sequence):
            return replace(node, child=Sequence(tuple(reversed(node.child.children))))
        return node

    assert "flow" in kinds(changed(two_writers, change))


def test_writers_of_one_cell_are_not_told_apart(tmp_path: Path) -> None:
    """Where a second nest writes the cells again, which of them a read sees is a matter of order."""
    text = TWO_WRITERS.replace("B[i][2 * j + 1] = A", "B[i][2 * j] = A").replace("2 * j + 1]", "2 * j]")
    program = after(region_of(text, tmp_path), "privatize", **IN_TILES)
    original = original_of(program.scop, "B")
    assert not made_before_read(program, expand(program), "B", original.accesses.all_writes, original.flow)
