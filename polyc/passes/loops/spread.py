"""Recurrences beside each other: what is private, with a place for each iteration of a loop, which goes innermost."""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd

import islpy as isl

from polyc.analysis.extents import elements, on_parameters
from polyc.cost.peeling import is_peeled
from polyc.cost.recurrences import MOST, waits_for_nothing
from polyc.model import ctree as c
from polyc.model.program import Program
from polyc.model.scop import Access, AccessKind, Array
from polyc.model.tree import Band, Domain, Extension, Mark, Member, Node, Role, Sequence, walk
from polyc.nests.nest import Outer, has_loops, unrolled
from polyc.nests.strides import (
    dimension_of,
    iterations,
    makes_no_vectors,
)
from polyc.nests.sums import LINE_BYTES, streams
from polyc.nests.tiling import tile_members
from polyc.passes.buffers.places import place_for_each
from polyc.passes.loops.candidates import Candidates, nodes_of
from polyc.passes.loops.columns import Column, below_columns, columns_of, with_columns
from polyc.passes.loops.siblings import Siblings
from polyc.passes.loops.strips import Strips
from polyc.passes.loops.vectorize import Parts, sink, together
from polyc.poly import affine_of, among, names, sets, value_on
from polyc.records import dataclass, replace

STAGE = "spread"
LINES = 4
"""Of a cache, that a row of a strip has: one vector operation after the other does not wait for its own recurrence."""
KEPT = 1 << 18
"""Bytes of the private arrays of a strip: they stay in a second-level cache. Of the narrowest strips twice as many."""
NEAR = 8192
"""Bytes of them up to which a strip gets wider: a nearest cache has room for them beside what is read."""
WIDE = 128
"""Iterations of such a strip."""
APART = 8
"""Iterations of a strip of which each has lines of its own: of rows a power of two apart, a cache keeps no more."""
WIDEST = 512
"""Of a strip that the nest has already: its scalars stay in the nearest cache."""
REGISTERS = 12
"""Of a machine's 16, those that are there for sums: the others hold what is added."""


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


def _has_place(access: Access) -> bool:
    """Whether what is accessed has a place in each iteration; data may choose the element to read, `metric[state]`."""
    return access.exact or (access.kind is AccessKind.READ and bool(access.loose))


def elements_of(array: Array, program: Program) -> int | None:
    """How many elements an array has at most; None where the sizes do not bound that."""
    total = 1
    for extent in array.extents:
        most = None if extent is None else on_parameters(extent).intersect_domain(program.scop.known).max_val()
        if most is None or not most.is_int():
            return None
        total *= most.to_python()
    return total


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
    return any(isinstance(n, c.If) for n in nodes_of(carrying, program))


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


def _follows(tile: Member, member: Member) -> bool:
    """Whether a tile loop is one of the index that a loop runs through, in each statement."""
    for piece in sets(member.schedule.domain()):
        space = piece.get_space()
        own, corner = value_on(member.schedule, space), value_on(tile.schedule, space)
        position, found = dimension_of(own), affine_of(corner)
        if position is None or found is None or not found.involves_dims(isl.dim_type.in_, position, 1):
            return False
    return True


@dataclass(frozen=True, slots=True)
class _Choice:
    """The loop of a nest that goes innermost."""

    member: Member
    rows: int
    """How many rows at once it makes, where it goes from row to row; else 0."""
    size: int
    """Iterations of a strip."""
    apart: bool
    """Whether each of these has lines of its own."""
    filled: tuple[Column, ...]
    """The rows that are copied for a strip, so that neighbours lie side by side."""


@dataclass(slots=True)
class _Spreader:
    program: Program
    siblings: Siblings
    made: bool = False

    @property
    def loops(self) -> Candidates:
        return Candidates(self.program)

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
        choice = self.choice(band, above, inner, written, settled)
        if choice is None and any(self.program.scop.arrays[name].rank for name in written):
            return replace(band, child=self.at(band.child, (*above, *band.members)))
        steps = self.siblings.loops(band.child, (*above, *band.members))
        if choice is None:
            self.made = self.made or steps is not band.child
            return replace(band, child=self.at(steps, (*above, *band.members)))
        return self.in_strips(band, above, steps, written, choice)

    def choice(
        self,
        band: Band,
        above: tuple[Member, ...],
        inner: list[Member],
        written: tuple[str, ...],
        settled: frozenset[str],
    ) -> _Choice | None:
        """The loop of a band that goes innermost; None where all stay."""
        instances, loops = band.members[0].schedule.domain(), self.loops
        if loops.calls_below_branches(inner) or makes_no_vectors(instances, self.program):
            return None
        if loops.end_soon(inner):
            return None
        if loops.end(inner) and any(self.program.scop.arrays[name].rank for name in written):
            return None  # small matrices of an iteration that ends by itself stay in its registers
        size = self.width(written)
        few = is_peeled(band.child, self.program, band.members)
        apart = loops.calls(inner) or loops.branches(band, inner) or loops.has_parts(band.child) or loops.end(inner)
        if not size or (few and not apart):
            return None
        candidates = [m for m in band.members if m.coincident and all(self.has_places(a, m) for a in settled)]
        columns = {id(m): columns_of(self.program, band, m, above, size) for m in candidates}
        member, rows = loops.chosen(band, above, inner, columns, frozenset(written))
        if member is None:
            return None
        if not rows and loops.takes_turns(member, inner):
            return None
        if not rows and self.hides_threads(member, size, (*above, *band.members), inner):
            return None
        filled = columns.get(id(member), ())
        apart = loops.goes_from_row_to_row(member, filled)
        if apart:
            size = min(size, APART)
            filled = columns_of(self.program, band, member, above, size)
        return _Choice(member, rows, size, apart, () if rows else filled)

    def in_strips(
        self, band: Band, above: tuple[Member, ...], steps: Node, written: tuple[str, ...], choice: _Choice
    ) -> Node:
        """The nest with a loop of the band in strips, below the others."""
        instances, member, rows, filled = band.members[0].schedule.domain(), choice.member, choice.rows, choice.filled
        others = tuple(m for m in band.members if m is not member)
        if not rows:
            steps = _short_unrolled(steps, self.program, band.members)
        across = self.across(written, band, steps, above, together if rows else self.loops.calls_apart)
        scalars = tuple(name for name in across if not self.has_places(name, member))
        narrow = choice.apart or any(self.program.scop.arrays[name].rank for name in scalars)
        strip = None if rows or filled else _strip_of(member, (*above, *others), choice.size if narrow else WIDEST)
        count = rows or choice.size
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
        inside = sink(point, steps, waits_for_nothing) if rows else sink(point, steps, parts=self.loops.calls_apart)
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
        for statement, position in self.loops.along(member):
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
        in_text = [a for s in statements if s is not None and not s.declares for a in s.accesses]
        written = {a.array for a in accesses if a.kind is not AccessKind.READ} & self.program.scop.privatizable
        settled = {a for a in written if self.program.scop.arrays[a].rank and not self.stays(a, instances, around)}
        written -= settled
        mine = set(names(instances))
        taken = {
            b.array for b in self.program.buffers.values() if b.places is None or mine & {n for n, _ in b.accesses}
        }
        if not written <= _carriers(self.program) or written & taken:
            return nothing
        if not all(_has_place(a) and self.stays_inside(a) for a in in_text if a.array in written):
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
        flow = self.loops.flow_of(array)
        return flow.intersect_domain(instances).union(flow.intersect_range(instances))

    def buffer(self, array: str, instances: isl.UnionSet, member: Member, depth: int, strip: int, size: int) -> str:
        """A place of a scalar, or of each element of an array, for each iteration of a strip."""
        self.program, name = place_for_each(self.program, array, instances, member, depth, strip, size)
        return name
