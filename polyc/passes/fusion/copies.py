"""Copies of nests: tiles compute values of their own of a nest that other readers have in its place, or in their tiles.

A copy stands for the nest's own instances: its extension in a cluster is that of the nest, and the check sees instances
that run more than once. Proof obligations: whoever reads values of the nest and is in no such tile still has them,
stored by what stays in the nest's place (`with_sources`: and so has what stays there), and no flow that is left leads
from the nest into what is in the tiles (`served`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import reduce

import islpy as isl

from polyc.model.program import Dependences
from polyc.nests.nest import Nest, Outer, values
from polyc.passes.fusion.cluster import Cluster
from polyc.passes.fusion.neighbours import Neighbours
from polyc.poly import maps, out_name, union_of


class Copies:
    """The copies of the nests of one sequence: one for each nest, whichever tiles it is in."""

    def __init__(self) -> None:
        self.places: dict[Nest, int] = {}
        """Nests as `of` gives them, and their places."""
        self._of: dict[Nest, Nest] = {}

    def of(self, position: int, nest: Nest) -> Nest:
        if nest not in self._of:
            self._of[nest] = replace(nest, copied=True)
            self.places[self._of[nest]] = position
        return self._of[nest]

    def without_sources(
        self, near: Neighbours, inside: list[Nest], waiting: list[Nest | None], is_small: Callable[[Nest], bool]
    ) -> set[int]:
        """The places of copied nests among some that are in a tile, of which a source would be stored just for them.

        Else that source would be in its reader's tiles. It has to come along wherever a copy goes, or make so little
        that it stays in a cache (`is_small`).
        """
        there = [n for n in waiting if n is not None]
        own = [n for n in inside if not n.copied]
        found = set()
        for copy in (n for n in inside if n.copied):
            for source in (waiting[q] for q in near.feeding(copy.statements)):
                if source is None or source in own or self._of.get(source) in inside:
                    continue
                if not near.reads_from(copy, source) or is_small(source):
                    continue
                others = (n for n in {*there, *own} if n.instances is not copy.instances and n is not source)
                if not any(near.reads_from(n, source) for n in others):
                    found.add(self.places[copy])
        return found


def with_sources(near: Neighbours, outer: Outer, nest: Nest, needed: isl.UnionSet) -> isl.UnionSet:
    """With all that runs in the same iterations of a nest's parallel loops, if these instances read some of it."""
    own = outer.same_iteration(near.flow_from(nest.instances).intersect_range(needed))
    if own.domain().is_subset(needed):
        return needed
    assert nest.band is not None
    loops = values(outer.members + nest.band.members[: nest.band.coincident_prefix], nest.instances)
    return needed.apply(loops).apply(loops.reverse()).coalesce()


def served(dependences: Dependences, cluster: Cluster) -> tuple[Dependences, set[str]]:
    """The dependences without the flow into a cluster from nests that run elsewhere as well: tiles have their values.

    What runs elsewhere as well itself still reads the values there. What its copies in the tiles read of others is
    flow into a statement of another name, which no cluster to come can have inside: these names are the second answer.
    """
    copied = [p for p in cluster.producers if p.nest.copied]
    inside, reading_names = cluster.instances, set[str]()
    once = reduce(isl.UnionSet.subtract, (p.reserved for p in copied), inside)
    every = reduce(isl.UnionSet.union, (p.nest.instances for p in copied))
    ran = reduce(isl.UnionSet.union, (p.extension.range() for p in copied))

    def left(flow: isl.UnionMap) -> isl.UnionMap:
        reading = [_into_copy(m) for m in maps(flow.intersect_range(ran).subtract_domain(inside))]
        reading_names.update(map(out_name, reading))
        still = flow.subtract(flow.intersect_domain(every).intersect_range(once))
        return union_of(reading, still)

    by_array = {array: left(flow) for array, flow in dependences.flow_by_array.items()}
    return replace(dependences, flow=left(dependences.flow), flow_by_array=by_array), reading_names


def _into_copy(flow: isl.Map) -> isl.Map:
    """The flow into a copy of a statement."""
    name = isl.Id.read_from_str(flow.get_ctx(), f"{out_name(flow)}_copy")
    return flow.set_tuple_id(isl.dim_type.out, name)
