"""The flow of values through memory, as isl computes it, with an order that isl cannot take for another one."""

from __future__ import annotations

from dataclasses import dataclass

import islpy as isl

from polyc.poly import maps


@dataclass(frozen=True, slots=True, eq=False)
class Accesses:
    """The accesses of some instances to one array (or to several)."""

    reads: isl.UnionMap
    writes: isl.UnionMap
    """Must-writes."""
    may_writes: isl.UnionMap

    @property
    def all_writes(self) -> isl.UnionMap:
        return self.writes.union(self.may_writes)

    @property
    def all(self) -> isl.UnionMap:
        return self.reads.union(self.all_writes)


@dataclass(frozen=True, slots=True, eq=False)
class Flow:
    dependence: isl.UnionMap
    """`{ writer -> reader }`."""
    live_in: isl.UnionMap
    """`{ reader -> A[x] }`: what may come from before."""


def compute_flow(accesses: Accesses, order: isl.UnionMap) -> Flow:
    """The flow of values through memory: each read with its last possible writers."""
    order = _without_false_places(accesses, order)
    info = isl.UnionAccessInfo.from_sink(accesses.reads)
    info = info.set_must_source(accesses.writes).set_may_source(accesses.may_writes)
    result = info.set_schedule_map(order).compute_flow()
    return Flow(_settled(result.get_may_dependence()), _settled(result.get_may_no_source()))


def compute_false(accesses: Accesses, order: isl.UnionMap, every_pair: bool = False) -> isl.UnionMap:
    """Anti and output dependences: earlier accesses of the cell that a write must not overtake.

    Only up to the write before: the rest follows by transitivity. With `every_pair` all of them.
    """
    order = _without_false_places(accesses, order)
    info = isl.UnionAccessInfo.from_sink(accesses.all_writes)
    if every_pair:
        info = info.set_may_source(accesses.all)
    else:
        info = info.set_must_source(accesses.writes).set_may_source(accesses.reads.union(accesses.may_writes))
    return _settled(info.set_schedule_map(order).compute_flow().get_may_dependence())


SHIFT = "polyc_shift"
"""A parameter that shifts whole positions of an order, which changes nothing in it."""


def _without_false_places(accesses: Accesses, order: isl.UnionMap) -> isl.UnionMap:
    """The order, written so that isl does not take a loop's value for a place in the text.

    A position of the order at which two statements have different numbers is to isl a sequence, and one at which a
    statement has several values a loop; it wants each position to be the same for all. It is not, where a statement
    runs in one iteration only (`if (i == 0)`), or stands in two places; and then isl believes a wrong writer to be
    the last: of S0[0] -> [0, 1], S0[1] -> [1, 1] and S1[0] -> [0, 2] it takes S0[0] for the one before S2[1] -> [1, 0].
    Such a position is shifted by a parameter: the order is the same, and nothing there is a number any more.
    """
    fixed = [
        _numbers(piece)
        for kind in (accesses.reads, accesses.writes, accesses.may_writes)
        for access in maps(kind)
        for piece in maps(order.intersect_domain(isl.UnionSet.from_set(access.domain())))
    ]
    length = len(fixed[0]) if fixed else 0
    shifted = {k for one in fixed for k in range(length) if one[k] is _HIDDEN}
    while True:
        mixed = (_first_mixed(one, other, shifted) for one in fixed for other in fixed)
        found = {k for k in mixed if k is not None}
        if not found:
            break
        shifted |= found
    if not shifted:
        return order
    values = ", ".join(f"i{k} + {SHIFT}" if k in shifted else f"i{k}" for k in range(length))
    positions = ", ".join(f"i{k}" for k in range(length))
    return order.apply_range(isl.UnionMap(f"[{SHIFT}] -> {{ [{positions}] -> [{values}] }}"))


_HIDDEN = object()


def _first_mixed(one: list[object], other: list[object], shifted: set[int]) -> int | None:
    """The first position, before the two part, at which one is a number and the other is not."""
    for k, (a, b) in enumerate(zip(one, other, strict=True)):
        if k not in shifted and a != b:
            return k if a is None or b is None else None
    return None


def _numbers(piece: isl.Map) -> list[object]:
    """For each position of the order its number; None where it has several, _HIDDEN where isl does not see it."""
    exact = piece.detect_equalities()
    found: list[object] = []
    for k in range(piece.dim(isl.dim_type.out)):
        seen, known = (m.plain_get_val_if_fixed(isl.dim_type.out, k) for m in (piece, exact))
        found.append(None if not known.is_int() else known.to_python() if seen.is_int() else _HIDDEN)
    return found


def _settled(relation: isl.UnionMap) -> isl.UnionMap:
    """The relation without the parameter that shifted the order."""
    space = relation.get_space()
    position = space.find_dim_by_name(isl.dim_type.param, SHIFT)
    if position < 0:
        return relation.coalesce()
    settled = isl.UnionMap.empty(space.drop_dims(isl.dim_type.param, position, 1))
    for piece in maps(relation.intersect_params(isl.Set(f"[{SHIFT}] -> {{ : {SHIFT} = 0 }}"))):
        position = piece.find_dim_by_name(isl.dim_type.param, SHIFT)
        settled = settled.union(isl.UnionMap.from_map(piece.project_out(isl.dim_type.param, position, 1)))
    return settled.coalesce()
