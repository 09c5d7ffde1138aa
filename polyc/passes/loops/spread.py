"""Recurrences beside each other: what is private, with a place for each iteration of a loop, which goes innermost."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import groupby
from math import gcd, inf, prod

import islpy as isl

from polyc.analysis.expressions.straight import unconditional
from polyc.analysis.extents import elements, on_parameters
from polyc.analysis.readable import is_chosen
from polyc.cost.peeling import is_peeled
from polyc.cost.recurrences import MOST, innermost_bands, looks_up, rows_of, vectors_in_order, waits_for_nothing
from polyc.cost.rows_at_once import involves, pieces_of, plain_accesses
from polyc.cost.time import CHEAP_CALLS, SET_ERRNO, operations
from polyc.model import ctree as c
from polyc.model.program import Program
from polyc.model.scop import Access, AccessKind, Array, Statement
from polyc.model.tree import Band, Domain, Extension, Filter, Mark, Member, Node, Role, Sequence, walk
from polyc.nests.nest import Outer, has_loops, unrolled
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
    makes_no_vectors,
    most_iterations,
    step_of,
    strides_of,
    subscript_of,
)
from polyc.nests.sums import LINE_BYTES, streams, sums_in_vectors
from polyc.nests.tiling import tile_members
from polyc.passes.buffers.places import place_for_each
from polyc.passes.loops.columns import Column, below_columns, columns_of, with_columns
from polyc.passes.loops.siblings import Siblings
from polyc.passes.loops.strips import Strips
from polyc.passes.loops.vectorize import Parts, sink, together
from polyc.poly import affine_of, among, constant_of, greatest_of, least_of, names, pinned, set_name, sets, value_on
from polyc.records import dataclass, replace

STAGE = "spread"
LINES = 4
"""Of a cache, that a row of a strip has: one vector operation after the other does not wait for its own recurrence."""
KEPT = 1 << 18
"""Bytes of the private arrays of a strip: they stay in a second-level cache. Of the narrowest strips twice as many."""
NARROW = 4
"""Iterations of which no vector is made."""
FEW = 16
"""Iterations of a sum of which the C compiler makes vectors: fewer hardly fill one."""
NEAR = 8192
"""Bytes of them up to which a strip gets wider: a nearest cache has room for them beside what is read."""
WIDE = 128
"""Iterations of such a strip."""
APART = 8
"""Iterations of a strip of which each has lines of its own: of rows a power of two apart, a cache keeps no more."""
GATHERED_BYTES = 4
"""Of the smallest elements that processors gather."""
ROW = 1024
"""Bytes from which on a row is long: of shorter ones, those of a strip fall on other places of a cache."""
WIDEST = 512
"""Of a strip that the nest has already: its scalars stay in the nearest cache."""
REGISTERS = 12
"""Of a machine's 16, those that are there for sums: the others hold what is added."""
OVERLAPPED = 128
"""Steps of a recurrence that are in flight at once with those of the next one: of a few instructions each, of some
hundreds that a core keeps."""


CHEAP = CHEAP_CALLS | SET_ERRNO
"""Functions of which C compilers make vectors, once nobody waits for errno."""
ENOUGH = 16
"""Operations of an iteration for which it is worth a loop of its own, whose results the next one loads."""


def spread_iterations(program: Program) -> Program:
    """Run the sums and recurrences of neighbouring columns at once, each with scalars of its own.

    rewrite:  for j { t = 0; for i { A[i][j] = f(B[i][j], t); t = A[i][j]; } }
              -> for jt by 64 { double t_of[64]; for j in jt t_of[j - jt] = 0;
                                for i for j in jt { A[i][j] = f(B[i][j], t_of[j - jt]); t_of[j - jt] = A[i][j]; } }
              for j { double r[n]; for i r[i] = f(r[i - 1], B[i][j]); … }
              -> for jt by 64 { double r_of[n][64]; for i for j in jt r_of[i][j - jt] = f(r_of[i - 1][j - jt], …); … }
    tree:     band(i, j) - x  ->  band(i, j by 64) - mark(allocate t_of) - x with band(j) below all else
    math:     j is coincident, and all flow through t or r stays in one iteration of j; the place of t is p(x) = j(x),
              that of an element r[y] is (y, j(x)), so that no two iterations share one. Then no dependence is left
              between them, and j may go inside
    requires: j runs along consecutive memory, and the loops inside do not; or j goes from row to row, and what runs
              along the rows waits for itself (`interleave.py`); rows that each j reads again and again are copied into
              columns, along which j does run (`columns.py`)
    ensures:  each sum has its order; sums that read the same array share their loops (`siblings.py`), spread or not;
              scalars that live in one iteration of i have no place for each j, and so have those of short loops,
              which are unrolled inside of j
    source:   scalar expansion (Kuck et al., POPL 1981), and array expansion (Feautrier, ICS 1988), in strips
    """
    if not streams(program.options) or not _carriers(program):
        return program
    spreader = _Spreader(program, Siblings.of(program))
    child = spreader.at(program.tree.child, ())
    return replace(spreader.program, tree=Domain(program.tree.domain, child)) if spreader.made else program


def _carriers(program: Program) -> frozenset[str]:
    """Private scalars, and small private arrays, that carry values."""
    arrays, flow = program.scop.arrays, program.dependences.flow_by_array
    return frozenset(a for a in program.scop.privatizable if a in flow and elements_of(arrays[a], program) is not None)


def _chains_of(scalars: int) -> int:
    """How many iterations at once have all of their scalars in registers: a power of two."""
    count = 2
    while 2 * count * scalars <= REGISTERS:
        count *= 2
    return count


def elements_of(array: Array, program: Program) -> int | None:
    """How many elements an array has at most; None where the sizes do not bound that."""
    total = 1
    for extent in array.extents:
        most = None if extent is None else on_parameters(extent).intersect_domain(program.scop.known).max_val()
        if most is None or not most.is_int():
            return None
        total *= most.to_python()
    return total


def bytes_apart(access: Access, position: int, array: Array) -> int:
    """How many bytes lie between what neighbours along a dimension of a statement access; 0 where that is not known."""
    subscript = subscript_of(access, position)
    if subscript is None or subscript == array.rank - 1:
        return distance(access, position) * array.element.size_bytes
    inner = [None if e is None else constant_of(on_parameters(e)) for e in array.extents[subscript + 1 :]]
    return prod(e or 0 for e in inner) * array.element.size_bytes


def _short_unrolled(node: Node, program: Program, around: tuple[Member, ...]) -> Node:
    """The steps with loops of few iterations in all as loops that are unrolled inside of a vector loop."""
    match node:
        case Sequence(children=steps):
            return Sequence(tuple(replace(s, child=_short_unrolled(s.child, program, around)) for s in steps))
        case Band(members=members, child=child):
            if is_peeled(node, program, around) and not _is_branched(node, program):
                return unrolled(node)
            return replace(node, child=_short_unrolled(child, program, around + members))
        case _:
            return node


def _is_branched(node: Band, program: Program) -> bool:
    """Whether statements in loops that carry values do what the data say: written out, that is no vector code."""
    carrying = [m for n in walk(node) if isinstance(n, Band) for m in n.members if not m.coincident]
    return any(isinstance(n, c.If) for n in _nodes(carrying, program))


def _nodes(members: list[Member], program: Program) -> Iterator[c.Node]:
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


def _straight(node: Node, around: tuple[Member, ...]) -> Iterator[tuple[isl.UnionSet, tuple[Member, ...]]]:
    """The pieces of code that an innermost loop runs: their instances, and the loops around them."""
    match node:
        case Band(members=members, child=child) if not has_loops(child):
            yield members[0].schedule.domain(), around + members
        case Band(members=members, child=child):
            yield from _straight(child, around + members)
        case Sequence(children=steps):
            for step in steps:
                yield from _straight(step.child, around)
        case _:
            return


def _strip_of(member: Member, above: tuple[Member, ...], most: int) -> int | None:
    """The loop above that makes strips of a loop's iterations, narrow enough for scalars of each."""
    for k, tile in enumerate(above):
        if tile.role is Role.TILE and tile.coincident and 0 < tile.size <= most and _follows(tile, member):
            return k
    return None


def _dividing(count: int, member: Member, above: tuple[Member, ...]) -> int:
    """Iterations of a strip, up to so many, of which tiles above have a whole number, if that is not far less: their
    loops have constant lengths."""
    for tile in above:
        if tile.role is Role.TILE and tile.size > 0 and _follows(tile, member):
            whole = gcd(count, tile.size)
            count = whole if count <= LINES * whole else count
    return count


def _stays(loop: str | None, condition: c.Expr) -> bool:
    """Whether a condition is the same in all iterations of a loop, and asks no data: C compilers take it out of the
    loop."""
    return loop is not None and not any(isinstance(n, c.ArrayRef) or n == c.Name(loop) for n in c.walk(condition))


def _follows(tile: Member, member: Member) -> bool:
    """Whether a tile loop is one of the index that a loop runs through, in each statement."""
    for piece in sets(member.schedule.domain()):
        space = piece.get_space()
        own, corner = value_on(member.schedule, space), value_on(tile.schedule, space)
        position, found = dimension_of(own), affine_of(corner)
        if position is None or found is None or not found.involves_dims(isl.dim_type.in_, position, 1):
            return False
    return True


@dataclass(slots=True)
class _Spreader:
    program: Program
    siblings: Siblings
    made: bool = False

    def at(self, node: Node, above: tuple[Member, ...]) -> Node:
        match node:
            case Sequence():
                joined = self.siblings.nests(node, above) if self.carries_values(node) else node
                return Sequence(tuple(replace(s, child=self.at(s.child, above)) for s in joined.children))
            case Mark(kind="tiles"):
                return node  # tiles over time have an order of their own
            case Band(members=members, permutable=permutable) if permutable or len(members) == 1:
                return self.spread(node, above) or replace(node, child=self.at(node.child, above + members))
            case Band(members=members):
                return replace(node, child=self.at(node.child, above + members))
            case Extension() | Mark():
                return replace(node, child=self.at(node.child, above))
            case _:
                return node

    def carries_values(self, steps: Sequence) -> bool:
        """Whether all steps carry values in what is private."""
        scalars = _carriers(self.program)
        inside = ([self.program.statements[name] for name in names(s.filter)] for s in steps.children)
        return all(any(a.array in scalars for s in statements for a in s.accesses) for statements in inside)

    def spread(self, band: Band, above: tuple[Member, ...]) -> Node | None:
        """One loop of a band in strips, below the others; None where it is no such nest."""
        if any(m.role not in (Role.LOOP, Role.POINT) for m in band.members):
            return None
        below = list(walk(band.child))
        inner = [m for n in below if isinstance(n, Band) for m in n.members]
        if not inner or any(isinstance(n, Mark | Extension) for n in below):
            return None
        instances = band.members[0].schedule.domain()
        written, settled = self.private_values(instances, (*above, *band.members))
        if not self.across(written, band, band.child, above):
            return None
        alone = self.calls_below_branches(inner) or makes_no_vectors(instances, self.program)
        size = 0 if alone else self.width(written)
        columns: dict[int, tuple[Column, ...]] = {}
        member, rows = None, 0
        few = is_peeled(band.child, self.program, band.members)
        if size and (not few or self.calls(inner) or self.branches(band, inner) or self.has_parts(band.child)):
            candidates = [m for m in band.members if m.coincident and all(self.has_places(a, m) for a in settled)]
            columns = {id(m): columns_of(self.program, band, m, above, size) for m in candidates}
            member, rows = self.chosen(band, above, inner, columns, frozenset(written))
            if member is not None and not rows and self.takes_turns(member, inner):
                member = None
            if member is not None and not rows and self.hides_threads(member, size, (*above, *band.members), inner):
                member = None
        if member is None and any(self.program.scop.arrays[name].rank for name in written):
            return replace(band, child=self.at(band.child, (*above, *band.members)))
        steps = self.siblings.loops(band.child, (*above, *band.members))
        if member is None:
            self.made = self.made or steps is not band.child
            return replace(band, child=self.at(steps, (*above, *band.members)))
        apart = self.goes_from_row_to_row(member, columns.get(id(member), ()))
        if apart:
            size = min(size, APART)
            columns = {id(member): columns_of(self.program, band, member, above, size)}
        others = tuple(m for m in band.members if m is not member)
        filled = () if rows else columns[id(member)]
        if not rows:
            steps = _short_unrolled(steps, self.program, band.members)
        across = self.across(written, band, steps, above, together if rows else self.calls_apart)
        scalars = tuple(name for name in across if not self.has_places(name, member))
        narrow = apart or any(self.program.scop.arrays[name].rank for name in scalars)
        strip = None if rows or filled else _strip_of(member, (*above, *others), size if narrow else WIDEST)
        count = rows or size
        if strip is not None:
            count = (*above, *others)[strip].size
        elif self.kept_in_registers(scalars, filled, count):
            count = min(count, _chains_of(len(scalars)))
        elif not rows:
            count = _dividing(count, member, (*above, *others))
        tiles = () if strip is not None or not (scalars or filled) else tile_members((member,), (count,))
        # Columns are filled outside of the other loops, which may read them again.
        outer = (*tiles, *others) if filled else (*others, *tiles)
        around = (*above, *outer)
        if strip is None:
            strip = len(above) if filled else len(around) - 1
        keys = tuple(self.buffer(name, instances, member, len(around), strip, count) for name in scalars)
        self.made = True
        self.tell(instances, member, count, scalars, filled)
        self.program = with_columns(self.program, filled)
        point = replace(member, role=Role.POINT, unroll=count if rows else 1)
        inside = sink(point, steps, waits_for_nothing) if rows else sink(point, steps, parts=self.calls_apart)
        inside = Mark("allocate", inside, names=keys) if keys else inside
        if self.kept_in_registers(scalars, filled, count):
            beside = Band((replace(member, role=Role.POINT),), band.permutable, steps)
            inside = Strips(self.program, (*above, *others), member, count).apart(inside, beside)
        if not filled:
            return Band(outer, band.permutable or not others, inside) if outer else inside
        inside = Band(others, band.permutable, inside) if others else inside
        return Band(tiles, band.permutable, below_columns(filled, instances, inside))

    def hides_threads(self, member: Member, size: int, around: tuple[Member, ...], inner: list[Member]) -> bool:
        """Whether all of a loop's iterations make one strip, whose private arrays would keep the loops inside from
        threads, and no other loop around has any for them."""
        (strip,) = tile_members((member,), (size,))
        alone = not any(one.coincident for one in around if one is not member)
        return alone and iterations(strip, self.program) == 1 and any(one.coincident for one in inner)

    def kept_in_registers(self, scalars: tuple[str, ...], filled: tuple[Column, ...], count: int) -> bool:
        """Whether compilers have room in registers for the places of some scalars in a strip of constant length."""
        if filled or not scalars or any(self.program.scop.arrays[name].rank for name in scalars):
            return False
        return count <= MOST and len(scalars) <= REGISTERS // 2

    def has_places(self, name: str, member: Member) -> bool:
        """Whether a private array has a place for each iteration of a loop already, `best[j]`: one of its subscripts
        is the index that the loop runs through, wherever it is accessed."""
        found = set(range(self.program.scop.arrays[name].rank))
        for statement, position in self.along(member):
            for relation in (a.relation for a in statement.accesses if a.array == name):
                if position is None:
                    return False
                same = (relation.equate(isl.dim_type.in_, position, isl.dim_type.out, d) for d in sorted(found))
                found = {d for d, one in zip(sorted(found), same, strict=True) if relation.is_equal(one)}
        return bool(found)

    def width(self, written: tuple[str, ...]) -> int:
        """How many iterations a strip has, so that what it keeps for them stays in a cache; 0 where one line of each
        does not."""
        arrays = [self.program.scop.arrays[name] for name in written]
        widest = max(a.element.size_bytes or 0 for a in arrays)
        if not widest:
            return 0
        kept = sum((elements_of(a, self.program) or 0) * (a.element.size_bytes or widest) for a in arrays if a.rank)
        most = {LINES: KEPT, 2: KEPT, 1: 2 * KEPT}
        lines = next((n for n in most if kept * n * LINE_BYTES // widest <= most[n]), 0)
        size = lines * LINE_BYTES // widest
        while kept and 0 < size < WIDE and 2 * size * kept <= NEAR:
            size *= 2
        return size

    def tell(
        self, instances: isl.UnionSet, member: Member, size: int, scalars: tuple[str, ...], filled: tuple[Column, ...]
    ) -> None:
        arrays, statements = self.program.scop.arrays, tuple(names(instances))
        what = ", ".join(arrays[name].c_name for name in scalars)
        message = f"{', '.join(statements)}: {member.name} innermost, around loops that are unrolled"
        if what or filled:
            message = f"{', '.join(statements)} in strips of {size} iterations of {member.name}"
        if what:
            message += f", each with its own {what}"
        data: dict[str, object] = {"scalars": list(scalars), "size": size}
        if filled:
            moved = [arrays[one.buffer.array].c_name for one in filled]
            message += f"; rows of {', '.join(moved)} copied so that neighbours lie side by side"
            data["columns"] = moved
        self.program = self.program.remark("spread", STAGE, message, statements, **data)

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
        that is seldom taken costs a row on its own less."""
        below = {name for one in inner for name in names(one.schedule.domain())}
        bodies = [s.body for s in map(self.program.statements.__getitem__, below) if not is_chosen(self.program, s)]
        branches = [node for body in bodies for node in c.walk(body) if isinstance(node, c.If)]
        return any(isinstance(node, c.Call) for branch in branches for node in c.walk(branch))

    def still_below_branches(self, member: Member) -> bool:
        """Whether what data decide on loads an element that stays where it is while a loop goes on: C compilers make no
        vectors of that loop then, since there may be no such element where the condition does not hold."""
        for statement, position in self.along(member):
            if is_chosen(self.program, statement):
                continue
            along = None if position is None else statement.loops[position]
            certain = {node.ref for node in unconditional(statement.body, True, partial(_stays, along))}
            sure = [a for a in statement.accesses if a.ref in certain]
            for access in statement.accesses:
                if access.ref in certain or access.kind is not AccessKind.READ or position is None:
                    continue
                rank = 0 if access.array in self.program.scop.privatizable else access.relation.dim(isl.dim_type.out)
                known = any(a.array == access.array and a.relation.is_equal(access.relation) for a in sure)
                if rank and not known and access.exact and step_of(access, position) == 0:
                    return True
        return False

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

    def holds(self, inner: list[Member], kind: type[c.Call] | type[c.Ternary]) -> bool:
        """Whether the text of a statement in some loops has a node of a kind."""
        return any(isinstance(node, kind) for node in _nodes(inner, self.program))

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

    def private_values(
        self, instances: isl.UnionSet, around: tuple[Member, ...]
    ) -> tuple[tuple[str, ...], frozenset[str]]:
        """What is private and written in the nest, where all of that is needed in one iteration of the loops around;
        and the private arrays that other nests read or write as well, which keep their places. Nothing where some of it
        keeps the loop in its place."""
        nothing = (), frozenset[str]()
        statements = [self.program.scop.statements.get(name) for name in names(instances)]
        if any(s is None or c.has_loops(s.body) for s in statements):
            return nothing
        if any(not isl.UnionSet.from_set(s.domain).is_subset(instances) for s in statements if s is not None):
            return nothing  # the others would have no place
        accesses = [a for s in statements if s is not None for a in s.accesses]
        written = {a.array for a in accesses if a.kind is not AccessKind.READ} & self.program.scop.privatizable
        settled = {a for a in written if self.program.scop.arrays[a].rank and not self.stays(a, instances, around)}
        written -= settled
        mine = set(names(instances))
        taken = {
            b.array for b in self.program.buffers.values() if b.places is None or mine & {n for n, _ in b.accesses}
        }
        if not written <= _carriers(self.program) or written & taken:
            return nothing
        if not all(a.exact and self.stays_inside(a) for a in accesses if a.array in written):
            return nothing
        if not all(self.stays(array, instances, around) for array in written):
            return nothing
        return tuple(sorted(written)), frozenset(settled)

    def stays(self, array: str, instances: isl.UnionSet, around: tuple[Member, ...]) -> bool:
        """Whether all values of a private array that a nest touches stay in one iteration of the loops around."""
        if array not in self.program.dependences.flow_by_array:
            return False
        here = self.flow(array, instances)
        return bool(here.is_subset(Outer(around).same_iteration(here)))

    def stays_inside(self, access: Access) -> bool:
        """Whether what is accessed has a place in a copy of the array, at all sizes."""
        cells = access.relation.intersect_params(self.program.scop.known).range()
        return bool(cells.is_subset(elements(self.program.scop.arrays[access.array], cells.get_space())))

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

    def across(
        self,
        scalars: tuple[str, ...],
        band: Band,
        steps: Node,
        above: tuple[Member, ...],
        parts: Parts = together,
    ) -> tuple[str, ...]:
        """What lives across loops below a band, with some steps in it: the rest needs no place of its own in a
        strip."""
        instances = band.members[0].schedule.domain()
        straight = list(_straight(sink(band.members[0], steps, parts=parts), (*above, *band.members)))
        found = []
        for array in scalars:
            here = self.flow(array, instances)
            for ran, members in straight:
                here = here.subtract(Outer(members).same_iteration(among(here, ran)))
            if not here.is_empty():
                found.append(array)
        return tuple(found)

    def flow(self, array: str, instances: isl.UnionSet) -> isl.UnionMap:
        flow = self.flow_of(array)
        return flow.intersect_domain(instances).union(flow.intersect_range(instances))

    def flow_of(self, array: str) -> isl.UnionMap:
        return self.program.dependences.flow_by_array[array].intersect_params(self.program.scop.known)

    def buffer(self, array: str, instances: isl.UnionSet, member: Member, depth: int, strip: int, size: int) -> str:
        """A place of a scalar, or of each element of an array, for each iteration of a strip."""
        self.program, name = place_for_each(self.program, array, instances, member, depth, strip, size)
        return name
