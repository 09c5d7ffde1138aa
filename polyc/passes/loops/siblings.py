"""Sums beside each other over the same loops, as one loop: those that read the same array, and those that were one."""

from __future__ import annotations

from functools import cache, partial
from itertools import combinations

import islpy as isl

from polyc.model import ctree as c
from polyc.model.program import Program
from polyc.model.scop import Access, AccessKind
from polyc.model.tree import Band, Filter, Member, Node, Role, Sequence, instances_below, walk
from polyc.nests.nest import Outer, chain, has_loops, statements_below, statements_of, values
from polyc.nests.strides import iterations
from polyc.nests.sums import sums_in_vectors
from polyc.poly import among, empty_map, in_name, maps, names, out_name, union_of
from polyc.records import dataclass, replace

FEW = 16
"""Iterations, at most, of a loop of which vectors gain nothing, as in a window that is cut at the edges of an image."""


@dataclass(frozen=True, slots=True, eq=False)
class Siblings:
    """Joins the steps of sequences.

    rewrite:  a = 0; for k a += x[k]; y = a; b = 0; for k b += x[k] * x[k]; z = b;
              -> a = 0; b = 0; for k { a += x[k]; b += x[k] * x[k]; } y = a; z = b;
    math:     steps S and T are joined if no dependence leads from an instance of one to one of the other, in one
              iteration of the loops around; the other steps keep every order that a dependence asks for
    """

    program: Program
    pairs: dict[tuple[str, str], list[isl.Map]]
    """All dependences, by the names of the two statements: most steps have none between them."""
    sources: dict[str, Band] | None = None
    """The loops of the source around each statement, where only what was one loop there is joined."""

    @staticmethod
    def of(program: Program, sources: dict[str, Band] | None = None) -> Siblings:
        pairs: dict[tuple[str, str], list[isl.Map]] = {}
        every = program.dependences.all.get_map_list()  # in any order: to sort them takes longer
        for piece in map(every.get_at, range(every.n_map())):
            pairs.setdefault((in_name(piece), out_name(piece)), []).append(piece)
        return Siblings(program, pairs, sources)

    def nests(self, node: Sequence, above: tuple[Member, ...]) -> Sequence:
        """Neighbouring nests of parallel loops over the same iterations, as one.

        Where one step is left it keeps its filter, which may leave out what runs in the tiles of others.
        """
        steps = [node.children[0]]
        for step in node.children[1:]:
            joined = self.joined_nests(steps[-1], step, above)
            steps[-1:] = [steps[-1], step] if joined is None else [joined]
        return Sequence(tuple(steps))

    def joined_nests(self, one: Filter, other: Filter, above: tuple[Member, ...]) -> Filter | None:
        match one.child, other.child:
            case Band(child=Sequence() as left) as first, Band(child=Sequence() as right) as second:
                pass
            case _:
                return None
        if any(m.role not in (Role.LOOP, Role.POINT) for m in (*first.members, *second.members)):
            return None
        one_by_one, others = ([m.coincident for m in band.members] for band in (first, second))
        if one_by_one != others or (self.sources is None and not (all(others) and first.permutable)):
            return None
        if not (has_loops(left) and has_loops(right) and self.alike([one, other], above)):
            return None
        if self.related(one, other, above):
            return None
        both = one.filter.union(other.filter)
        band = Band(
            _union(first, second), first.permutable and second.permutable, Sequence(left.children + right.children)
        )
        return Filter(both, band)

    def loops(self, node: Node, above: tuple[Member, ...]) -> Node:
        """The steps of one iteration, with loops over the same iterations as one; the same where there are none."""
        if not isinstance(node, Sequence) or sum(has_loops(s.child) for s in node.children) < 2:
            return node
        looping = [s for s in node.children if has_loops(s.child)]
        if self.sources is not None and not any(self.share(list(pair)) for pair in combinations(looping, 2)):
            return node
        left, done, joined = list(node.children), list[Filter](), False
        needs = cache(partial(self.leads, above=above))  # asked again for each step that is done
        while left:
            ready = [s for s in left if not any(needs(t, s) for t in left if t is not s)]
            if not ready:
                return node
            plain = [s for s in ready if not has_loops(s.child)]
            if plain:
                done.append(plain[0])
                left.remove(plain[0])
                continue
            first, *others = ready
            together = [first]
            for other in others:
                if self.alike([*together, other], above) and _is_chain(first.child):
                    together.append(other)
            done.append(_joined(together))
            joined = joined or len(together) > 1
            left = [s for s in left if s not in together]
        if not joined:
            return node
        return done[0].child if len(done) == 1 else Sequence(tuple(done))

    def alike(self, steps: list[Filter], above: tuple[Member, ...]) -> bool:
        """Whether steps have loops of one shape over the same iterations, and all read one array, or were one loop."""
        first, *others = steps
        if any(not _same_shape(first.child, other.child) for other in others) or not self.share(steps):
            return False
        known = self.program.scop.known
        ran = [values((*above, *chain(s.child)), s.filter).range().intersect_params(known) for s in steps]
        return all(one.is_equal(ran[0]) for one in ran[1:])

    def share(self, steps: list[Filter]) -> bool:
        """Whether all steps read one array; or were one loop of the source, and wait for what they compute, or store to
        elements of one array."""
        if self.sources is None:
            first, *others = steps
            return bool(self.reads(first).intersection(*(self.reads(other) for other in others)))
        sources = {id(self.sources.get(name)) for step in steps for name in self.deepest(step)}
        if len(sources) > 1:
            return False
        stored = [{a.array for a in self.accesses(step) if a.kind is not AccessKind.READ} for step in steps]
        return all(self.waits(step.child) for step in steps) or bool(set.intersection(*stored))

    def waits(self, node: Node) -> bool:
        """Whether each iteration of the innermost loops waits for the one before it."""
        inner = [n for n in walk(node) if isinstance(n, Band) and not has_loops(n.child)]
        return all(_waits(band.members[-1], self.program) for band in inner)

    def deepest(self, step: Filter) -> list[str]:
        """The statements in the most loops of a step."""
        own = names(step.filter)
        most = max(len(self.program.statements[name].loops) for name in own)
        return [name for name in own if len(self.program.statements[name].loops) == most]

    def reads(self, step: Filter) -> set[str]:
        """The arrays that statements in the most loops of a step read."""
        return {a.array for a in self.accesses(step) if a.kind is AccessKind.READ}

    def accesses(self, step: Filter) -> list[Access]:
        """Those to arrays in the most loops of a step."""
        accesses = (a for name in self.deepest(step) for a in self.program.statements[name].accesses)
        return [a for a in accesses if a.relation.dim(isl.dim_type.out)]

    def related(self, one: Filter, other: Filter, above: tuple[Member, ...]) -> bool:
        return self.leads(one, other, above) or self.leads(other, one, above)

    def leads(self, one: Filter, other: Filter, above: tuple[Member, ...]) -> bool:
        """Whether a dependence leads from one step to another, in one iteration of the loops around: of those that have
        values for both, since what an extension adds has none in the loops above it."""
        first, second = statements_below(one), statements_below(other)
        found = [piece for a in first for b in second for piece in self.pairs.get((a, b), ())]
        if not found:
            return False
        pairs = union_of(found, empty_map(one.filter))
        pairs = pairs.intersect_domain(instances_below(one)).intersect_range(instances_below(other))
        known = tuple(m for m in above if first | second <= statements_of(m))
        return not Outer(known).same_iteration(pairs).is_empty()


def _joined(steps: list[Filter]) -> Filter:
    found, *others = steps
    for other in others:
        found = Filter(found.filter.union(other.filter), _merged(found, other))
    return found


def _merged(one: Filter, other: Filter) -> Node:
    match one.child, other.child:
        case Band() as first, Band() as second:
            below = _merged(replace(one, child=first.child), replace(other, child=second.child))
            return Band(_union(first, second), first.permutable and second.permutable, below)
        case _:
            return Sequence((*_steps(one), *_steps(other)))


def _steps(step: Filter) -> tuple[Filter, ...]:
    return step.child.children if isinstance(step.child, Sequence) else (step,)


def _union(first: Band, second: Band) -> tuple[Member, ...]:
    return tuple(
        replace(a, schedule=a.schedule.union_add(b.schedule), coincident=a.coincident and b.coincident)
        for a, b in zip(first.members, second.members, strict=True)
    )


def _is_chain(node: Node) -> bool:
    """Whether there are only loops around one piece of code without any."""
    return _is_chain(node.child) if isinstance(node, Band) else not has_loops(node)


def _same_shape(one: Node, other: Node) -> bool:
    """Whether two nests have bands with as many loops one in another, down to the first node that is none."""
    match one, other:
        case Band(members=first, child=below), Band(members=second, child=others):
            roles = [m.role for m in first] == [m.role for m in second]
            return roles and _same_shape(below, others)
        case _:
            return not isinstance(one, Band) and not isinstance(other, Band)


def _waits(inner: Member, program: Program) -> bool:
    """Whether each iteration of a loop waits for the one before, and C compilers make no vectors of that."""
    if inner.coincident:
        return False
    own = inner.schedule.domain()
    chosen = any(isinstance(n, c.If) for name in names(own) for n in c.walk(program.statements[name].body))
    flow = [p for p in maps(among(program.dependences.flow, own)) if in_name(p) != out_name(p)]
    carried = any(not Outer((inner,)).same_iteration(isl.UnionMap.from_map(p)).is_equal(p) for p in flow)
    count = iterations(inner, program)
    return chosen or carried or (count is not None and count <= FEW) or not sums_in_vectors(program, inner)


__all__ = ["Siblings"]
