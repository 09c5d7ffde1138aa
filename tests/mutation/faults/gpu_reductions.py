"""Faults of the GPU's `reductions`: what all threads of a block combine into one cell."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import polyc.passes.gpu.gpu_reductions as reductions
import polyc.passes.gpu.map_reductions as map_reductions
import polyc.passes.gpu.untile as untile
import polyc.pipeline as pipeline
from polyc.model.program import Program
from polyc.model.tree import Band, Mark, Member, Node, Sequence
from tests.mutation import edits as e
from tests.mutation import gpu_edits as g
from tests.mutation.faults.loops import any_update, product_as_sum, without_asking
from tests.mutation.install import adding_to, always, patched, together
from tests.mutation.runner import Fault, after_pass

FAULTS: list[Fault] = []
add = adding_to(FAULTS)
STAGE = "gpu-reductions"


def is_reduce(node: Node) -> bool:
    return isinstance(node, Mark) and node.kind == "reduce"


def mark_edit(change: Callable[[Mark, Band], Node | None]) -> e.Change:
    def at(node: Node) -> Node | None:
        if isinstance(node, Mark) and node.kind == "reduce" and isinstance(node.child, Band):
            return change(node, node.child)
        return None

    return at


def combined(change: Callable[[tuple[tuple[str, str], ...]], tuple[tuple[str, str], ...]]) -> e.Change:
    """Change what the loops below a mark say that they combine."""

    def at(mark: Mark, band: Band) -> Node:
        members = tuple(replace(m, reductions=change(m.reductions)) for m in band.members)
        return replace(mark, child=replace(band, members=members))

    return mark_edit(at)


def other_operator(pairs: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    return tuple(("*" if op == "+" else "+", array) for op, array in pairs)


def mark_above_the_band(node: Node) -> Node | None:
    """One part for all iterations of the loop around the mark."""
    match node:
        case Band(child=Mark(kind="reduce", child=Band() as inner) as mark):
            members = tuple(replace(m, reductions=inner.members[0].reductions) for m in node.members)
            return replace(mark, child=replace(node, members=members, child=inner))
        case Band(child=Sequence(children=steps)) if any(is_reduce(s.child) for s in steps):
            found = [s.child.child for s in steps if isinstance(s.child, Mark) and is_reduce(s.child)]
            named = [n.members[0].reductions for n in found if isinstance(n, Band)]
            bare = tuple(replace(s, child=s.child.child) if _reduces(s.child) else s for s in steps)  # type: ignore[union-attr]
            members = tuple(replace(m, reductions=named[0]) for m in node.members)
            return Mark("reduce", replace(node, members=members, child=Sequence(bare)))
        case _:
            return None


def _reduces(node: Node) -> bool:
    return is_reduce(node)


def everything_reduced(program: Program) -> Program:
    """Each sequential loop around leaves is a reduction of all that is written below."""
    written = sorted({a.array for s in program.statements.values() for a in s.accesses if a.kind.value != "read"})

    def change(node: Node) -> Node | None:
        if not isinstance(node, Band) or any(m.coincident or m.reductions for m in node.members):
            return None
        pairs = tuple(("+", a) for a in written)
        return Mark(
            "reduce", replace(node, members=tuple(replace(m, parallel=True, reductions=pairs) for m in node.members))
        )

    return e.everywhere(change)(program)


def axes(names: dict[str, str]) -> e.Change:
    def change(mark: Mark, band: Band) -> Node | None:
        found = g.axes_renamed(names)(band)
        return None if found is None else replace(mark, child=found)

    return mark_edit(change)


def marks_members(change: Callable[[Member], Member]) -> e.Change:
    return mark_edit(lambda m, b: replace(m, child=replace(b, members=tuple(map(change, b.members)))))


EDITS: list[tuple[str, str, e.Edit]] = [
    ("no mark", "threads add into one cell", e.everywhere(mark_edit(lambda _m, b: b))),
    ("mark twice", "parts of parts", e.everywhere(mark_edit(lambda m, _b: replace(m, child=m)))),
    ("mark above its loop", "a part for several cells", e.everywhere(mark_above_the_band)),
    ("mark by one thread", "once", e.everywhere(mark_edit(lambda m, _b: Mark("once", m)))),
    ("one thread below the mark", "once", e.everywhere(mark_edit(lambda m, b: replace(m, child=Mark("once", b))))),
    ("no array named", "", e.everywhere(combined(lambda _p: ()))),
    ("another operator", "product for sum", e.everywhere(combined(other_operator))),
    ("another array named", "one that is only read", e.everywhere(combined(lambda p: tuple((op, "a") for op, _ in p)))),
    ("two operators", "for one array", e.everywhere(combined(lambda p: (*p, *other_operator(p))))),
    ("rows on threads", "beside the sum", e.everywhere(g.axes_renamed({"block.x": "thread.y"}))),
    ("rows not dealt out", "every block has all", e.everywhere(g.axes_renamed({"block.x": ""}))),
    ("steps reversed", "", e.everywhere(e.reversed_steps)),
    ("first step dropped", "", e.everywhere(e.first_step_dropped)),
    ("first step again at the end", "", e.everywhere(e.first_step_again_at_the_end)),
    ("loops backwards", "", e.everywhere(e.band_edit(e.reversed_last))),
    ("loops lose a value", "instances with 3 in front", e.domain_without_a_row),
    ("everything reduced", "every loop in order", everything_reduced),
]
MAPPED: list[tuple[str, str, e.Edit]] = [
    ("loops in order", "no thread shares them", e.everywhere(marks_members(lambda m: replace(m, mapped="")))),
    ("loops on blocks", "of a part of a kernel", e.everywhere(axes({"thread": "block.y", "global.x": "block.y"}))),
    ("loops on all blocks", "of a part of a kernel", e.everywhere(axes({"thread": "global.x"}))),
    ("loops on one axis", "thread.x", e.everywhere(axes({"thread": "thread.x", "global.x": "thread.x"}))),
    ("loops on a square", "thread.y", e.everywhere(axes({"thread": "thread.y"}))),
    ("large sums in one block", "", e.everywhere(axes({"global.x": "thread"}))),
    ("one thread for a kernel", "of 256", e.everywhere(g.kernel_of(1))),
    ("kernels in a square", "32 x 8", e.everywhere(g.kernel_of(32, 8))),
    ("no bound of blocks", "", e.everywhere(g.kernel_edit(lambda k: replace(k, blocks=0)))),
    ("no barrier", "steps", e.everywhere(g.step_barriers_dropped)),
    ("first barrier dropped", "", e.everywhere(g.barrier_dropped(0))),
    ("last barrier dropped", "", e.everywhere(g.barrier_dropped(-1))),
]
for name_, what_, edit_ in EDITS:
    add(STAGE, name_, what_, after_pass("reductions", edit_))
for name_, what_, edit_ in (*EDITS, *MAPPED):
    add(STAGE, f"{name_}, at the end", what_, after_pass("barriers", edit_))


# --- what the pass asks ----------------------------------------------------------------------------------------------


def cells_of_any(_original: Any) -> Any:
    """Each array that is updated counts as one cell, and nothing else is carried."""

    def found(self: Any, _band: Band, here: Any, _outer: Any) -> Any:
        pairs = [
            reductions.reduction_of(self.program.statements[n], self.program.scop.arrays)
            for n in reductions.names(here)
        ]
        return tuple(sorted({p for p in pairs if p is not None}))

    return found


def added_lost(original: Any) -> Any:
    """Instances that a tile added are not let through by the domain."""

    def without_tile(*args: Any) -> Any:
        found = original(*args)
        if found is None:
            return None
        points, added = found
        return points, added.subtract(added)

    return without_tile


NOTHING_CARRIED = patched(reductions, "_carried", lambda _o: lambda *_a: False)


def not_exact(original: Any) -> Any:
    """Whole numbers count as others."""

    def reduction_of(statement: Any, arrays: Any) -> Any:
        one = {k: replace(a, element=replace(a.element, kind="float")) for k, a in arrays.items()}
        return original(statement, one)

    return reduction_of


ANY_UPDATE = together(
    patched(reductions, "reduction_of", any_update), patched(reductions, "_carried", lambda _o: lambda *_a: False)
)
add(STAGE, "nothing else carried", "is not asked", NOTHING_CARRIED)
add(STAGE, "everything private", "to an iteration", always(reductions._Reductions, "is_private", True))
add(STAGE, "whole numbers from fractions", "are not seen", patched(reductions, "reduction_of", not_exact))
add(STAGE, "several cells", "one is not asked", patched(reductions._Reductions, "reductions", cells_of_any))
add(STAGE, "a false associative reduction", "x = 3 * x + a", ANY_UPDATE)
add(STAGE, "a sum as a product", "the wrong operator", patched(reductions, "reduction_of", product_as_sum))
add(STAGE, "long sums in one block", "is_small says yes", always(map_reductions.Reductions, "is_small", True))
add(STAGE, "what tiles added is lost", "", patched(reductions, "without_tile", added_lost))
add(STAGE, "rows depend on tiles", "_stay says yes", patched(untile, "_stay", lambda _o: lambda *_a: True))
add(
    STAGE,
    "without --reassociate",
    "in any program",
    patched(pipeline, "mark_gpu_reductions", without_asking),
    "ordered",
    "private",
)
add(STAGE, "no barriers", "around what is combined", patched(pipeline, "place_barriers", lambda _o: lambda p: p))
