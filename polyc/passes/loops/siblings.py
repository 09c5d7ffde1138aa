"""Sums beside each other that read the same array over the same loops: as one loop, which reads it once."""

from __future__ import annotations

import islpy as isl

from polyc.model.program import Program
from polyc.model.scop import AccessKind
from polyc.model.tree import Band, Filter, Member, Node, Role, Sequence
from polyc.nests.nest import Outer, has_loops, values
from polyc.poly import names
from polyc.records import dataclass, replace


@dataclass(frozen=True, slots=True, eq=False)
class Siblings:
    """Joins the steps of sequences.

    rewrite:  a = 0; for k a += x[k]; y = a; b = 0; for k b += x[k] * x[k]; z = b;
              -> a = 0; b = 0; for k { a += x[k]; b += x[k] * x[k]; } y = a; z = b;
    math:     steps S and T are joined if no dependence leads from an instance of one to one of the other, in one
              iteration of the loops around; the other steps keep every order that a dependence asks for
    """

    program: Program
    pairs: isl.UnionMap
    """All dependences."""

    @staticmethod
    def of(program: Program) -> Siblings:
        return Siblings(program, program.dependences.all)

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
        members = (*first.members, *second.members)
        if not all(m.coincident and m.role in (Role.LOOP, Role.POINT) for m in members) or not first.permutable:
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
        left, done, joined = list(node.children), list[Filter](), False
        while left:
            ready = [s for s in left if not any(self.leads(t, s, above) for t in left if t is not s)]
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
        """Whether steps have loops of one shape over the same iterations, and all read one array."""
        first, *others = steps
        shared = self.reads(first).intersection(*(self.reads(other) for other in others))
        if not shared or any(not _same_shape(first.child, other.child) for other in others):
            return False
        known = self.program.scop.known
        ran = [values((*above, *_members(s.child)), s.filter).range().intersect_params(known) for s in steps]
        return all(one.is_equal(ran[0]) for one in ran[1:])

    def reads(self, step: Filter) -> set[str]:
        """The arrays that statements in the most loops of a step read."""
        statements = [self.program.statements[name] for name in names(step.filter)]
        most = max(len(s.loops) for s in statements)
        accesses = (a for s in statements if len(s.loops) == most for a in s.accesses)
        return {a.array for a in accesses if a.kind is AccessKind.READ and a.relation.dim(isl.dim_type.out)}

    def related(self, one: Filter, other: Filter, above: tuple[Member, ...]) -> bool:
        return self.leads(one, other, above) or self.leads(other, one, above)

    def leads(self, one: Filter, other: Filter, above: tuple[Member, ...]) -> bool:
        """Whether a dependence leads from one step to another, in one iteration of the loops around."""
        pairs = self.pairs.intersect_domain(one.filter).intersect_range(other.filter)
        return not Outer(above).same_iteration(pairs).is_empty()


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


def _members(node: Node) -> tuple[Member, ...]:
    """The loops down to the first node that is none."""
    return node.members + _members(node.child) if isinstance(node, Band) else ()


__all__ = ["Siblings"]
