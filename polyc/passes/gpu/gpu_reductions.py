"""Reductions on a GPU: of whole numbers, and of others where the user allows another order (--reassociate)."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from math import prod

import islpy as isl

from polyc.analysis.expressions.records import TURNED, record_of, records_of
from polyc.analysis.expressions.reductions import reduction_of
from polyc.analysis.expressions.updates import any_order
from polyc.model.program import Program
from polyc.model.scop import AccessKind
from polyc.model.tree import (
    BLOCK_AXES,
    Band,
    Domain,
    Filter,
    Mark,
    Member,
    Node,
    Role,
    Sequence,
    instances_below,
    walk,
)
from polyc.nests.contractions import varies
from polyc.nests.nest import values
from polyc.nests.points import statements_of
from polyc.nests.strides import gain_of, iterations
from polyc.passes.gpu.coalesce import without_tiles
from polyc.passes.gpu.untile import at_once, joined, without_tile
from polyc.poly import greatest_of, in_name, least_of, maps, names, same_relation, union_of

STAGE = "reductions"
MOST_AXES = 2
"""Loops over results whose sums blocks share: the third axis counts the parts."""
STARTS = ("+", "*", "&", "|", "^")
"""Operators of which a part starts with a number, and not with the cell."""
LITTLE = 65536
"""Additions that are not worth a second kernel."""
FEW_ROWS = 1024
"""Rows with a record each, up to which blocks for each are faster than threads."""
FEW = 64
"""Iterations below which one thread adds up faster than a block shares out, and combines."""


def mark_gpu_reductions(program: Program) -> Program:
    """Have all threads of a block combine what only goes into one cell: sums, products, minima, maxima.

    rewrite:  for i s += A[i]                         -> all threads: part += A[i]; s += the sum of their parts
              parallel for i { s[i] = 0; for j … }    -> a block for each i; its threads share the loop over j
    tree:     band[-](i) -> mark(reduce) - band(i: reductions)
              band(tile: i) - band(i) - sequence(S0, band[-](j)) -> band(block.x: i) - sequence(S0, mark(reduce) - …)
              band(tile: j) - band(j) - sequence(S0, band[-](i)) -> band(j) - sequence(S0, mark(reduce) - band(i))
    requires: `--reassociate`, since the order of additions changes, but for whole numbers, which it leaves the same
    ensures:  what is below such a mark changes one cell for each iteration of the loops above it, by one operator
    """
    found = _Reductions(program)
    child = found.at(program.tree.child, program.tree.domain, ())
    return replace(found.program, tree=Domain(program.tree.domain, child))


class _Reductions:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.added: list[isl.UnionSet] = []
        """Instances that tiles added, and that the domain's filters let through now."""

    def at(self, node: Node, reaching: isl.UnionSet, above: tuple[Member, ...]) -> Node:
        """The subtree with its reductions marked; no loop above is parallel."""
        match node:
            case Sequence(children=steps):
                made: list[Filter] = []
                for one in steps:
                    step = self.step(one, reaching, above)
                    both = self.beside(made[-1], step, reaching, above) if made else None
                    made = [*made[:-1], both] if both is not None else [*made, step]
                return Sequence(tuple(made))
            case Mark(kind="group", child=Band(members=tile) as tiles) if tile[0].role is Role.TILE:
                found = without_tile(self.program, tiles, reaching)
                if found is None or (above and not found[1].is_empty()):
                    return node
                points, added = found
                listed = statements_of(points)
                changed: Node | None = self.rows(points, reaching.union(added), above)
                if changed is not None:
                    text = f"{', '.join(listed)}, a block for each result"
                    changed = replace(node, child=changed, sizes=(), text=text)
                elif not above and self.program.options.grid is None:
                    changed = self.columns(points, reaching.union(added))
                if changed is None:
                    return node
                self.added.append(added)
                self.program = without_tiles(self.program, listed, ())
                return changed
            case Band() as band if not any(m.coincident for n in walk(band) if isinstance(n, Band) for m in n.members):
                return self.sequential(band, reaching, above)
            case Band() as band if not band.coincident_prefix:
                return replace(band, child=self.at(band.child, reaching, above + band.members))
            case _:
                return node

    def step(self, step: Filter, reaching: isl.UnionSet, above: tuple[Member, ...]) -> Filter:
        before = len(self.added)
        child = self.at(step.child, reaching.intersect(step.filter), above)
        instances = step.filter
        for added in self.added[before:]:
            instances = instances.union(added)
        return replace(step, filter=instances, child=child)

    def sequential(self, band: Band, reaching: isl.UnionSet, above: tuple[Member, ...]) -> Node:
        """A nest without parallel loops: from the outermost loop on that carries nothing but reductions."""
        for k in range(len(band.members)):
            outer = above + band.members[:k]
            inner = joined(replace(band, members=band.members[k:]))
            marked = self.marked(inner, reaching, outer)
            if marked is not None:
                self.tell(inner, "all threads combine their own part of it")
                return replace(band, members=band.members[:k], child=marked) if k else marked
        return replace(band, child=self.at(band.child, reaching, above + band.members))

    def rows(self, points: Band, reaching: isl.UnionSet, above: tuple[Member, ...]) -> Band | None:
        """A tile's points without their tile: a block for each iteration of the parallel loops. None where threads are
        better off with a result each: where results, and not what is summed up, are consecutive in memory."""
        count = points.coincident_prefix
        parallel, rest = points.members[:count], points.members[count:]
        if not 0 < count <= len(BLOCK_AXES[:3]):
            return None
        outer = above + parallel
        inner = points.child if not rest else replace(points, members=rest)
        steps = inner.children if isinstance(inner, Sequence) else (Filter(reaching, inner),)
        if any(isinstance(n, Mark) for n in walk(inner)):
            return None
        found: list[Filter] = []
        summed: list[Band] = []
        for step in steps:
            here = reaching.intersect(step.filter)
            if not isinstance(step.child, Band) or step.child.coincident_prefix:
                found.append(step)  # one thread runs it, or all threads share its parallel loops (`mapping`)
                continue
            band = joined(step.child)
            marked = self.marked(band, here, outer)
            if marked is None or self.gain(band.members, here) <= self.gain(parallel, here):
                return None
            if any(o in TURNED for o, _ in _reductions(marked)) and not self.is_little(parallel, FEW_ROWS):
                return None
            if len(parallel) > 1 and self.meets_again(band.members, parallel, here):
                return None
            summed.append(band)
            found.append(replace(step, child=marked))
        if not summed:
            return None
        for band in summed:
            each = ", ".join(member.name for member in parallel)
            self.tell(band, f"the threads of a block share it, one block for each {each}")
        axes = BLOCK_AXES[:count]
        members = tuple(
            replace(m, role=Role.LOOP, mapped=axis, parallel=True)
            for m, axis in zip(parallel, reversed(axes), strict=True)
        )
        child = Sequence(tuple(found)) if isinstance(inner, Sequence) else found[0].child
        return replace(points, members=members, child=child)

    def columns(self, points: Band, reaching: isl.UnionSet) -> Node | None:
        """A tile's points without their tile, for sums whose results are consecutive in memory: nests of a thread for
        each result, in which blocks share the sums. None where that gains nothing, or cannot be.

        rewrite:  parallel for j { s = 0; for i s += A[i][j]; for i B[i][j] -= s; }
                  -> parallel for j { s = 0; for i s += A[i][j]; } parallel for j for i B[i][j] -= s
        """
        count = points.coincident_prefix
        parallel, rest = points.members[:count], points.members[count:]
        if not 0 < count <= MOST_AXES:
            return None
        inner = points.child if not rest else replace(points, members=rest)
        steps = inner.children if isinstance(inner, Sequence) else (Filter(reaching, inner),)
        if any(isinstance(n, Mark) for n in walk(inner)):
            return None
        nests: list[list[Filter]] = [[]]
        summed: list[Band] = []
        for step in steps:
            here = reaching.intersect(step.filter)
            before = nests[-1][-1] if nests[-1] else None
            if not isinstance(step.child, Band):
                nests += [[]] if any(_is_sum(s) and self.meet(s, step) for s in nests[-1]) else []
                nests[-1].append(step)
            elif step.child.coincident_prefix:
                nests += [[step], []]
            elif (both := self.summed(before, step, reaching, parallel)) is not None and _starts(both):
                nests[-1][-1] = both
            else:
                band = joined(step.child)
                marked = self.marked(band, here, parallel)
                if marked is None or self.gain(band.members, here) >= self.gain(parallel, here):
                    return None
                if len(parallel) > 1 and self.meets_again(band.members, parallel, here):
                    return None
                summed.append(band)
                sum_ = replace(step, child=marked)
                if any(_is_sum(s) or self.meet(sum_, s) for s in nests[-1]):
                    nests.append([])
                nests[-1].append(sum_)
        if not summed or self.is_little((*parallel, *summed[0].members), LITTLE):
            return None
        members = tuple(replace(m, role=Role.LOOP) for m in parallel)
        made = [
            Filter(reduce(isl.UnionSet.union, (s.filter for s in nest)), _nest(members, nest)) for nest in nests if nest
        ]
        if not self.keep_private([step.filter.intersect(reaching) for step in made]):
            return None
        for band in summed:
            self.tell(band, "blocks sum up parts of it, a thread for each result")
        return Sequence(tuple(made))

    def summed(
        self, before: Filter | None, step: Filter, reaching: isl.UnionSet, outer: tuple[Member, ...]
    ) -> Filter | None:
        """Two reductions that follow each other as one, where their loops are the same; None for others."""
        if before is None or not isinstance(before.child, Mark):
            return None
        return self.in_one(replace(before, child=before.child.child), step, reaching, outer)

    def in_one(self, one: Filter, two: Filter, reaching: isl.UnionSet, outer: tuple[Member, ...]) -> Filter | None:
        both = at_once(one, two)
        if both is None or not isinstance(both.child, Band):
            return None
        made = self.marked(both.child, reaching.intersect(both.filter), outer)
        return None if made is None else replace(both, child=made)

    def beside(self, before: Filter, step: Filter, reaching: isl.UnionSet, above: tuple[Member, ...]) -> Filter | None:
        """A reduction in the loops of the step before it: of another one, or of what makes the values that it combines.

        rewrite:  parallel for i, j B[i][j] = f(A); for i, j s += B[i][j] * A[i][j];
                  -> for i, j { B[i][j] = f(A); s += B[i][j] * A[i][j]; }
        """
        if not (isinstance(step.child, Mark) and step.child.kind == "reduce"):
            return None
        summed = replace(step, child=step.child.child)
        match before.child:
            case Mark(kind="reduce", child=band):
                return self.in_one(replace(before, child=band), summed, reaching, above)
            case Mark(kind="group", child=Band() as tiles) if tiles.members[0].role is Role.TILE:
                found = without_tile(self.program, tiles, reaching.intersect(before.filter))
                if found is None or not found[1].is_empty() or not self.feeds(before, step):
                    return None
                points = joined(found[0])
                if not all(member.coincident for member in points.members):
                    return None
                both = self.in_one(replace(before, child=points), summed, reaching, above)
                if both is not None:
                    self.program = without_tiles(self.program, statements_of(points), ())
                return both
        return None

    def feeds(self, before: Filter, step: Filter) -> bool:
        """Whether a step reads what another one makes."""
        one, two = ([a for n in names(s.filter) for a in self.program.statements[n].accesses] for s in (before, step))
        made = {a.array for a in one if a.kind is not AccessKind.READ}
        return any(a.array in made for a in two if a.kind is AccessKind.READ)

    def meet(self, summed: Filter, other: Filter) -> bool:
        """Whether a step beside a reduction touches what that has, but for cells whose parts do not start with them."""
        cells = {array for operator, array in _reductions(summed.child) if operator in STARTS}
        one, two = ([a for n in names(s.filter) for a in self.program.statements[n].accesses] for s in (summed, other))
        return any(
            a.array == b.array and a.array not in cells and AccessKind.READ not in {a.kind} & {b.kind}
            for a in one
            for b in two
        )

    def is_little(self, members: tuple[Member, ...], most: int) -> bool:
        """Whether some loops are known to have no more iterations in all."""
        known = [iterations(member, self.program) for member in members]
        return None not in known and prod(n or 1 for n in known) <= most

    def keep_private(self, nests: list[isl.UnionSet]) -> bool:
        """Whether no value of a private array goes from one nest to another one."""
        flows = self.program.dependences.flow_by_array
        private = [flows[array] for array in self.program.scop.privatizable if array in flows]
        return all(
            flow.intersect_domain(nest).is_equal(flow.intersect_domain(nest).intersect_range(nest))
            for flow in private
            for nest in nests
        )

    def meets_again(self, summed: tuple[Member, ...], parallel: tuple[Member, ...], here: isl.UnionSet) -> bool:
        """Whether blocks for single results would all read what some tiles of results share: `(a[i][k] - b[j][k])`."""
        for name in names(here):
            statement = self.program.statements[name]
            for access in statement.accesses:
                if access.kind is not AccessKind.READ or not access.exact or not access.relation.dim(isl.dim_type.out):
                    continue
                if any(varies(access, member, statement.domain) for member in summed) and not all(
                    varies(access, member, statement.domain) for member in parallel
                ):
                    return True
        return False

    def gain(self, members: tuple[Member, ...], here: isl.UnionSet) -> float:
        """How well what is added up likes one of the loops on neighbouring threads."""
        added = (replace(m, schedule=m.schedule.intersect_domain(here)) for m in members)
        return max(gain_of(member, self.program) for member in added)

    def marked(self, band: Band, reaching: isl.UnionSet, outer: tuple[Member, ...]) -> Mark | None:
        """The band below a mark, if its loops carry nothing but reductions, and are long enough to be shared out."""
        here = reaching.intersect(instances_below(Filter(band.members[0].schedule.domain(), band)))
        reductions = self.reductions(band, here, outer)
        if not reductions or self.is_short(band, here, outer):
            return None
        if any(isinstance(n, Band | Mark) for n in walk(band.child)):
            return None
        members = tuple(replace(m, role=Role.LOOP, parallel=True, reductions=reductions) for m in band.members)
        return Mark("reduce", replace(band, members=members))

    def reductions(
        self, band: Band, here: isl.UnionSet, outer: tuple[Member, ...]
    ) -> tuple[tuple[str, str], ...] | None:
        """(operator, array) of what the loops combine, None where they carry something else as well."""
        operators: dict[str, set[str]] = {}
        for name in names(here):
            found = reduction_of(self.program.statements[name], self.program.scop.arrays)
            if found is not None and self.may_reorder(*found):
                operators.setdefault(found[1], set()).add(found[0])
        before = values(outer, here)
        after = values(outer + band.members, here)
        records = self.records(after, here)
        answer: list[tuple[str, str]] = []
        for array in sorted({a.array for name in names(here) for a in self.program.statements[name].accesses}):
            every, writes = self.touched(array, here, False), self.touched(array, here, True)
            if writes.is_empty():
                continue
            only = operators.get(array, set())
            users = [n for n in names(here) if any(a.array == array for a in self.program.statements[n].accesses)]
            arrays = self.program.scop.arrays
            reduces = all((reduction_of(self.program.statements[n], arrays) or ("", ""))[1] == array for n in users)
            if len(only) == 1 and reduces and before.reverse().apply_range(every).is_single_valued():
                answer.append((next(iter(only)), array))
                continue
            if array in records and before.reverse().apply_range(every).is_single_valued():
                answer.append((records[array], array))
                continue
            if not self.is_private(array, after, here) and _carried(writes, every, before, after, self.program):
                return None
        return tuple(answer)

    def records(self, after: isl.UnionMap, here: isl.UnionSet) -> dict[str, str]:
        """The operators of the arrays of records that the loops keep, if each iteration comes to all of them."""
        found = records_of((self.program.statements[name] for name in names(here)), self.program.scop.arrays)
        times = {in_name(m): m.set_tuple_name(isl.dim_type.in_, "") for m in maps(after)}
        return {
            array: operator
            for array, (operator, statement) in found.items()
            if times[statement.name].is_injective()
            and same_relation(times[statement.name], times[found[record_of(array, operator)][1].name])
        }

    def may_reorder(self, operator: str, array: str) -> bool:
        """Whether the operands may be combined in any order."""
        return self.program.options.reassociate or any_order(operator, array, self.program.scop)

    def touched(self, array: str, here: isl.UnionSet, written: bool) -> isl.UnionMap:
        pieces = [
            access.relation
            for name in names(here)
            for access in self.program.statements[name].accesses
            if access.array == array and not (written and access.kind is AccessKind.READ)
        ]
        start = isl.UnionMap.empty(self.program.scop.domain.get_space().params())
        return union_of(pieces, start).intersect_domain(here)

    def is_private(self, array: str, after: isl.UnionMap, here: isl.UnionSet) -> bool:
        """Whether each iteration can have a copy of its own (`privatize`, `contract`)."""
        flow = self.program.dependences.flow_by_array.get(array)
        if array not in self.program.scop.privatizable or flow is None:
            return False
        if not flow.intersect_domain(here).subtract(flow.intersect_range(here)).is_empty():
            return False
        inside = flow.intersect_domain(here)
        return inside.is_subset(after.apply_range(after.reverse()))

    def is_short(self, band: Band, here: isl.UnionSet, outer: tuple[Member, ...]) -> bool:
        """Whether the loops have few iterations, whatever the sizes are."""
        del outer
        most = 1
        for member in band.members:
            reached = values((member,), here).range()
            one = isl.Set.from_union_set(reached).intersect_params(self.program.scop.known)
            if one.is_empty():
                return True
            low, high = least_of(one, 0), greatest_of(one, 0)
            if not (low.is_int() and high.is_int()):
                return False
            most *= high.to_python() - low.to_python() + 1
        return most < FEW

    def tell(self, band: Band, how: str) -> None:
        listed = statements_of(band)
        what = ", ".join(m.name for m in band.members)
        self.program = self.program.remark("reduction", STAGE, f"loop {what} is a reduction: {how}", listed)


def _starts(step: Filter) -> bool:
    """Whether the parts of all that a step combines start with numbers."""
    return all(operator in STARTS for operator, _ in _reductions(step.child))


def _is_sum(step: Filter) -> bool:
    return isinstance(step.child, Mark)


def _reductions(mark: Node) -> tuple[tuple[str, str], ...]:
    assert isinstance(mark, Mark)
    assert isinstance(mark.child, Band)
    return mark.child.members[0].reductions


def _nest(members: tuple[Member, ...], steps: list[Filter]) -> Band:
    """The steps below some loops, of which the only one's own go on where they are parallel."""
    if len(steps) > 1:
        return Band(members, False, Sequence(tuple(steps)))
    child = steps[0].child
    if isinstance(child, Band):
        own = tuple(replace(m, role=Role.LOOP) for m in child.members)
        return Band((*members, *own), False, child.child)
    return Band(members, False, child)


def _carried(
    writes: isl.UnionMap, every: isl.UnionMap, before: isl.UnionMap, after: isl.UnionMap, program: Program
) -> bool:
    """Whether two instances that touch a cell, one writing, agree in the loops above but not in the band's."""
    pairs = writes.apply_range(every.reverse())
    outside = before.apply_range(before.reverse())
    inside = after.apply_range(after.reverse())
    return not pairs.intersect(outside).subtract(inside).intersect_params(program.scop.known).is_empty()
