"""Straight-line code of many statements as one for isl's scheduler, whose linear programs grow with their number.

Polly's statements are basic blocks for the same reason. What is lost is that isl could put parts of such a body into
loops of their own; few of dozens would run any faster.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce

import islpy as isl

from polyc.model.tree import LEAF, Band, Domain, Filter, Leaf, Node, Sequence, walk
from polyc.poly import among, empty_map, maps, sets, union_of
from polyc.records import dataclass, replace

LEAST, LEAST_CARRYING = 16, 32
"""Statements of a body that are scheduled as one; and of one that waits for other iterations, whose parts that do not
wait isl may put into loops of their own."""


@dataclass(frozen=True, slots=True, eq=False)
class Together:
    """Statements that stand for others in the same iterations, as isl_schedule_expand has them."""

    contraction: isl.UnionMap
    """`{ S3[i, j] -> S1[i, j] }`: of each statement, the one that stands for it; most stand for themselves."""
    steps: tuple[Filter, ...]
    """The steps of all bodies, in their order."""

    def scheduled(self, instances: isl.UnionSet) -> isl.UnionSet:
        """What isl schedules for some instances."""
        return instances.apply(self.contraction)

    def order(self, dependences: isl.UnionMap) -> isl.UnionMap:
        """Dependences of what isl schedules; in one iteration of a body they hold, whatever the schedule is."""
        if not self.steps:
            return dependences
        found = dependences.apply_domain(self.contraction).apply_range(self.contraction)
        return found.subtract(found.domain().identity()).coalesce()

    def tagged(self, flow: isl.UnionMap, false: isl.UnionMap) -> tuple[isl.UnionMap, isl.UnionMap]:
        """Live ranges, and what they hold apart, `{ [S[i] -> a[]] -> [T[j] -> b[]] }`, between what isl schedules.

        Those that begin and end in one iteration of a body are never parted. References of a body that have one name
        become one: that keeps more apart than need be.
        """
        if not self.steps:
            return flow, false
        leaving = union_of((piece for piece in maps(flow) if not self._stays(piece)), empty_map(flow))
        ends = leaving.domain().union(leaving.range()).universe()
        held = false.intersect_domain(ends).union(false.intersect_range(ends))
        if leaving.is_empty() or held.is_empty():
            return empty_map(flow), empty_map(false)
        every = leaving.union(held)
        references = every.domain().union(every.range()).universe().unwrap()
        contraction = references.domain_map().apply_range(self.contraction).range_product(references.range_map())
        flow, false = (r.apply_domain(contraction).apply_range(contraction) for r in (leaving, held))
        return flow, false.subtract(false.domain().identity())

    def _stays(self, tagged: isl.Map) -> bool:
        """Whether live ranges are of one iteration of a body."""
        plain = isl.UnionMap.from_map(tagged).domain_factor_domain().range_factor_domain()
        return bool(self.order(plain).is_empty())

    def expanded(self, tree: Domain) -> Domain:
        """isl's tree with all statements."""
        if not self.steps:
            return tree
        back, values = self.contraction.reverse(), isl.UnionPwMultiAff.from_union_map(self.contraction)

        def step(node: Node, instances: isl.UnionSet) -> Node:
            match node:
                case Band(members=members, child=child):
                    changed = (replace(m, schedule=m.schedule.pullback_union_pw_multi_aff(values)) for m in members)
                    return replace(node, members=tuple(changed), child=step(child, instances))
                case Sequence(children=children):
                    inside = [(s, s.filter.apply(back)) for s in children]
                    return Sequence(tuple(Filter(found, step(s.child, found)) for s, found in inside))
                case Leaf():
                    body = [s for s in self.steps if not s.filter.intersect(instances).is_empty()]
                    return Sequence(tuple(body)) if body else LEAF
                case _:
                    raise AssertionError("isl's scheduler makes bands and sequences")

        whole = tree.domain.apply(back)
        return Domain(whole, step(tree.child, whole))


def together(tree: Domain, order: isl.UnionMap) -> Together:
    """What stands for what in the original order. order: the dependences"""
    bodies = [body for body in _bodies(tree.child) if len(body) >= LEAST]
    found = [body for body in bodies if len(body) >= LEAST_CARRYING or not _carries(body, order)]
    return _together(tree.domain, found)


def _carries(body: list[Filter], order: isl.UnionMap) -> bool:
    """Whether a body has dependences on other iterations of it."""
    instances = reduce(isl.UnionSet.union, (step.filter for step in body))
    return not _together(instances, [body]).order(among(order, instances)).is_empty()


def _together(instances: isl.UnionSet, bodies: list[list[Filter]]) -> Together:
    """Some bodies among all instances, of which the others stand for themselves."""
    contraction = instances.identity()
    for body in bodies:
        first, *others = (piece for step in body for piece in sets(step.filter))
        for other in others:
            same = isl.Map.identity(other.get_space().map_from_set()).set_tuple_id(
                isl.dim_type.out, first.get_tuple_id()
            )
            contraction = contraction.subtract_domain(isl.UnionSet.from_set(other))
            contraction = contraction.union(isl.UnionMap.from_map(same.intersect_domain(other)))
    return Together(contraction, tuple(step for body in bodies for step in body))


def _bodies(node: Node) -> Iterator[list[Filter]]:
    """Statements right after each other that run in the same iterations."""
    for inner in walk(node):
        if not isinstance(inner, Sequence):
            continue
        body: list[Filter] = []
        for step in inner.children:
            if body and not (isinstance(step.child, Leaf) and _same_iterations(body[0], step)):
                yield body
                body = []
            body += [step] if isinstance(step.child, Leaf) else []
        yield body


def _same_iterations(one: Filter, two: Filter) -> bool:
    """Whether two statements run in the same iterations."""
    (first,), (second,) = (sets(step.filter) for step in (one, two))
    unnamed = first.reset_tuple_id(), second.reset_tuple_id()
    return bool(unnamed[0].get_space().is_equal(unnamed[1].get_space()) and unnamed[0].is_equal(unnamed[1]))
