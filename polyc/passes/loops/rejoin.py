"""Loops that the scheduler took apart for nothing: as the one loop that was written."""

from __future__ import annotations

from functools import reduce
from itertools import groupby

import islpy as isl

from polyc.model.program import Program
from polyc.model.tree import Band, Domain, Extension, Filter, Mark, Member, Node, Role, Sequence, walk
from polyc.nests.nest import Outer, chain, innermost_loops
from polyc.passes.loops.siblings import Siblings
from polyc.poly import among, names
from polyc.records import dataclass, replace

STAGE = "rejoin"


def rejoin_recurrences(program: Program) -> Program:
    """Join recurrences that the scheduler took apart, and that no pass has made anything of, as they were written.

    rewrite:  for i { for j s = f(s, A[i][j]); x[i] = s; }  for i { for j t = g(t, B[i][j]); y[i] = t; }
              -> for i { for j { s = f(s, A[i][j]); t = g(t, B[i][j]); } x[i] = s; y[i] = t; }
              for i s[i] = u * s[i];  for i v[i] = max(v[i + 1], s[i]);
              -> for i { s[i] = u * s[i]; v[i] = max(v[i + 1], s[i]); }
    requires: no dependence between the nests; one loop of the source, of which C compilers make no vectors, or whose
              statements store to elements of one array, `a[2 * i]` and `a[2 * i + 1]`. Or all of an innermost loop of
              the source, from one iteration of which to another no value goes: C compilers make vectors of it as a
              whole, and each element is loaded once
    ensures:  each recurrence has its order. A core waits for all of them at once, and not for one after the other;
              lines of the cache are written once
    source:   ours; loop fusion for instruction-level parallelism (Callahan, Carr, Kennedy 1990)
    """
    joiner = _Rejoiner(Siblings.of(program, innermost_loops(program.scop.tree)), [])
    child = joiner.at(program.tree.child, ())
    if not joiner.joined:
        return program
    for statements in joiner.joined:
        message = f"{', '.join(statements)} run in one loop, as they were written"
        program = program.remark("rejoined", STAGE, message, statements)
    return replace(program, tree=Domain(program.tree.domain, child))


@dataclass(slots=True)
class _Rejoiner:
    siblings: Siblings
    joined: list[tuple[str, ...]]

    def at(self, node: Node, above: tuple[Member, ...]) -> Node:
        match node:
            case Mark(kind="tiles"):
                return node  # tiles over time have an order of their own
            case Band() if _in_registers(node):
                return node
            case Sequence():
                if not above and (whole := self.wholes(node, above)) is not node:
                    return self.at(whole, above)
                if not above and (loops := self.siblings.loops(node, above)) is not node:
                    self.tell(node, loops)
                    return self.at(loops, above)
                nests = self.siblings.nests(node, above)
                self.tell(node, nests)
                return Sequence(tuple(replace(s, child=self.at(s.child, above)) for s in nests.children))
            case Band(members=members, child=child):
                wholes = self.wholes(child, (*above, *members))
                steps = self.siblings.loops(wholes, (*above, *members))
                self.tell(wholes, steps)
                return replace(node, child=self.at(steps, (*above, *members)))
            case Extension() | Mark():
                return replace(node, child=self.at(node.child, above))
            case _:
                return node

    def wholes(self, node: Node, above: tuple[Member, ...]) -> Node:
        """The steps with those that stand beside each other and were one innermost loop as that loop; the node itself
        where there are none."""
        if not isinstance(node, Sequence):
            return node
        done: list[Filter] = []
        for _, group in groupby(node.children, self.source):
            steps = list(group)
            whole = self.whole(steps, above) if len(steps) > 1 else None
            done += steps if whole is None else [whole]
        if len(done) == len(node.children):
            return node
        return done[0].child if len(done) == 1 else Sequence(tuple(done))

    def source(self, step: Filter) -> int:
        """A number for the innermost loop of the source in which all statements of a step are; another for each step
        with others."""
        found = {id((self.siblings.sources or {}).get(name)) for name in names(step.filter)}
        return found.pop() if len(found) == 1 else id(step)

    def whole(self, steps: list[Filter], above: tuple[Member, ...]) -> Filter | None:
        """The innermost loop of the source of which some steps are the parts, where no value goes from one iteration of
        it to another, and yet one of the parts can run in vectors alone."""
        ran = reduce(isl.UnionSet.union, (step.filter for step in steps))
        statements = names(ran)
        source = (self.siblings.sources or {}).get(statements[0])
        if source is None or not all(_is_plain(step.child) for step in steps):
            return None
        free = {m.coincident for step in steps for m in chain(step.child)}
        member, program = source.members[-1], self.siblings.program
        written = isl.UnionMap.from_union_pw_aff(member.schedule).intersect_domain(program.scop.domain)
        if free != {True, False} or not written.domain().is_equal(ran):
            return None
        now = (isl.UnionMap.from_union_pw_aff(m.schedule) for step in steps for m in chain(step.child))
        if not reduce(isl.UnionMap.union, now).intersect_domain(ran).is_equal(written):
            return None
        flow = Outer(above).same_iteration(among(program.dependences.flow, ran))
        if not flow.is_subset(Outer((member,)).same_iteration(flow)):
            return None
        self.joined.append(tuple(statements))
        return Filter(ran, Band((replace(member, coincident=False),), False, source.child))

    def tell(self, before: Node, after: Node) -> None:
        """Keep the statements of each step that several were joined to."""
        if before is not after:
            old = {frozenset(names(s.filter)) for s in before.children} if isinstance(before, Sequence) else set()
            every = sorted(name for step in old for name in step)
            new = [names(s.filter) for s in after.children] if isinstance(after, Sequence) else [every]
            self.joined += [tuple(found) for found in new if frozenset(found) not in old]


def _is_plain(node: Node) -> bool:
    """Whether it is one loop without others inside, or none."""
    loops = [m for n in walk(node) if isinstance(n, Band) for m in n.members]
    return len(loops) == 1 == len(chain(node)) and loops[0].role in (Role.LOOP, Role.POINT)


def _in_registers(node: Node) -> bool:
    """Whether sums in registers are below, whose loops are where they belong."""
    return any(m.role is Role.REGISTER for n in walk(node) if isinstance(n, Band) for m in n.members)


__all__ = ["rejoin_recurrences"]
