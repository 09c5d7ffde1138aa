"""Updates of a cell that may change places: larger or smaller of whole numbers, and logic on their bits.

Of `c = c > e ? c : e` with whole numbers of one type, each order leaves the same value: nothing is rounded, and nothing
overflows that did not before, since e is computed from the same values. A sum is another matter: of floats it would be
rounded otherwise, and of signed numbers it could overflow on its way.

math: let U be the instances that update a cell by one operator. An order of the region that keeps all pairs that touch
      one cell, one of them writing, but the pairs in U that meet in their own cell alone, computes the same values: any
      two such orders differ by swaps of neighbours that are no such pair. Either the two share no cell that one of them
      writes, or both combine a value into one cell, and neither value depends on what the cell holds in between (else
      the reference that reads it would make them a pair). So each read sees the same values combined, in another order.
"""

from __future__ import annotations

import islpy as isl

from polyc.analysis.expressions.updates import exact_update
from polyc.model.scop import AccessKind, Scop
from polyc.poly import coalesced, empty_map
from polyc.records import dataclass


@dataclass(slots=True)
class _Parts:
    """The accesses to one array, `{ S[i] -> A[x] }`."""

    reads: isl.UnionMap
    """Without what updates read of their own cells."""
    writes: dict[str, isl.UnionMap]
    """By the operator of the update; "" for other writes."""


def commuting_dependences(scop: Scop, array: str, order: isl.UnionMap) -> isl.UnionMap | None:
    """`{ x -> y }`: the pairs of an array that have to keep their order; None where no statement updates it so that
    updates may change places. `order`: `{ S[i] -> [t, …] }`, that of the region."""
    parts = _parts(scop, array)
    if parts is None:
        return None
    nothing = empty_map(scop.domain)
    written = nothing
    for writes in parts.writes.values():
        written = written.union(writes)
    pairs = written.apply_range(parts.reads.reverse()).union(parts.reads.apply_range(written.reverse()))
    for operator, writes in parts.writes.items():
        others = nothing
        for other, more in parts.writes.items():
            if not operator or other != operator:
                others = others.union(more)
        pairs = pairs.union(writes.apply_range(others.reverse()))
    pairs = pairs.intersect_params(scop.context)
    return coalesced(pairs.intersect(order.lex_lt_union_map(order)))


def _parts(scop: Scop, array: str) -> _Parts | None:
    nothing = empty_map(scop.domain)
    found = _Parts(nothing, {})
    for statement in scop.statements.values():
        mine = [a for a in statement.accesses if a.array == array]
        update = exact_update(statement, array, scop.arrays) if mine else None
        if any(a.kind is AccessKind.MAY_WRITE for a in mine) or (update and not all(a.exact for a in mine)):
            return None
        operator, own = update or ("", frozenset())
        for access in mine:
            relation = isl.UnionMap.from_map(access.relation)
            if access.kind is not AccessKind.READ:
                found.writes[operator] = found.writes.get(operator, nothing).union(relation)
            elif access.ref not in own:
                found.reads = found.reads.union(relation)
    return found if any(found.writes) else None
