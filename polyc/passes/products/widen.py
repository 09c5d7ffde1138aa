"""Let a tree run more of a statement than its domain: whole tiles, of which a border lies outside."""

from __future__ import annotations

import islpy as isl

from polyc.model.tree import Band, Domain, Extension, Filter, Leaf, Mark, Member, Node, Sequence
from polyc.poly import affine_of, set_name, sets, value_on
from polyc.records import dataclass, replace


class NotAffine(Exception):
    """A loop above the statement has no single expression for it."""


@dataclass(frozen=True, slots=True, eq=False)
class Widening:
    parts: tuple[tuple[isl.Set, isl.Set], ...] = ()
    """Instances of a statement, and what the tree runs instead of them."""
    dropped: frozenset[str] = frozenset()
    """Buffers that no statement needs any more."""

    def with_part(self, part: isl.Set, whole: isl.Set) -> Widening:
        return replace(self, parts=(*self.parts, (part, whole)))

    def joined(self, other: Widening) -> Widening:
        return Widening(self.parts + other.parts, self.dropped | other.dropped)

    @property
    def statements(self) -> list[str]:
        return sorted({set_name(part) for part, _ in self.parts})


def widened(tree: Domain, widening: Widening) -> Domain:
    """The tree with wider domains of some statements. Raises NotAffine."""
    if not widening.parts:
        return tree
    return Domain(_wider(tree.domain, widening), _below(tree.child, widening))


def _wider(instances: isl.UnionSet, widening: Widening) -> isl.UnionSet:
    """First all parts go, and then what runs instead of them comes: the wide form of one, without another part that has
    nothing in common with it, would fall into many pieces."""
    here = [
        (isl.UnionSet.from_set(part), isl.UnionSet.from_set(whole))
        for part, whole in widening.parts
        if not instances.intersect(isl.UnionSet.from_set(part)).is_empty()
    ]
    for part, _ in here:
        instances = instances.subtract(part)
    if len(here) > 1:
        instances = instances.coalesce()
    for _, whole in here:
        instances = instances.union(whole)
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
    done: set[str] = set()
    for part, whole in widening.parts:
        name = set_name(part)
        if name in done or schedule.intersect_domain(isl.UnionSet.from_set(part)).domain().is_empty():
            continue
        value = affine_of(value_on(schedule, whole.get_space()))
        if value is None:
            raise NotAffine(f"the loop {member.name} has several expressions")
        own = isl.UnionSet.from_set(whole)
        if sum(set_name(other) == name for other, _ in widening.parts) > 1:
            own = _wider(schedule.domain().intersect(own.universe()), widening)
            done.add(name)
        (domain,) = sets(own)
        wider = isl.UnionPwAff.from_pw_aff(isl.PwAff.from_aff(value).intersect_domain(domain))
        schedule = schedule.subtract_domain(own).union_add(wider)
    return replace(member, schedule=schedule)
