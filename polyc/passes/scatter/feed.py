"""What a scatter adds up is made in the scatter's loop, strip by strip."""

from __future__ import annotations

from dataclasses import replace

from polyc.analysis.expressions.reductions import scatter_of
from polyc.model.program import Group, Program
from polyc.model.tree import Band, Extension, Filter, Mark, Member, Node, Role, Sequence, partial_schedule, walk
from polyc.nests.graph import NestGraph
from polyc.nests.nest import (
    Nest,
    Outer,
    all_instances,
    at_sequences,
    between,
    inside,
    joined_member,
    sequence,
    values,
)
from polyc.nests.tiling import tile_members
from polyc.nests.wishes import options_of, why_apart

STAGE = "feed"
STRIP = 1024
"""Iterations of the innermost loop: what they hand on stays in the first cache, and the next strip's loads run beside
the updates of this one. Compilers write out shorter loops as a whole."""


def feed_scatters(program: Program) -> Program:
    """Run a parallel nest inside of the loops of a scatter that reads what it makes, a strip at a time.

    rewrite:  for y for x g[y][x] = f(A[y][x]);  for y for x h[g[y][x]]++
              -> for y for xt { for x g[y][x] = f(A[y][x]); for x h[g[y][x]]++; }
    tree:     sequence(band(y, x), band(y) - band(x)) -> band(y) - band(xt) - sequence(band(x), band(x))
    math:     every dependence R(v) -> T(v') from the first nest to the scatter has v = v'; the scatter's instances
              keep their order, since only its innermost loop is cut
    requires: the final loops, and marks on them: both nests are parallel, the scatter by copies or atomic updates, or
              neither is. The first nest may have other readers: what it makes is stored
    ensures:  loops over the same iterations, so that no condition is added; the inner loops are as they were
    source:   the other direction of Zhao et al. 2024, Section 7.1.2: the loop that depends on data comes last
    """
    scattering = any(scatter_of(s, program.scop.arrays) for s in program.statements.values())
    if not scattering:
        return program
    feeder = _Feeder(program)
    tree = at_sequences(program.tree, feeder.fed)
    return replace(feeder.program, tree=tree)


class _Feeder:
    """Walks the sequences and remembers the remarks."""

    def __init__(self, program: Program) -> None:
        self.program = program
        d = program.dependences
        self.every = d.flow.union(d.false).union(d.private_false)

    def fed(self, nests: tuple[Nest, ...], outer: Outer) -> Node:
        here = self.every.intersect_domain(all_instances(nests)).intersect_range(all_instances(nests))
        graph = NestGraph.of(nests, outer.same_iteration(here))
        groups = dict(enumerate(nests))
        for latest in [k for k, nest in groups.items() if self.scatters(nest)]:
            at = next(place for place, group in enumerate(graph.groups) if latest in group)
            for before in reversed(range(at)):
                first, second = graph.groups[before], graph.groups[at]
                if len(first) == 1 and graph.linked(first, second) and graph.mergeable(before, at):
                    joined = self.joined(nests[first[0]], groups[latest], outer)
                    if joined is not None:
                        del groups[latest]
                        groups[first[0]] = joined  # of a group, the nest that was written first
                        graph.merge(before, at)
                        break
        done = [groups[group[0]] for group in graph.groups]
        single = (len(group) == 1 for group in graph.groups)
        below = [replace(n, node=inside(n, outer, self.fed)) if one else n for n, one in zip(done, single, strict=True)]
        return sequence(below, all_instances(nests))

    def scatters(self, nest: Nest) -> bool:
        """Whether it is loops around scatters, and nothing else."""
        loops = chain(nest)
        statements = [self.program.statements[name] for name in nest.statements]
        return bool(loops) and all(scatter_of(s, self.program.scop.arrays) for s in statements)

    def joined(self, first: Nest, scatter: Nest, outer: Outer) -> Nest | None:
        """Both as one nest; None where that is not right, or gains nothing."""
        one, two = chain(first), chain(scatter)
        if not one or len(one) != len(two) or not all(m.coincident for m in one):
            return None
        band = first.band
        if band is None or options_of(self.program, band).tile_sizes != "auto":
            return None
        threads = self.program.options.target == "openmp" and one[0].parallel != two[0].parallel
        if threads or why_apart(self.program, first.statements, scatter.statements):
            return None
        if not values(one, first.instances).range().is_equal(values(two, scatter.instances).range()):
            return None
        both = tuple(joined_member(a, b) for a, b in zip(one, two, strict=True))
        every = outer.same_iteration(between(self.every, first, scatter))
        if not every.is_subset(every.eq_at_multi_union_pw_aff(partial_schedule(both))):
            return None
        return self.nest(first, scatter, both)

    def nest(self, first: Nest, scatter: Nest, both: tuple[Member, ...]) -> Nest:
        """The loops of both, the innermost one in strips; inside of these one nest after the other.

        both: members for the instances of both. Marks are those of the scatter's outer loops
        """
        one, two = chain(first), chain(scatter)
        outer = tuple(replace(two[k], schedule=m.schedule, worth=one[k].worth) for k, m in enumerate(both))
        (strip,) = tile_members(outer[-1:], (STRIP,))
        last = replace(two[-1], parallel=False, reductions=(), atomics=(), worth=None)
        steps = (
            Filter(first.instances, Band((replace(one[-1], parallel=False, worth=None),), True, body(first))),
            Filter(scatter.instances, Band((last,), False, body(scatter))),
        )
        node: Node = Sequence(steps)
        for member in reversed((*outer[:-1], strip)):
            node = Band((replace(member, vector=False),), False, node)
        statements = (*first.statements, *scatter.statements)
        self.program = self.grouped(statements).remark(
            "scatter-fed",
            STAGE,
            f"{', '.join(first.statements)} runs in the loops of {', '.join(scatter.statements)}, which scatters what "
            f"it makes: {STRIP} iterations of {two[-1].name} at a time",
            statements,
            strip=STRIP,
        )
        return Nest(first.instances.union(scatter.instances), node)

    def grouped(self, statements: tuple[str, ...]) -> Program:
        """The program with both nests in one group, and without remarks that they have no tiles."""
        groups = self.program.groups
        own = [g for g in groups if set(g.statements) <= set(statements)]
        joined = Group(statements, statements, (), (), any(g.parallel for g in own))
        kept = [joined if g is own[0] else g for g in groups if g not in own[1:]] if own else [*groups, joined]
        told = (r for r in self.program.remarks if r.code != "not-tiled" or not set(r.statements) <= set(statements))
        return replace(self.program, groups=tuple(kept), remarks=tuple(told))


def chain(nest: Nest) -> tuple[Member, ...]:
    """The loops of a nest whose statements all have the same ones; () where some pass gave them another form."""
    loops: tuple[Member, ...] = ()
    for node in walk(nest.node):
        if isinstance(node, Mark | Extension):
            return ()
        if isinstance(node, Band):
            loops += node.members
            if node.whole is not None or any(m.role is not Role.LOOP or m.lanes or m.lookups for m in node.members):
                return ()
    inner = body(nest)
    return () if any(isinstance(node, Band) for node in walk(inner)) else loops


def body(nest: Nest) -> Node:
    """What stands below the outer bands of a nest."""
    node = nest.node
    while isinstance(node, Band):
        node = node.child
    return node
