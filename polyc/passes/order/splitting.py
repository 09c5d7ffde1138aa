"""Loops of a nest as it was written: which of them run at once, and where one has to be cut for that."""

from __future__ import annotations

import islpy as isl

from polyc.model.tree import Band, Filter, Leaf, Member, Node, Sequence, partial_schedule, restrict
from polyc.nests.nest import values
from polyc.poly import among, everywhere, maps, sets, value_on
from polyc.records import dataclass, field, replace

MOST_SPLITS = 2
"""On the way to one statement: each makes three loops of one."""
MOST_PIECES = 64
"""Of pairs of iterations: where all of them begin or end in one, they are simple. Of hundreds with divisions isl's
coalescing has ended the process (islpy 2026.2.2)."""


@dataclass(slots=True)
class Splitter:
    """Marks the coincident loops of a tree, and cuts loops in three whose dependences all begin or end in one
    iteration."""

    splits: list[tuple[str, isl.Map]] = field(default_factory=list)
    """What was cut: the loop's name, and where, `{ [outer loops] -> [v] }`."""
    splitting: bool = True

    def marked(
        self,
        node: Node,
        instances: isl.UnionSet,
        pairs: isl.UnionMap,
        above: tuple[Member, ...] = (),
        depth: int = 0,
    ) -> Node:
        """The same order, with loops that carry nothing marked.

        rewrite:  for i A(i)  ->  for i < f A(i); A(f); for i > f A(i)
        math:     with v the loop's value and P those of the loops around: where v(x) = f(P) or v(y) = f(P) for all
                  pairs x -> y that the loop carries, none of the three parts carries one (index-set splitting, Griebl,
                  Feautrier, Lengauer 2000)
        `pairs`: dependences between instances below, which agree in the loops above.
        """
        match node:
            case Leaf():
                return node
            case Sequence(children=steps):
                inside = [instances.intersect(s.filter) for s in steps]
                return Sequence(
                    tuple(
                        replace(s, child=self.marked(s.child, i, among(pairs, i), above, depth))
                        for s, i in zip(steps, inside, strict=True)
                    )
                )
            case Band(members=(member,), child=child):
                equal = pairs if pairs.is_empty() else pairs.eq_at_multi_union_pw_aff(partial_schedule((member,)))
                carried = pairs.subtract(equal)
                if not carried.is_empty() and self.splitting and depth < MOST_SPLITS:
                    at = _cut(carried, member, above)
                    if at is not None:
                        return self.cut(node, at, instances, pairs, above, depth)
                below = self.marked(child, instances, equal, (*above, member), depth)
                return replace(node, members=(replace(member, coincident=carried.is_empty()),), child=below)
            case _:
                return node

    def cut(
        self,
        band: Band,
        at: isl.Map,
        instances: isl.UnionSet,
        pairs: isl.UnionMap,
        above: tuple[Member, ...],
        depth: int,
    ) -> Node:
        (member,) = band.members
        self.splits.append((member.name, at))
        steps: list[Filter] = []
        for position, part in enumerate(_three(instances, member, at, above)):
            if part.is_empty():
                continue
            inside = restrict(band, part)
            if position == 1:  # one iteration
                assert isinstance(inside, Band)
                inside = inside.child
            steps.append(Filter(part, self.marked(inside, part, among(pairs, part), above, depth + 1)))
        return steps[0].child if len(steps) == 1 else Sequence(tuple(steps))


def _cut(carried: isl.UnionMap, member: Member, above: tuple[Member, ...]) -> isl.Map | None:
    """`{ [outer loops] -> [f] }`: the iteration in which each pair begins or ends, if there is such a one."""
    if sum(piece.n_basic_map() for piece in maps(carried)) <= MOST_PIECES:
        carried = carried.coalesce()
    every = carried.domain().union(carried.range())
    around, value = values(above, every), values((member,), every)
    first, second = carried.domain_map(), carried.range_map()
    ends = first.apply_range(value).flat_range_product(second.apply_range(value))
    found = maps(first.apply_range(around).reverse().apply_range(ends))
    if len(found) != 1 or found[0].n_basic_map() > MOST_PIECES:
        return None
    both = found[0].coalesce()
    start = both.get_basic_map_list().get_at(0)
    for dimension in (0, 1):
        one = isl.Map.from_basic_map(start).project_out(isl.dim_type.out, 1 - dimension, 1)
        at = everywhere(one) if one.is_single_valued() else None
        if at is None:
            continue
        free = isl.Map.universe(at.get_space())
        if both.subtract(at.flat_range_product(free)).subtract(free.flat_range_product(at)).is_empty():
            return at
    return None


def _three(
    instances: isl.UnionSet, member: Member, at: isl.Map, above: tuple[Member, ...]
) -> tuple[isl.UnionSet, isl.UnionSet, isl.UnionSet]:
    """The instances before, in, and after an iteration of a loop."""
    parts: list[list[isl.Set]] = [[], [], []]
    for piece in sets(instances):
        space = piece.get_space()
        (around,) = maps(values(above, isl.UnionSet.from_set(isl.Set.universe(space))))
        cut = isl.PwMultiAff.from_map(around.apply_range(at)).get_pw_aff(0)
        own = value_on(member.schedule, space)
        for found, part in zip(parts, (own.lt_set(cut), own.eq_set(cut), own.gt_set(cut)), strict=True):
            found.append(piece.intersect(part).coalesce())
    below, inside, after = (_union(found, instances) for found in parts)
    return below, inside, after


def _union(pieces: list[isl.Set], like: isl.UnionSet) -> isl.UnionSet:
    found = isl.UnionSet.empty(like.get_space())
    for piece in pieces:
        found = found.union(isl.UnionSet.from_set(piece))
    return found
