"""Faults of `coalesce`, and of `mapping` where it does the same: several loops that one index counts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import islpy as isl

import polyc.passes.gpu.coalesce as coalesce
from polyc.model.tree import LINEAR, Band, Node
from polyc.poly import maps
from tests.mutation import edits as e
from tests.mutation import gpu_edits as g
from tests.mutation.install import adding_to, always, patched, together
from tests.mutation.runner import Fault, after_pass

FAULTS: list[Fault] = []
add = adding_to(FAULTS)


def counted(node: Node) -> Band | None:
    return node if isinstance(node, Band) and any(m.mapped == LINEAR for m in node.members) else None


def counted_turned(node: Node) -> Node | None:
    """The loop with the index comes last."""
    band = counted(node)
    return None if band is None else replace(band, members=(*band.members[1:], band.members[0]))


def first_lost(node: Node) -> Node | None:
    """The loop with the index is gone."""
    band = counted(node)
    return None if band is None else replace(band, members=band.members[1:])


def last_lost(node: Node) -> Node | None:
    band = counted(node)
    return None if band is None else replace(band, members=band.members[:-1])


def last_backwards(node: Node) -> Node | None:
    band = counted(node)
    if band is None:
        return None
    last = replace(band.members[-1], schedule=band.members[-1].schedule.neg())
    return replace(band, members=(*band.members[:-1], last))


def last_twice(node: Node) -> Node | None:
    """The last loop is counted twice: each iteration runs once, among many that have nothing to do."""
    band = counted(node)
    return None if band is None else replace(band, members=(*band.members, band.members[-1]))


def values_doubled(node: Node) -> Node | None:
    """The last loop takes steps of two."""
    band = counted(node)
    if band is None:
        return None
    last = band.members[-1]
    wider = last.schedule.union_add(last.schedule)
    return replace(band, members=(*band.members[:-1], replace(last, schedule=wider)))


def in_counted(change: Any) -> Any:
    return lambda node: change(node) if counted(node) is not None else None


EDITS: list[tuple[str, str, e.Edit]] = [
    ("no loop counted", "linear loops are ordinary", e.everywhere(g.axes_renamed({"linear": ""}))),
    ("counted in nothing", "the index is gone", e.everywhere(in_counted(g.axes_renamed({"global.x": ""})))),
    ("counted in another index", "global.y", e.everywhere(in_counted(g.axes_renamed({"global.x": "global.y"})))),
    ("counted in blocks", "block.x", e.everywhere(in_counted(g.axes_renamed({"global.x": "block.x"})))),
    ("counted in threads", "thread.x", e.everywhere(in_counted(g.axes_renamed({"global.x": "thread.x"})))),
    ("all loops on one index", "none is counted in it", e.everywhere(g.axes_renamed({"linear": "global.x"}))),
    ("loops on two indices", "blocks and threads", e.everywhere(g.axes_renamed({"linear": "thread"}))),
    ("counted loops turned", "the index comes last", e.everywhere(counted_turned)),
    ("counted loops interchanged", "the index comes last", e.everywhere(in_counted(e.band_edit(e.swapped_members)))),
    ("first loop lost", "which has the index", e.everywhere(first_lost)),
    ("last loop lost", "order does not matter", e.everywhere(last_lost)),
    ("last loop backwards", "", e.everywhere(last_backwards)),
    ("last loop twice", "", e.everywhere(last_twice)),
    ("last loop in steps of two", "", e.everywhere(values_doubled)),
    ("even iterations first", "a condition in the loop", e.everywhere(in_counted(e.band_edit(e.strip_of_all_at_once)))),
    ("every loop counted", "also those in order", e.everywhere(g.sequential_loop_mapped(LINEAR))),
    ("a statement one iteration late", "", e.everywhere(in_counted(e.band_edit(e.shifted_statement)))),
    ("domain loses a row", "instances with 3 in front", e.domain_without_a_row),
    ("kernel of another shape", "32 x 8", e.everywhere(g.kernel_of(32, 8))),
    ("steps reversed", "every sequence", e.everywhere(e.reversed_steps)),
    ("a barrier in every step", "", g.in_kernels(e.everywhere(g.barrier_in_every_step))),
    ("a barrier in every loop", "", g.in_kernels(e.everywhere(g.barrier_in_every_loop))),
    ("once", "one thread runs all", e.everywhere(g.once_around_threads)),
    ("variables above the loops", "marks moved out", e.everywhere(e.allocation_above_the_band)),
    ("variables in each step", "marks moved in", e.everywhere(e.allocation_into_each_step)),
]
for name_, what_, edit_ in EDITS:
    add("coalesce", name_, what_, after_pass("coalesce", edit_))
    add("coalesce", f"{name_}, at the end", what_, after_pass("barriers", edit_))

COPIES: list[tuple[str, str, e.Edit]] = [
    (
        "no loop of copies counted",
        "linear loops are ordinary",
        e.everywhere(in_counted(g.axes_renamed({"linear": ""}))),
    ),
    ("copies counted in nothing", "the index is gone", e.everywhere(in_counted(g.axes_renamed({"thread": ""})))),
    ("copies counted along x", "thread.x", e.everywhere(in_counted(g.axes_renamed({"thread": "thread.x"})))),
    ("copies counted in blocks, too", "global.x", e.everywhere(in_counted(g.axes_renamed({"thread": "global.x"})))),
    ("copies' loops turned", "the index comes last", e.everywhere(counted_turned)),
    ("copies' first loop lost", "which has the index", e.everywhere(first_lost)),
    ("copies' last loop lost", "order does not matter", e.everywhere(last_lost)),
    ("copies' last loop backwards", "", e.everywhere(last_backwards)),
    ("copies' last loop twice", "", e.everywhere(last_twice)),
]
for name_, what_, edit_ in COPIES:
    add("mapping", name_, what_, after_pass("mapping", edit_), "two_products")


# --- what the pass asks ----------------------------------------------------------------------------------------------


def box_whatever(original: Any) -> Any:
    """The extents of a nest that is no box, or not the same one for each statement."""

    def box(order: Any, known: Any) -> Any:
        found = original(order, known)
        if found is not None:
            return found
        (first, *_) = maps(order)
        values = first.range().intersect_params(known)
        rank = values.dim(isl.dim_type.set)
        return (None, *(9 for _ in range(rank - 1)))

    return box


def extents_changed(distance: int) -> Any:
    def make(original: Any) -> Any:
        def box(*args: Any) -> Any:
            found = original(*args)
            return None if found is None else tuple(None if x is None else x + distance for x in found)

        return box

    return make


def all_constant(original: Any) -> Any:
    def box(*args: Any) -> Any:
        found = original(*args)
        return None if found is None else tuple(11 if x is None else x for x in found)

    return box


def all_coincident_before(original: Any) -> Any:
    def changed(self: Any, band: Band, reaching: Any) -> Any:
        every = e.all_coincident(band)
        return original(self, every, reaching)

    return changed


def memory_reversed(original: Any) -> Any:
    return lambda *args: list(reversed(original(*args)))


ANY_BOX = patched(coalesce, "extents_of_box", box_whatever)
ELEMENTWISE = always(coalesce, "is_elementwise", True)
add("coalesce", "shared data not seen", "is_elementwise says yes", ELEMENTWISE)
add("coalesce", "any shape a box", "triangles", ANY_BOX)
add("coalesce", "any shape, any data", "both", together(ANY_BOX, ELEMENTWISE))
add("coalesce", "extents one less", "", patched(coalesce, "extents_of_box", extents_changed(-1)))
add("coalesce", "extents one more", "", patched(coalesce, "extents_of_box", extents_changed(1)))
add("coalesce", "all extents constant", "the first, too", patched(coalesce, "extents_of_box", all_constant))
add("coalesce", "long rows, too", "", patched(coalesce, "LONG_ROW", lambda _o: 1 << 30))
add("coalesce", "memory the other way round", "", patched(coalesce, "_in_memory_order", memory_reversed))
add(
    "coalesce",
    "every loop parallel",
    "as if nothing depended",
    together(patched(coalesce._Coalescer, "changed", all_coincident_before), ELEMENTWISE),
)
add(
    "coalesce",
    "tiles' buffers kept",
    "in a group without tiles",
    patched(coalesce, "without_tiles", lambda original: lambda program, names, _kept: original(program, names, ())),
)
add(
    "coalesce",
    "tiles kept in the group",
    "it is told to have some",
    patched(coalesce, "without_tiles", lambda _o: lambda program, *_rest: program),
)
