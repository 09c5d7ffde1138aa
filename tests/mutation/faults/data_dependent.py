"""Faults of `lookups`, `scatters` and `cells`: rows that are not one row, sums that are none, cells mixed up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import islpy as isl

import polyc.codegen.blocks.lookup_block as printing
import polyc.codegen.loops.loops as loops
import polyc.passes.memory.lookups as lookups
import polyc.passes.order.cells as cells
import polyc.passes.scatter.scatters as scatters
from polyc.model import ctree as c
from polyc.model.tree import Band, Lookups, Member, Node
from tests.mutation import edits as e
from tests.mutation.install import Install, adding_to, always, patched
from tests.mutation.runner import Fault, after_pass

FAULTS: list[Fault] = []
add = adding_to(FAULTS)


def members(stage: str, change: Callable[[Member], Member]) -> Install:
    def at(node: Node) -> Node | None:
        return replace(node, members=tuple(map(change, node.members))) if isinstance(node, Band) else None

    return after_pass(stage, e.everywhere(at))


# --- lookups ---------------------------------------------------------------------------------------------------------


def told(change: Callable[[Lookups], Lookups]) -> Install:
    return members("lookups", lambda m: m if m.lookups is None else replace(m, lookups=change(m.lookups)))


def indices_shifted(original: Any) -> Any:
    """The first lookup of an array adds one to its index."""

    def place(self: Any, row: c.ArrayRef, indices: str, added: c.Expr | None) -> int:
        return original(self, row, indices, c.Literal("1") if added is None else None)  # type: ignore[no-any-return]

    return place


def rows_of_the_next(original: Any) -> Any:
    """A group takes the rows of its second iteration's neighbour."""
    return lambda self, row, first: original(self, row, c.Binary("+", first, c.Literal(str(self.loop.lookups))))


add("lookups", "twice as wide", "", told(lambda one: replace(one, width=2 * one.width)))
add("lookups", "half as wide", "", told(lambda one: replace(one, width=one.width // 2)))
add("lookups", "a row for all", "whether it stays is not asked", always(lookups, "_stays", True))
add("lookups", "no strip is whole", "", after_pass("lookups", e.everywhere(lambda n: _without_whole(n))))
add("lookups", "every strip is whole", "", after_pass("lookups", e.everywhere(lambda n: _always_whole(n))))
add("lookups", "loops backwards", "", members("lookups", lambda m: m if m.lookups is None else _negated(m)))
add("lookups", "another element", "", patched(printing._Table, "place", indices_shifted))
add("lookups", "the next group's rows", "", patched(printing._Loop, "of_group", rows_of_the_next))
add(
    "lookups",
    "rows of one element more",
    "",
    patched(printing._Loop, "size", lambda o: lambda s, a: c.Binary("+", o(s, a), c.Literal("1"))),
)
add("lookups", "no guard for short rows", "", patched(printing._Loop, "guarded", lambda _o: lambda _s, block: block))
add(
    "lookups",
    "places mixed up",
    "all lookups have the first place",
    patched(printing._Table, "subscripts", lambda o: lambda s, _place, last: o(s, 0, last)),
)


def _negated(member: Member) -> Member:
    return replace(member, schedule=member.schedule.neg())


def _without_whole(node: Node) -> Node | None:
    match node:
        case Band(whole=isl.Set() as whole):
            return replace(node, whole=isl.Set.empty(whole.get_space()))
        case _:
            return None


def _always_whole(node: Node) -> Node | None:
    match node:
        case Band(whole=isl.Set() as whole):
            return replace(node, whole=isl.Set.universe(whole.get_space()))
        case _:
            return None


# --- scatters --------------------------------------------------------------------------------------------------------

add("scatters", "sums are forgotten", "no clause", members("scatters", lambda m: replace(m, reductions=())))
add(
    "scatters",
    "products for sums",
    "another operator",
    members("scatters", lambda m: replace(m, reductions=tuple(("*", a) for _, a in m.reductions))),
)
add(
    "scatters",
    "another array's sums",
    "",
    members("scatters", lambda m: replace(m, reductions=tuple((op, f"{a}x") for op, a in m.reductions))),
)
add("scatters", "no race is seen", "what else a loop carries", always(scatters._Marker, "race", None))
add("scatters", "copies for all", "", always(scatters._Marker, "copies", (True, "")))
add("scatters", "atomic updates", "", always(scatters._Marker, "copies", (False, "")))
add(
    "scatters",
    "every loop parallel",
    "",
    members("scatters", lambda m: replace(m, parallel=True)),
)
add(
    "scatters",
    "atomic and nothing told",
    "the pragma is not printed",
    lambda patch: (
        always(scatters._Marker, "copies", (False, ""))(patch),
        patched(loops.LoopPrinter, "atomic", lambda _o: lambda _s, body, _scope: body)(patch),
    )[0],
)

# --- cells -----------------------------------------------------------------------------------------------------------


def function_of_cells(change: Callable[[isl.UnionPwAff], isl.UnionPwAff]) -> Install:
    """The loop over cells takes other cells together."""

    def make(original: Any) -> Any:
        def over(*arguments: Any) -> isl.UnionPwAff | None:
            found = original(*arguments)
            return None if found is None else change(found)

        return over

    return patched(cells, "_over_cells", make)


def after_cells(change: Callable[[Member], Member]) -> Install:
    return members("schedule", lambda m: change(m) if m.name.startswith("cell") else m)


def halved(schedule: isl.UnionPwAff) -> isl.UnionPwAff:
    """Half of a cell's iterations belong to the next one."""
    two = isl.Val.int_from_si(schedule.get_ctx(), 2)
    pieces = schedule.get_pw_aff_list()
    found = isl.UnionPwAff.empty(schedule.get_space())
    for k in range(pieces.n_pw_aff()):
        one = pieces.get_at(k)
        row = isl.PwAff.var_on_domain(isl.LocalSpace.from_space(one.get_domain_space()), isl.dim_type.set, 0)
        found = found.union_add(isl.UnionPwAff.from_pw_aff(row.scale_down_val(two).floor().add(one)))
    return found


add("cells", "half a cell", "", after_cells(lambda m: replace(m, schedule=halved(m.schedule))))
add("cells", "cells backwards", "", after_cells(_negated))
add("cells", "cells of another size", "before they are looked at", function_of_cells(halved))
add(
    "cells",
    "all in one cell",
    "what is carried is not looked at",
    lambda patch: (
        function_of_cells(halved)(patch),
        patched(cells.Outer, "same_iteration", lambda _o: lambda _s, r: r)(patch),
    )[0],
)
add("cells", "private values cross", "", always(cells._Finder, "keeps_private_values", True))
add("cells", "rows inside coincident", "", after_pass("schedule", e.everywhere(e.band_edit(e.all_coincident))))
