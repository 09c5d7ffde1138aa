"""Loops that the scheduler took apart for nothing: as the one loop that was written."""

from __future__ import annotations

from functools import reduce
from math import prod

import islpy as isl

from polyc.analysis.expressions.reductions import reductions_of
from polyc.analysis.expressions.updates import any_order
from polyc.cost.footprints import stays_in_caches
from polyc.cost.recurrences import carried_by, hides, innermost_bands
from polyc.model import ctree as c
from polyc.model.program import Program
from polyc.model.scop import Access, AccessKind
from polyc.model.tree import LEAF, Band, Domain, Extension, Filter, Mark, Member, Node, Role, Sequence, walk
from polyc.nests.nest import (
    Outer,
    chain,
    follows,
    has_loops,
    innermost_loops,
    joined_member,
    loops_around,
    steps_of,
)
from polyc.nests.samples import sample_parameters
from polyc.nests.strides import UNROLLED, most_iterations, strides_of
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
    requires: no dependence between the nests; one loop of the source, of which C compilers make no vectors, or which
              they write out with the loops around it (a sum over a window, and how many elements it has), or whose
              statements store to elements of one array, `a[2 * i]` and `a[2 * i + 1]`. Or all of an innermost loop of
              the source, with the loops around it that were taken apart: if no value goes from one iteration to
              another, so that C compilers make vectors of it as a whole, and each element is loaded once; or if a core
              does the rest while it waits for a sum. Or a serial nest of the source, and statements that set
              constants for it
    ensures:  each recurrence has its order. A core waits for all of them at once, and not for one after the other;
              lines of the cache are written once
    source:   ours; loop fusion for instruction-level parallelism (Callahan, Carr, Kennedy 1990)
    """
    siblings = Siblings.of(program, innermost_loops(program.scop.tree))
    joiner = _Rejoiner(siblings, loops_around(program.scop.tree), [])
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
    loops: dict[str, tuple[Band, ...]]
    """The loops of the source around each statement."""
    joined: list[tuple[str, ...]]

    def at(self, node: Node, above: tuple[Member, ...]) -> Node:
        match node:
            case Mark(kind="tiles"):
                return node  # tiles over time have an order of their own
            case Band() if _in_registers(node):
                return node
            case Sequence():
                if not above and (nests := self.begun(node)) is not node:
                    return self.at(nests, above)
                if not above and (whole := self.wholes(node, above)) is not node:
                    return self.at(whole, above)
                if not above and (loops := self.siblings.loops(node, above)) is not node:
                    self.tell(node, loops)
                    return self.at(loops, above)
                nests = self.siblings.nests(node, above)
                nests = self.rows(nests, above)
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
        groups: list[list[Filter]] = []
        for step in node.children:
            group = groups[-1] if groups else []
            if group and self.source(group[0]) == self.source(step):
                group.append(step)
            elif group and self.goes_before(group, step, above):
                groups.insert(-1, [step])  # `s = 0;` between two loops that were one
            else:
                groups.append([step])
        done = [self.whole(group, above) or group if len(group) > 1 else group for group in groups]
        if not any(isinstance(one, Filter) for one in done):
            return node
        steps = [step for one in done for step in ([one] if isinstance(one, Filter) else one)]
        return steps[0].child if len(steps) == 1 else Sequence(tuple(steps))

    def begun(self, node: Sequence) -> Node:
        """The steps with constants that a serial nest behind them reads at once set in that nest, where they were
        written: what was set in the same iteration need not be loaded."""
        steps, moved = list(node.children), False
        for first in [step for step in node.children if self.sets_constants(step)]:
            at = steps.index(first)
            met = (k for k in range(at + 1, len(steps)) if self.siblings.related(first, steps[k], ()))
            k = next(met, None)
            nest = None if k is None else self.with_start(first, steps[k])
            if k is None or nest is None:
                continue
            steps[k] = Filter(first.filter.union(steps[k].filter), nest)
            self.joined.append(tuple(sorted(names(steps[k].filter))))
            del steps[at]
            moved = True
        if not moved:
            return node
        return steps[0].child if len(steps) == 1 else Sequence(tuple(steps))

    def sets_constants(self, step: Filter) -> bool:
        """Whether a step is one statement in loops that carry nothing, and reads no element."""
        if len(names(step.filter)) != 1 or not self.is_written(step) or not isinstance(step.child, Band):
            return False
        (statement,) = (self.siblings.program.statements[name] for name in names(step.filter))
        return _is_plain(step.child) and not any(a.kind is AccessKind.READ for a in statement.accesses)

    def with_start(self, first: Filter, nest: Filter) -> Node | None:
        """A nest with a statement that sets constants where the source has it; None where its loops are others, or
        another statement of the nest would touch the same elements in another order."""
        source = self.loops[names(first.filter)[0]]
        around = [self.loops.get(name, ()) for name in names(nest.filter)]
        if not isinstance(nest.child, Band) or nest.child.members[0].coincident or not _is_as_made(nest.child):
            return None
        if not all(one and one[0] is source[0] for one in around):
            return None
        return self.started(nest.child, first, source, ())

    def started(self, node: Node, first: Filter, source: tuple[Band, ...], above: tuple[Member, ...]) -> Node | None:
        """The node with the statement in front of what was inside of the same loops of the source."""
        left = source[len(above) :]
        match node:
            case Band(members=members) if 0 < len(members) <= len(left):
                if not all(follows(m, loop) for m, loop in zip(members, left, strict=False)):
                    return None
                child = self.started(node.child, first, source, (*above, *members))
                joined = (_joined_by(m, loop, first.filter) for m, loop in zip(members, left, strict=False))
                return None if child is None else Band(tuple(joined), False, child)
            case _ if not left:
                ran = isl.UnionMap.from_union_pw_aff(above[-1].schedule).domain()
                steps = tuple(steps_of(ran, node))
                if any(self.siblings.leads(step, first, tuple(b.members[0] for b in source)) for step in steps):
                    return None
                return Sequence((Filter(first.filter, LEAF), *steps))
            case Sequence(children=steps):
                touching = [k for k, step in enumerate(steps) if self.siblings.related(first, step, ())]
                if not touching:
                    return None
                at, *others = touching
                if any(
                    self.siblings.leads(steps[k], first, tuple(b.members[0] for b in source[: len(above)]))
                    for k in others
                ):
                    return None
                child = self.started(steps[at].child, first, source, above)
                if child is None:
                    return None
                both = Filter(steps[at].filter.union(first.filter), child)
                return Sequence((*steps[:at], both, *steps[at + 1 :]))
        return None

    def goes_before(self, group: list[Filter], step: Filter, above: tuple[Member, ...]) -> bool:
        """Whether a step without loops needs nothing of the steps before it."""
        if has_loops(step.child) or not self.is_written(step):
            return False
        return not any(self.siblings.leads(one, step, above) for one in group)

    def is_written(self, step: Filter) -> bool:
        """Whether a step runs statements of the region alone: nobody knows what copies lead to."""
        return set(names(step.filter)) <= self.siblings.program.scop.statements.keys()

    def goes_behind(self, plain: Filter, step: Filter, above: tuple[Member, ...]) -> bool:
        """Whether a step without loops gives nothing to one behind it."""
        if has_loops(plain.child) or not self.is_written(plain):
            return False
        return not self.siblings.leads(plain, step, above)

    def source(self, step: Filter) -> int:
        """A number for the innermost loop of the source in which all statements of a step are; another for each step
        with others."""
        found = {id((self.siblings.sources or {}).get(name)) for name in names(step.filter)}
        return found.pop() if len(found) == 1 else id(step)

    def whole(self, steps: list[Filter], above: tuple[Member, ...]) -> Filter | None:
        """The innermost loop of the source of which some steps are the parts, with the loops around it that these have
        too, where one of the parts can run in vectors alone and the one loop takes no longer than all of them, or where
        these are written out."""
        ran = reduce(isl.UnionSet.union, (step.filter for step in steps))
        ran = ran.intersect(self.siblings.program.scop.domain)
        statements, chains = names(ran), [chain(step.child) for step in steps]
        depth = len(chains[0])
        roles = {m.role for one in chains for m in one}
        source = self.loops.get(statements[0], ())[-depth:]
        if not all(len(one) == depth and _is_plain(step.child) for one, step in zip(chains, steps, strict=True)):
            return None
        if len(source) < depth or any(len(band.members) != 1 for band in source):
            return None
        if Role.UNROLLED in roles and len(roles) > 1:
            return None
        few = not any(m.coincident for one in chains for m in one) and all(map(self.is_written_out, chains))
        if {one[-1].coincident for one in chains} != {True, False} and not few:
            return None
        program, loops = self.siblings.program, [band.members[0] for band in source]
        levels = list(zip(loops, zip(*chains, strict=True), strict=True))
        for member, now in levels:
            written = isl.UnionMap.from_union_pw_aff(member.schedule).intersect_domain(program.scop.domain)
            if not written.intersect_domain(ran).domain().is_equal(ran):
                return None
            if member is loops[-1] and not written.domain().is_equal(ran):
                return None
            parts = (isl.UnionMap.from_union_pw_aff(m.schedule) for m in now)
            if not reduce(isl.UnionMap.union, parts).intersect_domain(ran).is_equal(written.intersect_domain(ran)):
                return None
        flow = Outer(above).same_iteration(among(program.dependences.flow, ran))
        within = Outer(tuple(loops)).same_iteration(flow)
        if not few and (depth > 1 or not flow.is_subset(within)):
            threads = depth > 1 and any(len({m.coincident for m in now}) > 1 for _, now in levels)
            if not self.hides(steps, above, threads):
                return None
        self.joined.append(tuple(statements))
        node = source[-1].child
        for member, now in reversed(levels):
            free = member is not loops[-1] and all(m.coincident for m in now)
            node = Band((replace(member, coincident=free, role=now[0].role),), False, node)
        return Filter(ran, node)

    def is_written_out(self, loops: tuple[Member, ...]) -> bool:
        """Whether C compilers write some loops out, whatever the sizes: a window of few elements."""
        counts = [most_iterations(member, self.siblings.program) for member in loops]
        return None not in counts and prod(count or 0 for count in counts) <= UNROLLED

    def rows(self, node: Sequence, above: tuple[Member, ...]) -> Sequence:
        """The steps with neighbours that touch the same rows in one outer loop, if that is as it was written."""
        steps = list[Filter]()
        for step in node.children:
            place = len(steps) - 1
            while place > 0 and self.goes_behind(steps[place], step, above):
                place -= 1  # `total[t] = sum;` between two nests that were one
            shared = self.shared(steps[place], step, above) if steps else None
            if shared is None:
                steps.append(step)
            else:
                steps[place] = shared
        return Sequence(tuple(steps))

    def shared(self, one: Filter, other: Filter, above: tuple[Member, ...]) -> Filter | None:
        """Two nests in their outer loop, if that was one loop of the source, no other loop of theirs is better off
        innermost, both or neither of them has threads, and the caches keep what an iteration touches."""
        match one.child, other.child:
            case Band(members=(first, *_)), Band(members=(second, *_)):
                pass
            case _:
                return None
        program, bands = self.siblings.program, (one.child, other.child)
        if not all(_is_as_made(band) and self.runs_along_rows(band) for band in bands):
            return None
        depth = len(above)
        loops = [self.loops.get(names(step.filter)[0], ()) for step in (one, other)]
        if any(len(path) <= depth for path in loops) or loops[0][depth] is not loops[1][depth]:
            return None
        if not all(follows(m, loops[0][depth]) for m in (first, second)):
            return None
        touched = [{a.array for a in self.every_access(step)} for step in (one, other)]
        if touched[0].isdisjoint(touched[1]) or self.has_threads(one, above) != self.has_threads(other, above):
            return None
        member = joined_member(first, second)
        filters = [one.filter, other.filter]
        if self.has_threads(one, above) and self.leads_on(member, filters, above):
            return None
        sizes = sample_parameters(program)
        if not stays_in_caches(program, (*above, member), filters, sizes):
            return None
        steps = [s for band, ran in zip(bands, filters, strict=True) for s in steps_of(ran, _inside(band))]
        return Filter(one.filter.union(other.filter), Band((member,), False, Sequence(tuple(steps))))

    def leads_on(self, member: Member, steps: list[isl.UnionSet], above: tuple[Member, ...]) -> bool:
        """Whether an iteration of a loop around two steps needs of one of them what an earlier one did in the other."""
        every = self.siblings.program.dependences.all
        between = [every.intersect_domain(a).intersect_range(b) for a, b in (steps, reversed(steps))]
        carried = Outer(above).same_iteration(between[0].union(between[1]))
        return not carried.is_subset(Outer((member,)).same_iteration(carried))

    def runs_along_rows(self, band: Band) -> bool:
        """Whether no loop of a nest but the innermost ones runs along more rows than these."""
        inner = [n.members[-1] for n in walk(band) if isinstance(n, Band) and not has_loops(n.child)]
        most = strides_of(band.members[0], self.siblings.program).gain
        return all(m is not band.members[0] and strides_of(m, self.siblings.program).gain > most for m in inner)

    def has_threads(self, step: Filter, above: tuple[Member, ...]) -> bool:
        """Whether the outer loop of a nest may run in parallel: it carries nothing, or sums of whole numbers."""
        assert isinstance(step.child, Band)
        program, member = self.siblings.program, step.child.members[0]
        if member.coincident:
            return True
        statements = [program.statements[name] for name in names(step.filter)]
        summed = {
            array
            for s in statements
            for array, operator in reductions_of(s, program.scop.arrays).items()
            if any_order(operator, array, program.scop)
        }
        return carried_by(program, member, above) <= summed

    def every_access(self, step: Filter) -> list[Access]:
        """Those of a step to arrays."""
        accesses = (a for name in names(step.filter) for a in self.siblings.program.statements[name].accesses)
        return [a for a in accesses if a.relation.dim(isl.dim_type.out)]

    def hides(self, steps: list[Filter], above: tuple[Member, ...], threads: bool) -> bool:
        """Whether one of some loops waits for its own values, and a core does what all of them do in that time."""
        program = self.siblings.program
        ran = [name for step in steps for name in names(step.filter)]
        if any(isinstance(n, c.If | c.For | c.While) for name in ran for n in c.walk(program.statements[name].body)):
            return False
        if not any(self.siblings.waits(step.child) for step in steps):
            return False
        return hides(program, [one for step in steps for one in innermost_bands(step.child, above)], threads)

    def tell(self, before: Node, after: Node) -> None:
        """Keep the statements of each step that several were joined to."""
        if before is not after:
            old = {frozenset(names(s.filter)) for s in before.children} if isinstance(before, Sequence) else set()
            every = sorted(name for step in old for name in step)
            new = [names(s.filter) for s in after.children] if isinstance(after, Sequence) else [every]
            self.joined += [tuple(found) for found in new if frozenset(found) not in old]


def _is_as_made(band: Band) -> bool:
    """Whether there are only loops that no pass has given another role, and no buffers, in a nest."""
    nodes = list(walk(band))
    return not any(isinstance(n, Mark | Extension) for n in nodes) and all(
        m.role in (Role.LOOP, Role.POINT) for n in nodes if isinstance(n, Band) for m in n.members
    )


def _joined_by(member: Member, loop: Band, instances: isl.UnionSet) -> Member:
    """A loop that runs a statement as well, which has the same loop in the source."""
    added = loop.members[0].schedule.intersect_domain(instances)
    return replace(member, schedule=member.schedule.union_add(added))


def _inside(band: Band) -> Node:
    """What is left of a band below its first loop."""
    rest = band.members[1:]
    return replace(band, members=rest) if rest else band.child


def _is_plain(node: Node) -> bool:
    """Whether it is loops one in another, as they were made or all unrolled, around code without any."""
    loops = [m for n in walk(node) if isinstance(n, Band) for m in n.members]
    roles = {m.role for m in loops}
    return 0 < len(loops) == len(chain(node)) and (roles == {Role.UNROLLED} or roles <= {Role.LOOP, Role.POINT})


def _in_registers(node: Node) -> bool:
    """Whether sums in registers are below, whose loops are where they belong."""
    return any(m.role is Role.REGISTER for n in walk(node) if isinstance(n, Band) for m in n.members)


__all__ = ["rejoin_recurrences"]
