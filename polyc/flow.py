"""The flow of values through memory, as isl computes it, with an order that isl cannot take for another one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import reduce

import islpy as isl

from polyc.bounded import survived
from polyc.poly import coalesced, convex, empty_map, has_remainders, is_over_budget, maps, sets
from polyc.records import dataclass


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


_KNOWN: dict[int, tuple[tuple[object, ...], Flow]] = {}
"""All that was asked, and the answer, by its hash: to compare sets is isl's work, which is only done to recall one."""
_MOST_KNOWN = 500
_recalling = False
MOST_AT_ONCE = 8
"""Convex pieces of sinks that isl is given together. Its maximum compares each with all others: of sets with
remainders, many small ones take a fraction of the time, if each statement's writes are one piece. If not, these take
the time."""


@contextmanager
def recalled() -> Iterator[None]:
    """Take the answers that there are already. Only for comparisons: they are the same sets, in other words maybe."""
    global _recalling
    before, _recalling = _recalling, True
    try:
        yield
    finally:
        _recalling = before


def compute_flow(accesses: Accesses, order: isl.UnionMap, checked: bool = True) -> Flow:
    """The flow of values through memory: each read with its last possible writers.

    `checked`: isl's answer is not taken as it comes, see `_last`.
    """
    return _last(accesses.reads, accesses.writes, accesses.may_writes, accesses, order, checked)


def compute_false(accesses: Accesses, order: isl.UnionMap, every_pair: bool = False) -> isl.UnionMap:
    """Anti and output dependences: earlier accesses of the cell that a write must not overtake.

    Only up to the write before: the rest follows by transitivity. With `every_pair` all of them.
    """
    if every_pair:
        if _is_one_cell(accesses.all):
            before, after = (order.intersect_domain(one.domain()) for one in (accesses.all, accesses.all_writes))
            return coalesced(before.lex_lt_union_map(after))
        none = isl.UnionMap.empty(accesses.writes.get_space())
        return _last(accesses.all_writes, none, accesses.all, accesses, order, True).dependence
    may = accesses.reads.union(accesses.may_writes)
    return _last(accesses.all_writes, accesses.writes, may, accesses, order, True).dependence


def _last(
    sinks: isl.UnionMap,
    must: isl.UnionMap,
    may: isl.UnionMap,
    accesses: Accesses,
    order: isl.UnionMap,
    checked: bool,
) -> Flow:
    """isl's answer, or where that is wrong the one of set arithmetic: slower, and without any maximum.

    isl's maximum of sets with remainders can be wrong: of the j with 0 <= j <= 38, j <= k < n and 3 | x + j - 1 it does
    not always take the last one (islpy 2026.2.2, one in some thousand such sets; of sets without, none was seen). A
    wrong flow of the original would pass every check that asks isl the same. Of others isl ends the process: a copy of
    it is asked first.
    """
    order = _order_of(accesses, order)
    key = (sinks, must, may, accesses.reads, accesses.writes, accesses.may_writes, order, checked)
    if _recalling and (known := _KNOWN.get(hash(key))) is not None and known[0] == key:
        return known[1]
    found = _computed(sinks, must, may, accesses, order, checked)
    if len(_KNOWN) >= _MOST_KNOWN:
        _KNOWN.clear()
    _KNOWN.setdefault(hash(key), (key, found))  # afterwards: to hash a set, isl sorts its conditions in place
    return found


def _computed(
    sinks: isl.UnionMap,
    must: isl.UnionMap,
    may: isl.UnionMap,
    accesses: Accesses,
    order: isl.UnionMap,
    checked: bool,
    asked: isl.UnionMap | None = None,
) -> Flow:
    """asked: the order as isl is to have it, which parts of one question share"""
    found = _written_once(sinks, must, may, order) or _in_one_block(sinks, must, may, order)
    if found is not None:
        return found
    remainders = any(has_remainders(one) for one in (sinks, must, may, order))
    asked = _without_false_places(accesses, order) if asked is None else asked
    pieces = convex(sinks) if remainders and all(one.n_basic_map() == 1 for one in maps(must.union(may))) else []
    if len(pieces) > MOST_AT_ONCE:
        parts = (isl.UnionMap.from_basic_map(piece) for piece in pieces)
        return _joined(_computed(part, must, may, accesses, order, checked, asked) for part in parts)
    info = isl.UnionAccessInfo.from_sink(sinks).set_must_source(must).set_may_source(may).set_schedule_map(asked)
    if remainders and not survived(lambda: info.copy().compute_flow()):
        return _by_subtraction(sinks, must, may, _Places(sinks, order))
    try:
        result = info.compute_flow()
        pairs, none = _settled(result.get_full_may_dependence()), _settled(result.get_may_no_source())
    except isl.Error as error:
        if is_over_budget(error):
            raise
        return _by_subtraction(sinks, must, may, _Places(sinks, order))  # that maximum again, noticed by isl itself
    maximal = checked and not must.is_empty() and remainders
    if maximal and not _is_last(pairs, none, sinks, must, may, _Places(sinks, order)):
        return _by_subtraction(sinks, must, may, _Places(sinks, order))
    return Flow(coalesced(pairs.range_factor_domain()), none)


def _joined(parts: Iterable[Flow]) -> Flow:
    """The flow to all sinks of several parts: which writes are the last ones is decided for each read by itself."""
    found = list(parts)
    dependence = reduce(isl.UnionMap.union, (one.dependence for one in found))
    return Flow(dependence.coalesce(), reduce(isl.UnionMap.union, (one.live_in for one in found)).coalesce())


def _order_of(accesses: Accesses, order: isl.UnionMap) -> isl.UnionMap:
    """The order of the statements that have these accesses: isl looks at all of it for each array otherwise."""
    spaces: dict[str, isl.Space] = {}
    for kind in (accesses.reads, accesses.writes, accesses.may_writes):
        pieces = kind.get_map_list()
        for k in range(pieces.n_map()):
            space = pieces.get_at(k).get_space().domain()
            spaces.setdefault(str(space.get_tuple_name(isl.dim_type.set) or space), space)
    values = _values_of(order)
    found = isl.UnionMap.empty(order.get_space())
    for space in spaces.values():
        piece = _piece(order, space, values)
        if not piece.plain_is_empty():
            found = found.union(isl.UnionMap.from_map(piece))
    return found


def _values_of(order: isl.UnionMap) -> isl.Space:
    """`{ [v0, …] }`, which the values of an order are in."""
    pieces = order.get_map_list()
    if not pieces.n_map():
        return order.get_space().add_unnamed_tuple_ui(0)
    return pieces.get_at(0).get_space().range()


def _piece(order: isl.UnionMap, instances: isl.Space, values: isl.Space) -> isl.Map:
    """The order of one statement; an empty map where it has none. values: `_values_of` it."""
    aligned = instances.align_params(values)
    return order.extract_map(aligned.map_from_domain_and_range(values.align_params(aligned)))


def _written_once(sinks: isl.UnionMap, must: isl.UnionMap, may: isl.UnionMap, order: isl.UnionMap) -> Flow | None:
    """The answer by set arithmetic, where a cell has one writer and each statement runs before or after the others.

    math: for W and R, what two statements touch, the one before the other: W . R^-1, and of R is left what is not in
          the range of W. No write lies between: the only one of the cell is W's, or the sink itself.
    None where that is not all: where loops around both say which instance is first, a cell is written twice, or a write
    may or may not happen.
    """
    sources = must if may.is_empty() else may
    if sources is may and not sinks.is_subset(must):
        return None
    first, then = _placed(sources, order), _placed(sinks, order)
    if first is None or then is None:
        return None
    pairs: list[tuple[isl.Map, isl.Map]] = []
    for one, at in first:
        for other, later in then:
            before = _is_before(at, later) if _same_cells(one, other) else False
            if before is None:
                return None
            if before:
                pairs.append((one, other))
    if not must.is_injective():
        return None
    found = empty_map(sinks)
    for one, other in pairs:
        # By cells at first, and without overlap: its pieces join to fewer ones then.
        whose = other.range_map().apply_range(one.reverse()).make_disjoint()
        found = found.union(isl.UnionMap.from_map(whose.reverse()))
    none = _unwritten(sinks, then, pairs) if sources is must else sinks
    return Flow(coalesced(coalesced(found).range_factor_domain()), coalesced(none))


def _in_one_block(sinks: isl.UnionMap, must: isl.UnionMap, may: isl.UnionMap, order: isl.UnionMap) -> Flow | None:
    """The answer for a scalar that statements of one block write and read, in the same iterations: a temporary.

    math: all of them run at [u, p, c], with their own p, the same u, and c that is a constant, and the first one
          writes: in each u, the last write before the reads at p is that of the greatest p' < p
    None where that is not all.
    """
    if not may.is_empty() or not _is_one_cell(must.union(sinks)):
        return None
    first, then = _placed(must, order), _placed(sinks, order)
    if not first or not then:
        return None
    columns = list(zip(*(at for _, at in first + then), strict=True))
    apart = [k for k, column in enumerate(columns) if len(set(column)) > 1]
    if len(apart) != 1 or any(None in column for column in columns[apart[0] :]):
        return None
    (position,) = apart  # where each has a number
    writes = [(at[position] or 0, _block(write, order, position)) for write, at in first]
    reads = [(at[position] or 0, _block(sink, order, position)) for sink, at in then]
    blocks = [_nameless(block) for _, block in (*writes, *reads)]
    if not blocks[0].is_injective() or not all(blocks[0].is_equal(other) for other in blocks[1:]):
        return None
    written = dict(writes)
    if len(written) < len(writes) or min(written) >= min(place for place, _ in reads):
        return None
    found = empty_map(sinks)
    for place, block in reads:
        last = written[max(other for other in written if other < place)]
        found = found.union(isl.UnionMap.from_map(last.apply_range(block.reverse())))
    return Flow(found, empty_map(sinks))


def _block(access: isl.Map, order: isl.UnionMap, position: int) -> isl.Map:
    """`{ S[i] -> [u] }`: when a block runs that an access is in, by the order without the position in the block."""
    when = _piece(order, access.get_space().domain(), _values_of(order)).intersect_domain(access.domain())
    return when.project_out(isl.dim_type.out, position, 1)


def _nameless(when: isl.Map) -> isl.Map:
    """The same of any statement, and of any of its references: `{ [i] -> [u] }`."""
    return when.flatten_domain().reset_tuple_id(isl.dim_type.in_)


def _is_one_cell(accesses: isl.UnionMap) -> bool:
    """Whether all accesses are of one scalar."""
    cells = accesses.range()
    return bool(cells.n_set() == 1 and sets(cells)[0].dim(isl.dim_type.set) == 0)


def _unwritten(
    sinks: isl.UnionMap, pieces: list[tuple[isl.Map, list[int | None]]], pairs: list[tuple[isl.Map, isl.Map]]
) -> isl.UnionMap:
    """What sinks read that none of the sources in these pairs of a source and a sink has written.

    pieces: of the sinks
    """
    none = empty_map(sinks)
    for sink, _ in pieces:
        written = [one.range() for one, other in pairs if other is sink]
        left = sink.subtract_range(reduce(isl.Set.union, written)) if written else sink
        none = none.union(isl.UnionMap.from_map(left))
    return none


def _placed(accesses: isl.UnionMap, order: isl.UnionMap) -> list[tuple[isl.Map, list[int | None]]] | None:
    """Each access with the numbers of its statement's order, None for a loop; None where one has no place."""
    found: list[tuple[isl.Map, list[int | None]]] = []
    places = _values_of(order)
    for access in maps(accesses):
        when = _piece(order, access.get_space().domain(), places)
        if when.plain_is_empty():
            return None
        values = (when.plain_get_val_if_fixed(isl.dim_type.out, k) for k in range(when.dim(isl.dim_type.out)))
        found.append((access, [value.to_python() if value.is_int() else None for value in values]))
    return found


def _same_cells(one: isl.Map, other: isl.Map) -> bool:
    return bool(one.get_space().range().has_equal_tuples(other.get_space().range()))


def _is_before(one: list[int | None], other: list[int | None]) -> bool | None:
    """Whether all instances of one order run before all of the other; None where a loop decides."""
    for a, b in zip(one, other, strict=True):
        if a is None or b is None:
            return None
        if a != b:
            return a < b
    return False


@dataclass(frozen=True, slots=True)
class _Places:
    """When the sinks run: each cell that an instance reads by itself, `[S[i] -> A[x]]`."""

    sinks: isl.UnionMap
    order: isl.UnionMap

    def before(self, sources: isl.UnionMap) -> isl.UnionMap:
        """`{ T[j] -> [S[i] -> A[x]] }`: the sources of the cell that run before the sink."""
        pairs = sources.apply_range(self.sinks.range_map().reverse())
        when = self.sinks.domain_map().apply_range(self.order)
        return pairs.intersect(self.order.intersect_domain(sources.domain()).lex_lt_union_map(when))


def _is_last(
    found: isl.UnionMap,
    none: isl.UnionMap,
    sinks: isl.UnionMap,
    must: isl.UnionMap,
    may: isl.UnionMap,
    places: _Places,
) -> bool:
    """Whether no write lies between the sources that isl found and their sinks, and none is missing."""
    over = places.before(must)
    between = found.apply_range(over.reverse())
    inside = places.order.intersect_domain(must.domain())
    earlier = places.order.intersect_domain(found.domain().universe())  # of other statements isl would ask it, too
    if not between.intersect(earlier.lex_lt_union_map(inside)).is_empty():
        return False
    reached = over.range()
    if not reached.is_subset(found.range()) or not none.wrap().intersect(reached).is_empty():
        return False
    if not sinks.wrap().subtract(reached).is_subset(none.wrap()):
        return False
    if may.is_empty():
        return True
    # Piece by piece: isl compares each with all that the others lost, too, which grows with the square of their number.
    rest = [isl.UnionMap.from_basic_map(piece) for piece in convex(places.before(may).subtract(found))]
    return all(piece.is_subset(_overwritten(piece, over, must, places)) for piece in rest)


def _overwritten(pairs: isl.UnionMap, over: isl.UnionMap, must: isl.UnionMap, places: _Places) -> isl.UnionMap:
    """The pairs of source and sink with a write between them."""
    inside = places.order.intersect_domain(must.domain())
    later = places.order.intersect_domain(pairs.domain()).lex_lt_union_map(inside)
    return pairs.intersect(later.apply_range(over))


def _by_subtraction(sinks: isl.UnionMap, must: isl.UnionMap, may: isl.UnionMap, places: _Places) -> Flow:
    """math: F = P - { w -> r : there is a write v with w < v < r }, P = { w -> r : the same cell, w < r }"""
    over = places.before(must)
    pairs = over.union(places.before(may))
    found = pairs.subtract(_overwritten(pairs, over, must, places))
    none = sinks.wrap().subtract(over.range()).unwrap()
    return Flow(coalesced(found.range_factor_domain()), coalesced(none))


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
    order, fixed = _shorter(accesses, order)
    length = len(fixed[0]) if fixed else 0
    shifted = {k for one in fixed for k in range(length) if one[k] is _HIDDEN}
    while True:
        found = _mixed(fixed, [k for k in range(length) if k not in shifted])
        if not found:
            break
        shifted |= found
    if not shifted:
        return order
    values = ", ".join(f"i{k} + {SHIFT}" if k in shifted else f"i{k}" for k in range(length))
    positions = ", ".join(f"i{k}" for k in range(length))
    return order.apply_range(isl.UnionMap(f"[{SHIFT}] -> {{ [{positions}] -> [{values}] }}"))


def _shorter(accesses: Accesses, order: isl.UnionMap) -> tuple[isl.UnionMap, list[list[object]]]:
    """The order of what accesses something, without the positions at which all have one number; and the numbers at
    those that are left, for each of the accesses."""
    fixed: list[list[object]] = []
    seen: list[isl.Set] = []
    for kind in (accesses.reads, accesses.writes, accesses.may_writes):
        for access in maps(kind):
            domain = access.domain()
            if not any(domain.plain_is_equal(other) for other in seen):
                seen.append(domain)
                fixed += [_numbers(p) for p in maps(order.intersect_domain(isl.UnionSet.from_set(domain)))]
    order = order.intersect_domain(accesses.all.domain().universe())
    same = [
        k
        for k, numbers in enumerate(zip(*fixed, strict=True))
        if isinstance(numbers[0], int) and len(set(numbers)) == 1
    ]
    if not same or len(same) == len(fixed[0]):
        return order, fixed
    short = isl.UnionMap.empty(order.get_space())
    for piece in maps(order):
        for k in reversed(same):
            piece = piece.project_out(isl.dim_type.out, k, 1)
        short = short.union(isl.UnionMap.from_map(piece))
    return short, [[number for k, number in enumerate(one) if k not in same] for one in fixed]


_HIDDEN = object()


def _mixed(fixed: list[list[object]], positions: list[int]) -> set[int]:
    """For each two that part, the first of some positions at which they do, if only one of them is a number there."""
    found: set[int] = set()
    alike = [fixed]
    for k in positions:
        parts: list[list[list[object]]] = []
        for group in alike:
            by_value: dict[object, list[list[object]]] = {}
            for one in group:
                by_value.setdefault(one[k], []).append(one)
            if len(by_value) > 1 and None in by_value:
                found.add(k)
            parts += by_value.values()
        alike = parts
    return found


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
        return coalesced(relation)
    settled = isl.UnionMap.empty(space.drop_dims(isl.dim_type.param, position, 1))
    for piece in maps(relation.intersect_params(isl.Set(f"[{SHIFT}] -> {{ : {SHIFT} = 0 }}"))):
        position = piece.find_dim_by_name(isl.dim_type.param, SHIFT)
        settled = settled.union(isl.UnionMap.from_map(piece.project_out(isl.dim_type.param, position, 1)))
    return coalesced(settled)
