"""Value-based dependences of a region, in its original order.

Flow dependences go from the last writer to the reader (Feautrier 1991; isl's `compute_flow`). Anti and output
dependences are kept apart for arrays that each thread may have a copy of: those order live ranges, and isl's
conditional validity lets them go where each live range stays within one iteration (Verdoolaege and Cohen, Live-range
reordering, IMPACT 2016).
"""

from __future__ import annotations

from dataclasses import dataclass

import islpy as isl

from polyc.analysis.order import order_map, runs
from polyc.model.program import Dependences
from polyc.model.scop import Access, AccessKind, Scop
from polyc.poly import empty_map, maps


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


def last_writers(accesses: Accesses, order: isl.UnionMap) -> Flow:
    """`{ S[i] -> A[x] }`: the writes whose value may be in the array at the end (as `dependence`)."""
    cells = accesses.all_writes.range()
    # An instance `A[x]` of its own reads each cell after everything else: order [0, …] before [1, 0, …].
    length = _range_length(order)
    early = _prefixed(order, 0)
    late = isl.UnionMap.from_domain(cells).from_domain_and_range(
        cells, isl.UnionSet(f"{{ [{', '.join(['1'] + ['0'] * length)}] }}")
    )
    final = Accesses(cells.identity(), accesses.writes, accesses.may_writes)
    return compute_flow(final, early.union(late))


def _range_length(order: isl.UnionMap) -> int:
    pieces = order.get_map_list()
    return int(pieces.get_at(0).dim(isl.dim_type.out)) if pieces.n_map() else 0


def _prefixed(order: isl.UnionMap, value: int) -> isl.UnionMap:
    constant = isl.UnionMap.from_domain_and_range(order.domain(), isl.UnionSet(f"{{ [{value}] }}"))
    return constant.flat_range_product(order)


def accesses_of(scop: Scop, arrays: frozenset[str] | None = None) -> Accesses:
    """The accesses of the region's statements, to some arrays or to all."""
    start = empty_map(scop.domain)
    by_kind = dict.fromkeys(AccessKind, start)
    for statement in scop.statements.values():
        for access in statement.accesses:
            if arrays is None or access.array in arrays:
                by_kind[access.kind] = by_kind[access.kind].union(isl.UnionMap.from_map(access.relation))
    return Accesses(by_kind[AccessKind.READ], by_kind[AccessKind.WRITE], by_kind[AccessKind.MAY_WRITE])


def compute_dependences(scop: Scop) -> Dependences:
    """All dependences of a region.

    ensures: every reordering that respects `flow`, `false` and `private_false` computes the same values.
    """
    start = empty_map(scop.domain)
    order = order_map(runs(scop.tree))
    flow, false, private_false, live_in = start, start, start, start
    tagged_flow, tagged_false, last = start, start, start
    flow_by_array: dict[str, isl.UnionMap] = {}
    for name in scop.arrays:
        one = accesses_of(scop, frozenset([name]))
        if one.all_writes.is_empty():
            live_in = live_in.union(one.reads)
            continue
        found = compute_flow(one, order)
        flow_by_array[name] = found.dependence
        flow = flow.union(found.dependence)
        live_in = live_in.union(found.live_in)
        if name in scop.live_out:
            last = last.union(last_writers(one, order).dependence)
        if name in scop.privatizable:
            private_false = private_false.union(compute_false(one, order, every_pair=True))
            tagged, tagged_order = _tagged(scop, name, order)
            tagged_flow = tagged_flow.union(compute_flow(tagged, tagged_order).dependence)
            tagged_false = tagged_false.union(compute_false(tagged, tagged_order, every_pair=True))
            dead = one.all_writes.domain().subtract(found.dependence.domain())
            # A write that nobody reads has no live range that would keep it away from the others'.
            unordered = compute_false(one, order, every_pair=True)
            false = false.union(unordered.intersect_domain(dead)).union(unordered.intersect_range(dead))
        else:
            false = false.union(compute_false(one, order))
    return Dependences(
        flow.coalesce(),
        false.coalesce(),
        private_false,
        flow_by_array,
        live_in,
        last,
        tagged_flow,
        tagged_false,
    )


def _tagged(scop: Scop, array: str, order: isl.UnionMap) -> tuple[Accesses, isl.UnionMap]:
    """The accesses with the label of each reference in their domain: `[S[i] -> ref[]] -> A[x]`."""
    start = empty_map(scop.domain)
    by_kind = dict.fromkeys(AccessKind, start)
    tags = start
    for statement in scop.statements.values():
        for position, access in enumerate(statement.accesses):
            if access.array != array:
                continue
            tag = tag_of(access, f"{statement.name}_{position}")
            wrapped = isl.UnionMap.from_map(tag).domain_map()
            by_kind[access.kind] = by_kind[access.kind].union(
                wrapped.apply_range(isl.UnionMap.from_map(access.relation))
            )
            tags = tags.union(wrapped)
    accesses = Accesses(by_kind[AccessKind.READ], by_kind[AccessKind.WRITE], by_kind[AccessKind.MAY_WRITE])
    return accesses, tags.apply_range(order)


def tag_of(access: Access, label: str) -> isl.Map:
    """`{ S[i] -> label[] }`."""
    domain = access.relation.domain()
    space = domain.get_space().params().add_named_tuple_id_ui(isl.Id.read_from_str(domain.get_ctx(), label), 0)
    return isl.Map.from_domain_and_range(domain, isl.Set.universe(space))


def no_dependences(scop: Scop) -> Dependences:
    """What stands for the dependences of a region that nobody is going to transform."""
    none = empty_map(scop.domain)
    return Dependences(none, none, none, {}, none, none, none, none)
