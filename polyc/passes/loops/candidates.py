"""What speaks for a loop of a nest as the innermost one, in strips whose iterations run beside each other, and what
against it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import groupby
from math import inf, prod

import islpy as isl

from polyc.analysis.expressions.straight import unconditional
from polyc.analysis.extents import on_parameters
from polyc.analysis.readable import is_chosen
from polyc.cost.peeling import is_peeled
from polyc.cost.recurrences import innermost_bands, looks_up, rows_of, vectors_in_order
from polyc.cost.rows_at_once import involves, pieces_of, plain_accesses
from polyc.cost.time import CHEAP_CALLS, SET_ERRNO, operations
from polyc.model import ctree as c
from polyc.model.program import Program
from polyc.model.scop import Access, AccessKind, Array, Ending, Statement
from polyc.model.tree import Band, Filter, Member, Node, Sequence, walk
from polyc.nests.nest import Outer, has_loops
from polyc.nests.strides import (
    SHUFFLED,
    UNROLLED,
    Strides,
    dimension_of,
    distance,
    is_told_inside,
    iterations,
    iterations_below,
    last_stored,
    leads_far,
    most_iterations,
    step_of,
    strides_of,
    subscript_of,
)
from polyc.nests.sums import sums_in_vectors
from polyc.passes.loops.columns import Column, with_columns
from polyc.poly import among, constant_of, greatest_of, least_of, names, pinned, set_name, sets, value_on
from polyc.records import dataclass, replace

NARROW = 4
"""Iterations of which no vector is made."""
FEW = 16
"""Iterations of a sum of which the C compiler makes vectors: fewer hardly fill one."""
GATHERED_BYTES = 4
"""Of the smallest elements that processors gather."""
ROW = 1024
"""Bytes from which on a row is long: of shorter ones, those of a strip fall on other places of a cache."""
OVERLAPPED = 128
"""Steps of a recurrence that are in flight at once with those of the next one: of a few instructions each, of some
hundreds that a core keeps."""
CHEAP = CHEAP_CALLS | SET_ERRNO
"""Functions of which C compilers make vectors, once nobody waits for errno."""
ENOUGH = 16
"""Operations of an iteration for which it is worth a loop of its own, whose results the next one loads."""


def bytes_apart(access: Access, position: int, array: Array) -> int:
    """How many bytes lie between what neighbours along a dimension of a statement access; 0 where that is not known."""
    subscript = subscript_of(access, position)
    if subscript is None or subscript == array.rank - 1:
        return distance(access, position) * array.element.size_bytes
    inner = [None if e is None else constant_of(on_parameters(e)) for e in array.extents[subscript + 1 :]]
    return prod(e or 0 for e in inner) * array.element.size_bytes


def nodes_of(members: list[Member], program: Program) -> Iterator[c.Node]:
    """All that stands in the text of the statements in some loops."""
    for member in members:
        for name in names(member.schedule.domain()):
            yield from c.walk(program.statements[name].body)


def _long_loops(statement: Statement) -> int:
    """How many loops of a statement have more than a few iterations."""
    count = 0
    for position in range(len(statement.loops)):
        low, high = least_of(statement.domain, position), greatest_of(statement.domain, position)
        short = low.is_int() and high.is_int() and high.to_python() - low.to_python() < UNROLLED
        count += not short
    return count


def _leads_from_row_to_row(access: Access, position: int) -> bool:
    """Whether a dimension of a statement says in which row an access is, and data where in that row."""
    if not access.loose:
        return False
    subscript = subscript_of(replace(access, relation=pinned(access.relation, access.loose)), position)
    return subscript is not None and subscript < access.relation.dim(isl.dim_type.out) - 1


def _stays(loop: str | None, condition: c.Expr) -> bool:
    """Whether a condition is the same in all iterations of a loop, and asks no data: C compilers take it out of the
    loop."""
    return loop is not None and not any(isinstance(n, c.ArrayRef) or n == c.Name(loop) for n in c.walk(condition))


@dataclass(frozen=True, slots=True)
class Candidates:
    """The questions about loops of a program."""

    program: Program

    def chosen(
        self,
        band: Band,
        above: tuple[Member, ...],
        inner: list[Member],
        columns: dict[int, tuple[Column, ...]],
        spread: frozenset[str],
    ) -> tuple[Member | None, int]:
        """The loop that goes innermost, and how many rows at once it makes where it goes from row to row; None where
        the loops inside are as good.

        columns: the loops that might, with the rows that would be copied
        """
        chained = looks_up(self.program, inner, spread)
        candidates = [
            m
            for m in band.members
            if id(m) in columns
            and self.steps_by_one(m)
            and not self.is_narrow(m)
            and not is_told_inside(m, self.program)
            and (chained or not self.still_below_branches(m))
            and not self.clamps_bytes(m)
        ]
        innermost = (n.members[-1] for n in walk(band.child) if isinstance(n, Band) and not has_loops(n.child))
        if all(sums_in_vectors(self.program, m) and not self.is_few(m) for m in innermost):
            return None, 0
        arrays = frozenset(name for name in spread if self.program.scop.arrays[name].rank)
        strides = {id(m): strides_of(m, self.program, arrays if self.keeps(m, arrays) else frozenset()) for m in inner}
        for m in candidates:
            strides[id(m)] = strides_of(m, with_columns(self.program, columns[id(m)]), arrays)
        best = max(reversed(candidates), key=lambda m: strides[id(m)].gain, default=None)
        if best is None:
            return None, 0
        along_lines = all(strides[id(m)].far < strides[id(best)].far for m in inner)
        if strides[id(best)].gain <= 0 or along_lines:
            if self.stays_in_rows(best):
                return best, 0
            around = [n.members for n in walk(band.child) if isinstance(n, Band) and has_loops(n.child)]
            if any(m.coincident and strides[id(m)].gain > 0 for members in around for m in members):
                return None, 0  # a loop inside may go innermost
            rows = rows_of(self.program, band, isinstance(band.child, Sequence))
            if rows is None or self.overlaps(band.child) or self.runs_along_rows_inside(band.child, strides):
                return None, 0
            return rows.along, rows.count
        better = (strides[id(m)].gain >= strides[id(best)].gain for m in inner if m.coincident)
        if any(better) or self.are_vectors(list(innermost_bands(band.child, (*above, *band.members)))):
            return None, 0
        return best, 0

    @staticmethod
    def runs_along_rows_inside(node: Node, strides: dict[int, Strides]) -> bool:
        """Whether a loop inside that has others below may go innermost itself, and runs along rows."""
        bands = [n for n in walk(node) if isinstance(n, Band)]
        outer = (m for n in bands for m in (n.members if has_loops(n.child) else n.members[:-1]))
        return any(m.coincident and strides[id(m)].gain > 0 and not strides[id(m)].far for m in outer)

    def are_vectors(self, below: list[tuple[Band, tuple[Member, ...]]]) -> bool:
        """Whether C compilers make vectors of the deepest loops of a nest as they stand: each runs along rows, and no
        iteration of it waits for the one before."""
        deepest = max((len(around) for _, around in below), default=0)
        for one, around in below:
            last = one.members[-1]
            strides = strides_of(last, self.program)
            along = strides.consecutive and not strides.far and not self.is_few(last)
            if len(around) == deepest and not (
                along and (last.coincident or vectors_in_order(self.program, one, around))
            ):
                return False
        return bool(below)

    def is_few(self, member: Member) -> bool:
        """Whether a loop is known to have so few iterations that a vector of them is hardly full once."""
        count = iterations(member, self.program)
        return count is not None and count < FEW

    def is_narrow(self, member: Member) -> bool:
        """Whether a loop fills no vector, whatever the sizes."""
        count = most_iterations(member, self.program)
        return count is not None and count <= NARROW

    def along(self, member: Member) -> Iterator[tuple[Statement, int | None]]:
        """The statements that a loop runs through, and the dimension of theirs that it follows, if it is one."""
        for piece in sets(member.schedule.domain()):
            position = dimension_of(value_on(member.schedule, piece.get_space()))
            yield self.program.statements[set_name(piece)], position

    def goes_from_row_to_row(self, member: Member, columns: tuple[Column, ...]) -> bool:
        """Whether a step of a loop leads to another long row of an array, in a statement that runs as often as any, but
        for loops of few iterations."""
        moved = {one for column in columns for one in column.buffer.accesses} | {
            (name, a.ref)
            for name in names(member.schedule.domain())
            for a in self.program.statements[name].accesses
            if a.array in self.program.scop.privatizable
        }
        below = list(self.along(member))
        deep = {statement.name: _long_loops(statement) for statement, _ in below}
        for statement, position in below:
            if deep[statement.name] < max(deep.values()):
                continue  # it runs once for many of the others
            for access in statement.accesses:
                if position is None or (statement.name, access.ref) in moved:
                    continue
                if leads_far(statement, access, position) or _leads_from_row_to_row(access, position):
                    return True
                if step_of(access, position, last_stored(self.program, statement.name, access)) != 2:
                    continue
                if not 0 < bytes_apart(access, position, self.program.scop.arrays[access.array]) < ROW:
                    return True
        return False

    def stays_in_rows(self, member: Member) -> bool:
        """Whether a loop moves all that is no array of its iterations' own by a few elements, `x[2 * i + k]`: whole
        vectors are loaded, and shuffled."""
        moved = False
        for statement, position in self.along(member):
            for access in statement.accesses:
                if access.array in self.program.scop.privatizable:
                    continue
                if position is None or access.loose or distance(access, position) > SHUFFLED:
                    return False
                moved = moved or distance(access, position) > 0
        return moved

    def steps_by_one(self, member: Member) -> bool:
        """Whether neighbouring iterations of a loop are neighbours in memory: a block's corner is no column."""
        values = isl.UnionMap.from_union_pw_aff(member.schedule).intersect_domain(self.program.scop.domain).range()
        return not values.is_empty() and int(isl.Set.from_union_set(values).get_stride(0).to_python()) == 1

    def keeps(self, member: Member, arrays: frozenset[str]) -> bool:
        """Whether what a loop's iterations leave in some private arrays is read in the same iteration only."""
        inside = (among(self.flow_of(a), member.schedule.domain()) for a in arrays)
        return all(flow.is_subset(Outer((member,)).same_iteration(flow)) for flow in inside)

    def calls(self, inner: list[Member]) -> bool:
        """Whether loops call functions, so that compilers make no vectors of the loop around them either."""
        return self.holds(inner, c.Call)

    def takes_turns(self, member: Member, inner: list[Member]) -> bool:
        """Whether inner loops call functions, each iteration of a loop with values of its own, and touch no memory
        along that loop: no compiler makes vectors of it, and nothing waits as long as a call takes."""
        below = {name for one in inner for name in names(one.schedule.domain())}
        inside = [(s, position) for s, position in self.along(member) if s.name in below]
        own, private = set[str](), self.program.scop.privatizable
        for statement, position in inside:
            if position is None or any(
                step_of(a, position) != 0 for a in statement.accesses if a.array not in private and a.exact
            ):
                return False
            if any(node == c.Name(statement.loops[position]) for node in c.walk(statement.body)):
                own.update(a.array for a in statement.accesses if a.kind is not AccessKind.READ)
        calls = (
            (node, statement.loops[position])
            for statement, position in inside
            if position is not None
            for node in c.walk(statement.body)
            if isinstance(node, c.Call) and node.function not in CHEAP
        )
        return any(
            part == c.Name(loop) or (isinstance(part, c.ArrayRef) and part.array in own)
            for call, loop in calls
            for part in c.walk(call)
        )

    def calls_below_branches(self, inner: list[Member]) -> bool:
        """Whether inner loops call functions where the data say so: no compiler makes vectors of that, and a branch
        that is seldom taken costs a row on its own less. Of loops that flags end only the deepest ones count, and those
        functions of which there are vectors."""
        below = [self.program.statements[name] for name in {n for one in inner for n in names(one.schedule.domain())}]
        below = [statement for statement in below if not is_chosen(self.program, statement)]
        ended = {name for ending in self.program.scop.endings for name in ending.statements}
        deepest = max((len(statement.loops) for statement in below), default=0)
        for statement in below:
            if ended and len(statement.loops) < deepest:
                continue
            branches = [node for node in c.walk(statement.body) if isinstance(node, c.If)]
            called = {n.function for branch in branches for n in c.walk(branch) if isinstance(n, c.Call)}
            if called - (CHEAP if statement.name in ended else frozenset()):
                return True
        return False

    def still_below_branches(self, member: Member) -> bool:
        """Whether what data decide on loads an element that stays where it is while a loop goes on: C compilers make no
        vectors of that loop then, since there may be no such element where the condition does not hold."""
        for statement, position in self.along(member):
            if is_chosen(self.program, statement):
                continue
            along = None if position is None else statement.loops[position]
            settled = partial(self.is_settled, statement.name, along)
            certain = {node.ref for node in unconditional(statement.body, True, settled)}
            sure = [a for a in statement.accesses if a.ref in certain]
            for access in statement.accesses:
                if access.ref in certain or access.kind is not AccessKind.READ or position is None:
                    continue
                rank = 0 if access.array in self.program.scop.privatizable else access.relation.dim(isl.dim_type.out)
                known = any(a.array == access.array and a.relation.is_equal(access.relation) for a in sure)
                if rank and not known and access.exact and step_of(access, position) == 0:
                    return True
        return False

    def is_settled(self, name: str, loop: str | None, condition: c.Expr) -> bool:
        """Whether a condition is the same in all iterations of a loop, or the flag that ends a strip: what each of its
        iterations loads that goes on is loaded once before them (`codegen/blocks/ending_block.py`), as far as no
        statement before it in the loop has changed the flag."""
        flags = {ending.flag for ending in self.program.scop.endings if self.begins(name, ending)}
        return _stays(loop, condition) or (isinstance(condition, c.ArrayRef) and condition.array in flags)

    def begins(self, name: str, ending: Ending) -> bool:
        """Whether no statement of a loop changes its flag before this one may."""
        return name in ending.statements and (not self.setting(ending) or ending.statements == {name})

    def setting(self, ending: Ending) -> bool:
        """Whether a loop changes its flag."""
        accesses = (a for name in ending.statements for a in self.program.statements[name].accesses)
        return any(a.array == ending.flag and a.kind is not AccessKind.READ for a in accesses)

    def clamps_bytes(self, member: Member) -> bool:
        """Whether what is read along a loop is held at an edge, `a[min(x + dx, n - 1)]`, and has fewer than 4 bytes: no
        processor gathers such elements, so that a vector would be put together one by one."""
        for statement, position in self.along(member):
            for access in plain_accesses(statement):
                size = self.program.scop.arrays[access.array].element.size_bytes
                if access.kind is not AccessKind.READ or not 0 < size < GATHERED_BYTES:
                    continue
                moving = [involves(multi, position) for multi, _ in pieces_of(access)]
                if any(moving) and not all(moving):
                    return True
        return False

    def branches(self, band: Band, inner: list[Member]) -> bool:
        """Whether short loops of constant length choose between values: once they are unrolled, there are more branches
        than compilers make selects of, unless a pragma asks for vectors of the loop around them."""
        return self.holds(inner, c.Ternary) and is_peeled(band.child, self.program, band.members)

    def end(self, inner: list[Member]) -> bool:
        """Whether data end inner loops before their last iteration. A branch around short loops is no such."""
        endings = [ending for ending in self.program.scop.endings if self.setting(ending)]
        ended = {name for ending in endings for name in ending.statements}
        return any(ended & set(names(one.schedule.domain())) and not self.is_few(one) for one in inner)

    def end_soon(self, inner: list[Member]) -> bool:
        """Whether data end innermost loops of a few iterations: as written, most of these do not even come to the last
        one, and a strip runs for those that do."""
        for ending in self.program.scop.endings:
            depths = {len(self.program.statements[name].loops) for name in ending.statements}
            if depths == {ending.depth + 1} and self.setting(ending):
                own = (one for one in inner if set(names(one.schedule.domain())) <= ending.statements)
                if any(self.is_few(one) for one in own):
                    return True
        return False

    def holds(self, inner: list[Member], kind: type[c.Call] | type[c.Ternary]) -> bool:
        """Whether the text of a statement in some loops has a node of a kind."""
        return any(isinstance(node, kind) for node in nodes_of(inner, self.program))

    def overlaps(self, node: Node) -> bool:
        """Whether the recurrences of the deepest loops are so short that a core is at the next one while it waits for
        the last."""
        steps, _, _ = self.waiting(node)
        return steps is not None and steps <= OVERLAPPED

    def waiting(self, node: Node) -> tuple[int | None, bool, int]:
        """How many steps wait one for the other in the deepest loops of some code, if that is known; whether a loop
        below starts several such recurrences, which do not wait for each other; and how deep these loops are."""
        match node:
            case Band(members=members, child=child):
                steps, apart, depth = self.waiting(child)
                for member in reversed(members):
                    count = iterations(member, self.program)
                    if member.coincident or not self.carries(member):
                        apart = apart or count is None or count >= NARROW
                    elif not apart:
                        steps = None if steps is None or count is None else steps * max(count, 1)
                return steps, apart, depth + len(members)
            case Sequence(children=inside):
                every = [self.waiting(step.child) for step in inside]
                return max(every, key=lambda found: (found[2], inf if found[0] is None else found[0]))
            case _:
                return 1, False, 0

    def carries(self, member: Member) -> bool:
        """Whether values go from one iteration of a loop to another."""
        flow = among(self.program.dependences.flow, member.schedule.domain())
        return not flow.is_subset(Outer((member,)).same_iteration(flow))

    def calls_apart(self, steps: list[Filter]) -> list[list[Filter]]:
        """Steps without loops, with those that C compilers make vectors of apart from those that call functions or
        branch, if the former do enough for loops of their own."""
        runs = [(plain, list(run)) for plain, run in groupby(steps, self.is_plain)]
        parts: list[tuple[bool, list[Filter]]] = []
        for plain, run in runs:
            apart = plain and sum(map(self.work, run)) >= ENOUGH
            if parts and not apart and not parts[-1][0]:
                parts[-1][1].extend(run)
            else:
                parts.append((apart, run))
        first = parts[0]
        if len(parts) > 1 and not first[0] and all(map(self.is_plain, first[1])):  # initial values of what follows
            parts[:2] = [(True, first[1] + parts[1][1])]
        return [run for _, run in parts]

    def has_parts(self, node: Node) -> bool:
        """Whether what a loop runs has parts that C compilers make vectors of, and others."""
        return isinstance(node, Sequence) and len(self.calls_apart(list(node.children))) > 1

    def is_plain(self, step: Filter) -> bool:
        """Whether a step neither branches nor calls a function of which C compilers make no vectors."""
        for statement in (self.program.statements[name] for name in names(step.filter)):
            nodes = list(c.walk(statement.body))
            if any(isinstance(n, c.Call) and n.function not in CHEAP for n in nodes):
                return False
            if any(isinstance(n, c.If) for n in nodes) and not is_chosen(self.program, statement):
                return False
        return True

    def work(self, step: Filter) -> float:
        """The operations of an iteration of a loop around a step."""
        each = sum(operations(self.program.statements[name], subscripts=False) for name in names(step.filter))
        return iterations_below(step.child, self.program) * each

    def flow_of(self, array: str) -> isl.UnionMap:
        return self.program.dependences.flow_by_array[array].intersect_params(self.program.scop.known)
