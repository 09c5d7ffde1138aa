"""Let a tree run more of a statement than its domain: whole tiles, of which a border lies outside."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import islpy as isl

from polyc.model.tree import Band, Domain, Extension, Filter, Leaf, Mark, Member, Node, Sequence
from polyc.poly import affine_of, value_on


class NotAffine(Exception):
    """A loop above the statement has no single expression for it."""


@dataclass(frozen=True, slots=True, eq=False)
class Widening:
    domains: dict[str, isl.Set] = field(default_factory=dict)
    """What the tree runs of a statement, for those that change."""
    dropped: frozenset[str] = frozenset()
    """Buffers that no statement needs any more."""

    def with_domain(self, name: str, whole: isl.Set) -> Widening:
        return replace(self, domains=self.domains | {name: whole})

    def joined(self, other: Widening) -> Widening:
        return Widening(self.domains | other.domains, self.dropped | other.dropped)


def widened(tree: Domain, widening: Widening) -> Domain:
    """The tree with wider domains of some statements. Raises NotAffine."""
    if not widening.domains:
        return tree
    return Domain(_wider(tree.domain, widening), _below(tree.child, widening))


def _wider(instances: isl.UnionSet, widening: Widening) -> isl.UnionSet:
    for whole in widening.domains.values():
        space = isl.UnionSet.from_set(isl.Set.universe(whole.get_space()))
        if not instances.intersect(space).is_empty():
            instances = instances.subtract(space).union(isl.UnionSet.from_set(whole))
    return instances


def _below(node: Node, widening: Widening) -> Node:
    match node:
        case Leaf():
            return node
        case Sequence(children=steps):
            return Sequence(
                tuple(Filter(_wider(s.filter, widening), _below(s.child, widening), s.barrier) for s in steps)
            )
        case Band(members=members):
            changed = tuple(_member(m, widening) for m in members)
            return replace(node, members=changed, child=_below(node.child, widening))
        case Mark() | Extension():
            return replace(node, child=_below(node.child, widening))


def _member(member: Member, widening: Widening) -> Member:
    schedule = member.schedule
    for whole in widening.domains.values():
        space = whole.get_space()
        here = isl.UnionSet.from_set(isl.Set.universe(space))
        if schedule.intersect_domain(here).domain().is_empty():
            continue
        value = affine_of(value_on(schedule, space))
        if value is None:
            raise NotAffine(f"the loop {member.name} has several expressions")
        wider = isl.UnionPwAff.from_pw_aff(isl.PwAff.from_aff(value).intersect_domain(whole))
        schedule = schedule.subtract_domain(here).union_add(wider)
    return replace(member, schedule=schedule)
