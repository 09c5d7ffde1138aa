"""What Algorithms 1 to 4 see of a program: the nests of one sequence, their outer bands, what is between them."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, reduce

import islpy as isl

from polyc.analysis.coincident import within_iteration
from polyc.model.tree import (
    Band,
    Domain,
    Extension,
    Filter,
    Leaf,
    Mark,
    Member,
    Node,
    Role,
    Sequence,
    instances_below,
    partial_schedule,
    rewrite,
    walk,
)
from polyc.poly import names
from polyc.records import dataclass, field, replace


@dataclass(frozen=True, slots=True, eq=False)
class Nest:
    """One child of a sequence (or the only nest under a node): an iteration space in the paper's words."""

    instances: isl.UnionSet
    node: Node
    copied: bool = False
    """Whether a tile has values of its own, of instances that run elsewhere as well, for others."""
    _names: list[tuple[str, ...]] = field(default_factory=list, init=False, repr=False)
    """`statements`, once they were asked for, which is often."""

    @property
    def band(self) -> Band | None:
        return self.node if isinstance(self.node, Band) else None

    @property
    def statements(self) -> tuple[str, ...]:
        if not self._names:
            self._names.append(tuple(names(self.instances)))
        return self._names[0]


@dataclass(frozen=True, slots=True, eq=False)
class Outer:
    """The band members above a sequence: they stay fixed while its nests run once."""

    members: tuple[Member, ...] = ()

    def under(self, band: Band) -> Outer:
        return Outer(self.members + band.members)

    def same_iteration(self, relation: isl.UnionMap) -> isl.UnionMap:
        """The pairs of a relation that belong to one iteration of the outer loops."""
        return within_iteration(relation, self.members)


NOWHERE = Outer()


@lru_cache(maxsize=4000)
def statements_below(step: Filter) -> frozenset[str]:
    """The statements that a step runs, kept: each array that might have a copy somewhere asks all steps."""
    return frozenset(names(instances_below(step)))


@lru_cache(maxsize=4000)
def statements_in(step: Filter) -> frozenset[str]:
    """The statements that a step lets through, kept: each pair of steps is asked."""
    return frozenset(names(step.filter))


@lru_cache(maxsize=4000)
def statements_of(member: Member) -> frozenset[str]:
    """The statements that a loop has values for, kept."""
    return frozenset(names(member.schedule.domain()))


def values(members: tuple[Member, ...], instances: isl.UnionSet) -> isl.UnionMap:
    """`{ S[i, j] -> [v0, v1] }` for some instances."""
    if not members:
        space = instances.get_space().params().add_unnamed_tuple_ui(0)
        target = isl.UnionSet.from_set(isl.Set.universe(space))
        return isl.UnionMap.from_domain_and_range(instances, target)
    return _schedule(members).intersect_domain(instances)


@lru_cache(maxsize=1000)
def _schedule(members: tuple[Member, ...]) -> isl.UnionMap:
    """`{ S[i, j] -> [v0, v1] }`, kept: each group that a nest is tried in asks for it."""
    return isl.UnionMap.from_multi_union_pw_aff(partial_schedule(members))


def at_sequences(tree: Domain, change: Callable[[tuple[Nest, ...], Outer], Node]) -> Domain:
    """Rebuild the tree with `change` applied where nests stand beside each other (or a nest stands alone).

    A band without a parallel loop is not a nest to tile: it is entered, with its loops as outer ones.
    """

    return Domain(tree.domain, at_sequences_below(tree.child, tree.domain, Outer(), change))


def inside(nest: Nest, outer: Outer, change: Callable[[tuple[Nest, ...], Outer], Node]) -> Node:
    """The nest's node with `change` applied to what is below its sequential outer band."""
    match nest.node:
        case Band() as band if band.coincident_prefix == 0:
            below = at_sequences_below(band.child, nest.instances, outer.under(band), change)
            return replace(band, child=below)
        case Sequence():
            return at_sequences_below(nest.node, nest.instances, outer, change)
        case other:
            return other


def at_sequences_below(
    node: Node,
    instances: isl.UnionSet,
    outer: Outer,
    change: Callable[[tuple[Nest, ...], Outer], Node],
) -> Node:
    match node:
        case Leaf():
            return node
        case _ if is_finished(node):
            return node
        case Sequence(children=steps):
            nests = tuple(Nest(instances.intersect(s.filter), s.child) for s in steps)
            found, kept = change(nests, outer), all_instances(nests)
            if isinstance(found, Sequence) or instances.is_subset(kept):
                return found
            return Sequence((Filter(kept, found),))  # what the filters keep out, since tiles run it, stays out
        case Band() if node.coincident_prefix > 0:
            return change((Nest(instances, node),), outer)
        case Band():
            below = at_sequences_below(node.child, instances, outer.under(node), change)
            return replace(node, child=below)
        case Extension(child=Sequence(children=steps)):  # what is added is no nest, and what reads it stays behind it
            mine = (instances.intersect(s.filter) for s in steps)
            changed = (
                s if ran.is_empty() else replace(s, child=at_sequences_below(s.child, ran, outer, change))
                for s, ran in zip(steps, mine, strict=True)
            )
            return replace(node, child=Sequence(tuple(changed)))
        case _:
            return replace(node, child=at_sequences_below(node.child, instances, outer, change))


def is_finished(node: Node) -> bool:
    """Whether an earlier pass has chosen all loops of the nest: it is left as it is."""
    while isinstance(node, Mark) and node.kind not in ("group", "tiles"):
        node = node.child
    return isinstance(node, Mark)


def between(relation: isl.UnionMap, first: Nest, second: Nest) -> isl.UnionMap:
    """The part of a dependence relation from one nest to another."""
    return relation.intersect_domain(first.instances).intersect_range(second.instances)


def coincident_first(band: Band) -> Band:
    """The band with its coincident members outermost, which a permutable band allows."""
    if not band.permutable:
        return band
    ordered = sorted(band.members, key=lambda m: not m.coincident)
    return replace(band, members=tuple(ordered))


def sequence(nests: list[Nest], reaching: isl.UnionSet) -> Node:
    """Nests one after the other; `reaching` is what the node above hands down."""
    live = [n for n in nests if not n.instances.is_empty()]
    if len(live) == 1 and reaching.is_subset(live[0].instances):
        return live[0].node
    return Sequence(tuple(Filter(n.instances, n.node) for n in live))


def all_instances(nests: tuple[Nest, ...]) -> isl.UnionSet:
    union = nests[0].instances
    for nest in nests[1:]:
        union = union.union(nest.instances)
    return union


def has_loops(node: Node) -> bool:
    """Whether a loop stands in the subtree, other than those of a few iterations in a vector loop."""
    return any(isinstance(n, Band) and n.members[-1].role not in (Role.UNROLLED, Role.WRITTEN_OUT) for n in walk(node))


def chain(node: Node) -> tuple[Member, ...]:
    """The loops that all instances below share: down to the first node that is none."""
    return node.members + chain(node.child) if isinstance(node, Band) else ()


def chain_to_leaf(node: Node) -> tuple[Member, ...] | None:
    """The loops down to a leaf; None where there is anything else."""
    match node:
        case Leaf():
            return ()
        case Band(members=members, child=child):
            below = chain_to_leaf(child)
            return None if below is None else members + below
        case _:
            return None


def innermost_loops(tree: Domain) -> dict[str, Band]:
    """The innermost loop around each statement in the original order."""
    return {name: around[-1] for name, around in loops_around(tree).items() if around}


def loops_around(tree: Domain) -> dict[str, tuple[Band, ...]]:
    """The loops around each statement in the original order, outermost first."""
    found: dict[str, tuple[Band, ...]] = {}

    def visit(node: Node, instances: isl.UnionSet, around: tuple[Band, ...]) -> None:
        match node:
            case Band():
                visit(node.child, instances, (*around, node))
            case Sequence(children=steps):
                for step in steps:
                    visit(step.child, instances.intersect(step.filter), around)
            case Leaf():
                found.update((name, around) for name in names(instances))
            case _:
                visit(node.child, instances, around)

    visit(tree.child, tree.domain, ())
    return found


def steps_of(instances: isl.UnionSet, node: Node) -> list[Filter]:
    """A node as the steps of a sequence around it: those of a sequence come up one level."""
    if isinstance(node, Sequence):
        return [Filter(s.filter.intersect(instances), s.child) for s in node.children]
    return [Filter(instances, node)]


def unrolled(node: Node) -> Node:
    """The subtree with its loops as loops of a few iterations in a vector loop."""

    def change(node: Node) -> Node:
        if not isinstance(node, Band):
            return node
        return replace(node, members=tuple(replace(m, role=Role.UNROLLED) for m in node.members))

    return rewrite(node, change)


def has_parallel(node: Node) -> bool:
    """Whether a loop of the subtree is marked parallel."""
    return any(isinstance(n, Band) and any(m.parallel for m in n.members) for n in walk(node))


def follows(member: Member, loop: Band) -> bool:
    """Whether a loop of a nest is a loop of the source, for the statements that stand in both."""
    if len(loop.members) != 1:
        return False
    now = isl.UnionMap.from_union_pw_aff(member.schedule)
    written = isl.UnionMap.from_union_pw_aff(loop.members[0].schedule).intersect_domain(now.domain())
    return bool(now.intersect_domain(written.domain()).is_equal(written))


def joined_member(a: Member, b: Member) -> Member:
    schedule = a.schedule.union_add(b.schedule)
    return replace(a, schedule=schedule, coincident=a.coincident and b.coincident)


def united(members: list[Member], filters: list[isl.UnionSet]) -> Member:
    """One loop for those of several bands, each for some instances; the last one says what it is called."""
    pieces = [replace(m, schedule=m.schedule.intersect_domain(f)) for m, f in zip(members, filters, strict=True)]
    return reduce(joined_member, reversed(pieces))
