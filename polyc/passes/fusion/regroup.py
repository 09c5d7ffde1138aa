"""Nests back in the outer loops that they were written in, where these keep in the caches what passes between them."""

from __future__ import annotations

import islpy as isl

from polyc.cost.footprints import stays_in_caches
from polyc.model.program import Program
from polyc.model.tree import Band, Filter, Member, Node, Role, Sequence, walk
from polyc.nests.nest import (
    Nest,
    Outer,
    all_instances,
    at_sequences,
    between,
    follows,
    inside,
    joined_member,
    loops_around,
    sequence,
    steps_of,
)
from polyc.nests.samples import sample_parameters
from polyc.nests.wishes import why_apart
from polyc.records import dataclass, field, replace

STAGE = "regroup"


def regroup_nests(program: Program) -> Program:
    """Let neighbouring nests share the outer loops in which they were written.

    rewrite:  for i for j for k f[i][j][k] = …;  for i for j for k r[i][j][k] = f[i][j][k + 1] - f[i][j][k - 1]
              -> for i for j { for k f[i][j][k] = …;  for k r[i][j][k] = … }
    tree:     sequence(band(i, j, k), band(i, j, k)) -> band(i, j) - sequence(band(k), band(k))
    math:     each dependence between the two has distance 0 in the common loops
    requires: loops that all run in parallel, so that no sum and no recurrence has a better form; inner loops of their
              own, as they were written; an array that both touch; and what an iteration of the common loops touches
              stays in the second cache. Then tiles could not bring the two nearer to each other, and isl's
              distribution has only taken them apart
    source:   the order as written as a candidate; Definition 4.1 of Zhao et al. 2024 with the outer loops alone
    """
    grouper = _Grouper(program, loops_around(program.scop.tree))
    tree = at_sequences(program.tree, grouper.regrouped)
    return replace(grouper.program, tree=tree) if grouper.program is not program else program


@dataclass(slots=True)
class _Grouper:
    program: Program
    loops: dict[str, tuple[Band, ...]]
    """The loops of the source around each statement."""
    typical: list[isl.Set] = field(default_factory=list)
    """Usual sizes, once they are asked for."""

    def regrouped(self, nests: tuple[Nest, ...], outer: Outer) -> Node:
        groups: list[tuple[list[Nest], int]] = []
        for nest in nests:
            depth = self.depth([*groups[-1][0], nest], groups[-1][1], outer) if groups else 0
            if depth:
                groups[-1] = [*groups[-1][0], nest], depth
            else:
                groups.append(([nest], len(nest.band.members) if nest.band is not None else 0))
        done = [self.joined(group, depth) if len(group) > 1 else group[0] for group, depth in groups]
        below = [replace(n, node=inside(n, outer, self.regrouped)) for n in done]
        return sequence(below, all_instances(nests))

    def depth(self, group: list[Nest], most: int, outer: Outer) -> int:
        """How many loops a group and a nest behind it may share."""
        *before, last = group
        if not all(map(_is_parallel, group)):
            return 0
        one, two = {s for nest in before for s in nest.statements}, {*last.statements}
        if self.arrays(one).isdisjoint(self.arrays(two)) or why_apart(self.program, [*one], [*two]):
            return 0
        depth = min(most, self.shared(group))
        if any(nest.band is None or len(nest.band.members) <= depth for nest in group):
            return 0
        d = self.program.dependences
        every = d.flow.union(d.false).union(d.private_false)
        pairs = [outer.same_iteration(between(every, nest, last)) for nest in before]
        while depth and not all(Outer(_members(group, depth)).same_iteration(p).is_equal(p) for p in pairs):
            depth -= 1
        return depth if depth and self.pays(group, depth) else 0

    def shared(self, group: list[Nest]) -> int:
        """How many outer loops of the nests are loops of the source around some of the first ones and of the last."""
        *before, last = group
        one, two = (
            [self.loops.get(name, ()) for nest in nests for name in nest.statements] for nests in (before, [last])
        )
        if len({id(path[-1]) for path in one + two if path}) == 1:
            return 0  # all that was written in one innermost loop is that of others
        common = [loop for path in two for loop in path if any(loop is other for mine in one for other in mine)]
        bands = [nest.band for nest in group if nest.band is not None]
        count = 0
        for members in zip(*(band.members for band in bands), strict=False):
            if not any(all(follows(m, loop) for m in members) for loop in common):
                break
            count += 1
        return count

    def pays(self, group: list[Nest], depth: int) -> bool:
        """Whether the common loops have iterations enough, and one of them touches no more than the caches keep."""
        if not self.typical:
            self.typical.append(sample_parameters(self.program))
        members = _members(group, depth)
        return stays_in_caches(self.program, members, [nest.instances for nest in group], self.typical[0])

    def arrays(self, statements: set[str]) -> set[str]:
        accesses = (a for s in statements for a in self.program.statements[s].accesses)
        return {a.array for a in accesses if a.relation.dim(isl.dim_type.out)}

    def joined(self, group: list[Nest], depth: int) -> Nest:
        """One band of the common loops, and what is left of each nest below it."""
        instances, steps = all_instances(tuple(group)), list[Filter]()
        for nest in group:
            assert nest.band is not None
            rest = nest.band.members[depth:]
            node = replace(nest.band, members=rest) if rest else nest.band.child
            steps += steps_of(nest.instances, node)
        statements = tuple(s for nest in group for s in nest.statements)
        what = f"{depth} outer loops" if depth > 1 else "outer loop"
        message = f"{', '.join(statements)} share the {what} in which they were written: the caches keep what passes on"
        self.program = self.program.remark("regrouped", STAGE, message, statements, loops=depth)
        return Nest(instances, Band(_members(group, depth), True, Sequence(tuple(steps))))


def _is_parallel(nest: Nest) -> bool:
    """Whether all loops of a nest run in parallel, and none of them has been given another role."""
    bands = [node for node in walk(nest.node) if isinstance(node, Band)]
    whole = nest.band is not None and nest.band.permutable
    return whole and all(m.coincident and m.role is Role.LOOP for band in bands for m in band.members)


def _members(group: list[Nest], depth: int) -> tuple[Member, ...]:
    """The common loops of some nests."""
    first, *others = [nest.band for nest in group if nest.band is not None]
    members = first.members[:depth]
    for band in others:
        members = tuple(joined_member(a, b) for a, b in zip(members, band.members, strict=False))
    return members


__all__ = ["regroup_nests"]
