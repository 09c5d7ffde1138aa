"""Faults of `registers` on CPUs: vector registers, panels in the caches, triangles, tiles whose border lies outside.

The edits that have nothing to do with threads are those of `registers.py`, on the trees of a CPU.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import islpy as isl

import polyc.passes.products.micro as micro
import polyc.passes.products.widen as widen
from polyc.model import ctree as c
from polyc.model.program import Hoist, Program
from polyc.model.tree import LEAF, Band, Member, Node, Role
from polyc.passes.products.micro import MicroNest
from polyc.passes.products.panels import Panel
from tests.mutation import edits as e
from tests.mutation import gpu_edits as g
from tests.mutation import register_edits as r
from tests.mutation.install import adding_to, always, patched, together
from tests.mutation.runner import Fault, after_pass

FAULTS: list[Fault] = []
add = adding_to(FAULTS)

# --- the tree that it answers ----------------------------------------------------------------------------------------


def lanes_are(lanes: int) -> e.Change:
    """Vectors of another length than the loop over their lanes."""
    return g.members_edit(lambda m: replace(m, lanes=lanes) if m.lanes else None)


def lanes_elsewhere(node: Node) -> Node | None:
    """The rows of the register tile are taken for the lanes of a vector."""
    match node:
        case Band(members=(first, *middle, last)) if last.lanes:
            first, last = replace(first, vector=True, lanes=last.lanes), replace(last, vector=False, lanes=0)
            return replace(node, members=(first, *middle, last))
        case _:
            return None


def lanes_of_sums(node: Node) -> Node | None:
    """A row of vectors takes several steps of the sum at once, instead of several columns."""
    match node:
        case Band(members=(step,), child=Band(members=members)) if members[-1].lanes:
            below = tuple(replace(m, vector=False, lanes=0) for m in members)
            wide = replace(step, vector=True, lanes=members[-1].lanes, role=Role.REGISTER)
            return Band(below, True, Band((wide,), False, LEAF))
        case _:
            return None


def without_its_rows(node: Node) -> Node | None:
    """The register tile has no loop over its rows."""
    match node:
        case Band(members=members) if members[-1].lanes:
            return replace(node, members=members[1:])
        case _:
            return None


def parallel_steps(member: Member) -> Member | None:
    """Blocks of the sum at once."""
    return replace(member, coincident=True, parallel=True) if member.role is Role.TILE else None


def panels_change_places(program: Program) -> Program:
    """What reads the first panel reads the second one, and the other way round."""
    panels = [b for b in program.buffers.values() if b.order]
    if len(panels) < 2:
        return program
    one, two = panels[:2]
    reads = [{a for a in b.accesses if a[0] not in program.copies} for b in (one, two)]
    turned = {
        one.key: replace(one, accesses=(one.accesses - reads[0]) | reads[1]),
        two.key: replace(two, accesses=(two.accesses - reads[1]) | reads[0]),
    }
    return replace(program, buffers=program.buffers | turned)


def one_panel_for_both(program: Program) -> Program:
    """Two panels of one array are taken for one."""
    by_array: dict[str, str] = {}
    buffers = dict(program.buffers)
    for buffer in program.buffers.values():
        reads = {a for a in buffer.accesses if a[0] not in program.copies}
        first = by_array.setdefault(buffer.array, buffer.key)
        if first != buffer.key and buffer.order:
            buffers[buffer.key] = replace(buffer, accesses=buffer.accesses - reads)
            buffers[first] = replace(buffers[first], accesses=buffers[first].accesses | reads)
    return replace(program, buffers=buffers)


def hoists(change: Callable[[Hoist], Hoist | None]) -> e.Edit:
    def edit(program: Program) -> Program:
        changed = [change(h) for h in program.hoisted]
        return replace(program, hoisted=tuple(h for h in changed if h is not None))

    return edit


def other_factor(hoist: Hoist) -> Hoist:
    """The panel has twice the value."""
    return replace(hoist, value=c.Binary("*", c.Literal("2.0"), hoist.value))


def without_its_factor(hoist: Hoist) -> Hoist:
    """The panel is filled with the cell alone, and its readers have no factor either."""
    cell = next(n for n in c.walk(hoist.value) if isinstance(n, c.ArrayRef) and n.ref == hoist.ref)
    return replace(hoist, value=c.Unary("-", cell))


def factor_for_all(program: Program) -> Program:
    """Each panel holds its cells times the factor, whoever reads it."""
    panels = [b.key for b in program.buffers.values() if b.order]
    return replace(program, hoisted=tuple(replace(h, buffer=k) for h in program.hoisted for k in panels))


def factor_of_the_other_panel(program: Program) -> Program:
    panels = [b.key for b in program.buffers.values() if b.order]
    return replace(
        program, hoisted=tuple(replace(h, buffer=panels[-1 - panels.index(h.buffer)]) for h in program.hoisted)
    )


EDITS: list[tuple[str, str, e.Edit]] = [
    ("lanes of eight", "where rows have four", e.everywhere(lanes_are(8))),
    ("lanes of two", "where rows have four", e.everywhere(lanes_are(2))),
    ("lanes of three", "where rows have four", e.everywhere(lanes_are(3))),
    ("lanes are rows", "the wrong loop", e.everywhere(lanes_elsewhere)),
    ("lanes are steps of the sum", "the wrong loop", e.everywhere(lanes_of_sums)),
    ("rows lost", "one row of a register tile", e.everywhere(without_its_rows)),
    ("blocks of the sum in parallel", "", e.everywhere(r.panel_loop(parallel_steps))),
    ("panels less deep", "than their copies", e.everywhere(r.panel_step(96))),
    ("panels deeper", "than their copies", e.everywhere(r.panel_step(512))),
    ("panels backwards", "the last first", e.everywhere(r.panel_loop(lambda m: replace(m, schedule=m.schedule.neg())))),
    ("panels change places", "", panels_change_places),
    ("one panel for both", "of one array", one_panel_for_both),
    ("panels shifted", "by a row", e.buffer_edit(e.corner_moved(0, 1))),
    ("panels aside", "by a column", e.buffer_edit(e.corner_moved(1, -1))),
    ("panels one row short", "", e.buffer_edit(e.extent_changed(0, -1))),
    ("panels one column short", "", e.buffer_edit(e.extent_changed(1, -1))),
    ("an access to a panel lost", "it stays on the array", e.buffer_edit(e.access_lost(0))),
    ("another access to a panel lost", "it stays on the array", e.buffer_edit(e.access_lost(-1))),
    ("panels stored in one dimension twice", "", r.of_panels(lambda b: replace(b, order=(b.order[0],) * len(b.order)))),
    ("panels with rows that overlap", "pad -1", r.of_panels(lambda b: replace(b, pad=-1))),
    ("panels stored the other way round", "", r.of_panels(lambda b: replace(b, order=tuple(reversed(b.order))))),
    ("panels above their loop", "one for all", e.everywhere(r.panel_above_its_loop)),
    ("nothing declared", "marks dropped", e.everywhere(e.allocation_dropped)),
    ("declared below the next loop", "marks moved in", e.everywhere(e.allocation_below_the_next_band)),
    ("declared in each step", "marks moved in", e.everywhere(e.allocation_into_each_step)),
    ("zeros not told", "panels have no border", r.kind_as("zero", None)),
    ("no zeros", "panels are filled inside only", r.kind_as("zero", "guarded")),
    ("zeros copied from outside", "", r.kind_as("zero", "free")),
    ("guards forgotten", "results outside are stored", r.kind_as("guarded", "free")),
    ("zeros for guards", "zeros are stored outside", r.kind_as("guarded", "zero")),
    ("zeros for sums", "", r.kind_as("free", "zero")),
    ("sums not told", "that tiles run whole", r.kind_as("free", None)),
    ("no copies in", "neither panels nor results", r.copies_lost("in")),
    ("no copies out", "", r.copies_lost("out")),
    ("panels inside not filled", "", r.copies_lost("in1")),
    ("panels at the border not filled", "", r.copies_lost("in2")),
    ("columns' panels not filled", "", r.copies_lost("in3")),
    ("results not copied in", "", r.copies_lost("in5")),
    ("results at the border not copied in", "", r.copies_lost("in6")),
    ("results inside not copied out", "", r.copies_lost("out7")),
    ("results at the border not copied out", "", r.copies_lost("out8")),
    ("copies of the next cells", "", r.extension_of("in", e.range_shift(1, 1))),
    ("copies without the first row", "", r.extension_of("in", e.range_shrunk(0, False))),
    ("copies out without the last row", "", r.extension_of("out", e.range_shrunk(0, True))),
    ("copies out of a row more", "", r.extension_of("out", e.range_grown(0, 1))),
    ("producers of the next cells", "", r.extension_of("S", e.range_shift(1, 1))),
    ("copies turned round", "", e.statement_edit(e.copies_turned_round, True)),
    ("copies add one", "", e.statement_edit(e.value_plus_one, True)),
    ("copies take the neighbour", "", e.statement_edit(e.copy_of_the_neighbour, True)),
    ("sums too long", "past the end of k", r.domain_grown(2)),
    ("tiles too many", "past the end of i", r.domain_grown(0)),
    ("steps reversed", "every sequence", e.everywhere(e.reversed_steps)),
    ("inner steps reversed", "copied out too early", e.nth(e.reversed_steps)),
    ("last steps swapped", "copied out before the sum", e.everywhere(e.swapped_last_steps)),
    ("first step dropped", "of each sequence", e.everywhere(e.first_step_dropped)),
    ("last step dropped", "of one sequence", e.nth(e.last_step_dropped)),
    ("last step of an outer sequence dropped", "", e.nth(e.last_step_dropped, -1)),
    ("first step again at the end", "", e.everywhere(e.first_step_again_at_the_end)),
    ("extension dropped", "", e.nth(e.extension_dropped)),
    ("loops interchanged", "in every band", e.everywhere(e.band_edit(e.swapped_members))),
    ("inner loops backwards", "", e.nth(e.band_edit(e.reversed_last))),
    ("no factor in panels", "their readers have it", hoists(lambda _h: None)),
    ("another factor in panels", "", hoists(other_factor)),
    ("a sign in panels", "instead of the factor", hoists(without_its_factor)),
    ("a factor in all panels", "", factor_for_all),
    ("the factor in the other panel", "", factor_of_the_other_panel),
]
for name_, what_, edit_ in EDITS:
    add("cpu-registers", name_, what_, after_pass("registers", edit_))

# --- what the pass computes ------------------------------------------------------------------------------------------


def nothing(original: Any) -> Any:
    """No step of a sum is cut off."""

    def at_ends(self: MicroNest, every: isl.Set) -> isl.Set:
        found: isl.Set = original(self, every)
        return isl.Set.empty(found.get_space())

    return at_ends


def without_the_last(original: Any) -> Any:
    """One step of what a triangle cuts off is left to whole tiles."""

    def at_ends(self: MicroNest, every: isl.Set) -> isl.Set:
        found: isl.Set = original(self, every)
        return found if found.is_empty() else found.subtract(found.lexmax())

    return at_ends


def of_register_tiles(original: Any) -> Any:
    """What rows of one tile read of each other is looked for in a register tile alone."""

    def tile_of(self: MicroNest, _blocks: tuple[int, int]) -> isl.Map:
        found: isl.Map = original(self, (self.micro.rows, self.micro.columns))
        return found

    return tile_of


def order_not_asked(_original: Any) -> Any:
    return lambda _self, _steps, _tile: True


def of_the_domain(_original: Any) -> Any:
    """Tiles end with the domain."""
    return lambda self, name: self.domain(name)


def always_inside(original: Any) -> Any:
    """No tile is at a border: all is copied without a condition."""

    def apart(self: MicroNest, box: Any, around: Any, cells: Any, used: isl.Set, *rest: Any) -> list[Panel]:
        everywhere = isl.Set.universe(used.get_space())
        return original(self, box, around, cells, everywhere, *rest)  # type: ignore[no-any-return]

    return apart


def box_without_a_row(original: Any) -> Any:
    """The last row of a panel is not filled."""
    return lambda box, extents: original(box, (extents[0] - 1, *extents[1:]))


def short_strip(original: Any) -> Any:
    """The strips of columns are one vector wider than the register tile."""

    def step(self: MicroNest, whole: isl.Set, member: Member, size: int, coincident: bool = False) -> Member:
        wider = size + self.micro.lanes if size == self.micro.columns else size
        return original(self, whole, member, wider, coincident)  # type: ignore[no-any-return]

    return step


def step_of(factor: float) -> Callable[[Any], Any]:
    """Rows of register tiles, fewer or more than there are registers for."""

    def make(original: Any) -> Any:
        def step(self: MicroNest, whole: isl.Set, member: Member, size: int, coincident: bool = False) -> Member:
            other = int(size * factor) if size == self.micro.rows else size
            return original(self, whole, member, other, coincident)  # type: ignore[no-any-return]

        return step

    return make


def other_factors(original: Any) -> Any:
    """Any scalar beside an operand is taken for a factor, whatever stands between them."""

    def constant_around(self: MicroNest, access: Any) -> c.Expr | None:
        found = original(self, access)
        if found is not None:
            return found  # type: ignore[no-any-return]
        body = self.program.statements[self.contraction.statement].body
        for node in c.walk(body):
            if isinstance(node, c.Binary) and any(
                isinstance(n, c.ArrayRef) and n.ref == access.ref for n in c.walk(node)
            ):
                return node
        return None

    return constant_around


def of_one_more(original: Any) -> Any:
    return lambda members, sizes: original(members, tuple(size + 1 for size in sizes))


def every_value(_original: Any) -> Any:
    return lambda cells, _dimensions: cells


add("cpu-registers", "triangles not cut", "steps that only some rows have", patched(MicroNest, "at_ends", nothing))
add("cpu-registers", "triangles cut too short", "by a step", patched(MicroNest, "at_ends", without_the_last))
add(
    "cpu-registers",
    "triangles not cut and harmless",
    "outside of the domain",
    together(patched(MicroNest, "at_ends", nothing), always(MicroNest, "harmless", True)),
    "triangle_sums",
    "sums_in_place",
)
TURNED = (
    ("rows of a triangle for two tiles", "four vectors of them", always(MicroNest, "vectors_of_rows", 4)),
    ("triangles in strips of other columns", "", patched(micro, "tile_members", of_one_more)),
    ("no operand in place", "a panel more", always(MicroNest, "is_read_in_place", False)),
)
for name_, what_, install_ in TURNED:
    add("cpu-registers", name_, what_, install_, "sums_end")
add("cpu-registers", "rows of a tile in place", "", patched(MicroNest, "tile_of", of_register_tiles))
add("cpu-registers", "order in a tile not asked", "", patched(MicroNest, "keeps_order", order_not_asked))
add("cpu-registers", "tiles end with the domain", "", patched(MicroNest, "whole", of_the_domain))
add("cpu-registers", "domains not widened", "", patched(widen, "_wider", lambda _o: lambda instances, _w: instances))
add("cpu-registers", "everything inside", "no border is told apart", patched(MicroNest, "apart", always_inside))
add("cpu-registers", "panels without their last row", "", patched(micro, "filled_box", box_without_a_row))
add(
    "cpu-registers", "panels as their tiles need them", "not whole", patched(micro, "_in_other_dimensions", every_value)
)
add("cpu-registers", "strips too wide", "by a vector", patched(MicroNest, "step", short_strip))
add("cpu-registers", "register tiles of half the rows", "", patched(MicroNest, "step", step_of(0.5)))
add("cpu-registers", "register tiles of twice the rows", "", patched(MicroNest, "step", step_of(2)))
add("cpu-registers", "any operation a factor", "", patched(MicroNest, "constant_around", other_factors))
add("cpu-registers", "everything harmless", "outside of the domain", always(MicroNest, "harmless", True))
add("cpu-registers", "every sum short", "panels hold all of it", always(MicroNest, "is_short", True))
add("cpu-registers", "neighbours not asked", "of a row", always(MicroNest, "is_consecutive", True))
add(
    "cpu-registers",
    "every statement alone",
    "producers lose their nests",
    patched(micro, "alone_in", lambda _o: lambda _n: iter(["S0"])),
)
