"""The values that a region's arrays hand on, from writers to single accesses of their readers."""

from __future__ import annotations

import islpy as isl

from polyc.analysis.dependences import accesses_of, last_writers
from polyc.analysis.order import order_map, runs
from polyc.flow import compute_flow
from polyc.model.scop import Access, AccessKind, Array, Scop
from polyc.poly import empty_map, empty_set, sets
from polyc.records import dataclass, replace
from polyc.verify.flow.dataflow import below

MOST_COPIES = 3
"""Copies from one cell to the next that are looked through: out of a cell, and back into it."""


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """What some arrays of a region hand on."""

    flow: isl.UnionMap
    """`{ S[i] -> [T[j] -> ref[]] }`: from the writer to the reader, and through which of its accesses."""
    first: isl.UnionMap
    """`{ [T[j] -> ref[]] -> A[x] }`: reads of what was there before."""
    final: isl.UnionMap
    """`{ S[i] -> A[x] }`: the last writers of what is needed afterwards."""

    @staticmethod
    def of(scop: Scop, arrays: set[str]) -> Values:
        order = order_map(runs(scop.tree))
        every = accesses_of(scop, frozenset(arrays))
        reads, places = empty_map(every.reads), order
        for statement in scop.statements.values():
            for position, access in enumerate(statement.accesses):
                if access.array in arrays and access.kind is AccessKind.READ:
                    tagged = access_of(access, position).domain_map()
                    reads = reads.union(isl.UnionMap.from_map(tagged.apply_range(access.relation)))
                    places = places.union(isl.UnionMap.from_map(tagged).apply_range(order))
        found = compute_flow(replace(every, reads=reads), places)
        final = empty_map(every.reads)
        for name in sorted(arrays & scop.live_out):
            final = final.union(last_writers(accesses_of(scop, frozenset([name])), order))
        return Values(found.dependence, found.live_in, final)

    def without(self, scop: Scop, names: tuple[str, ...]) -> Values | None:
        """The same, with some statements that copy looked through; None where that has no end."""
        copies = domains_of(scop, names)
        readers = self.flow.range().union(self.first.domain())
        of_copies = _labelled(readers, set(names))
        into = _unlabelled(self.flow.intersect_range(of_copies).reverse()).reverse()
        """`{ S[i] -> D[j] }`."""
        loaded = _unlabelled(self.first.intersect_domain(of_copies))
        """`{ D[j] -> A[x] }`: copies of what was there before."""
        flow, first, final, settled = self.flow, self.first, self.final, empty_map(self.final)
        for _ in range(MOST_COPIES):
            through, last = flow.intersect_domain(copies), final.intersect_domain(copies)
            first = first.union(through.reverse().apply_range(loaded))
            flow = flow.subtract_domain(copies).union(into.apply_range(through))
            # A cell that is left with the value that it had before has no last writer.
            settled = settled.union(last.subtract(loaded).intersect_domain(loaded.domain()))
            final = final.subtract_domain(copies).union(into.apply_range(last))
        if not (flow.intersect_domain(copies).is_empty() and final.intersect_domain(copies).is_empty()):
            return None
        return Values(flow.subtract_range(of_copies), first.subtract_domain(of_copies), final.union(settled))


def access_of(access: Access, position: int) -> isl.Map:
    """`{ S[i] -> ref[] }`, by the position of the access in its statement."""
    domain = access.relation.domain()
    label = isl.Id.read_from_str(domain.get_ctx(), f"polyc_access_{position}")
    space = domain.get_space().params().add_named_tuple_id_ui(label, 0)
    return isl.Map.from_domain_and_range(domain, isl.Set.universe(space))


def _labelled(readers: isl.UnionSet, of: set[str]) -> isl.UnionSet:
    """Those `[T[j] -> ref[]]` whose T is one of some statements."""
    found = empty_set(readers)
    for piece in sets(readers):
        if piece.unwrap().get_tuple_name(isl.dim_type.in_) in of:
            found = found.union(isl.UnionSet.from_set(piece))
    return found


def _unlabelled(relation: isl.UnionMap) -> isl.UnionMap:
    """`{ [T[j] -> ref[]] -> x }` as `{ T[j] -> x }`."""
    return relation.apply_domain(relation.domain().unwrap().domain_map())


def domains_of(scop: Scop, statements: tuple[str, ...]) -> isl.UnionSet:
    found = empty_set(scop.domain)
    for name in statements:
        found = found.union(isl.UnionSet.from_set(scop.statements[name].domain))
    return found


def cells_of(array: Array, like: isl.Set) -> isl.Set:
    """All elements of an array."""
    space = like.get_space()
    found = isl.Set.universe(space)
    for position, extent in enumerate(array.extents):
        if extent is not None:
            found = found.intersect(below(space, position, extent.project_domain_on_params()))
    return found


__all__ = ["Values", "access_of", "cells_of", "domains_of"]
