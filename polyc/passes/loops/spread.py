"""Recurrences beside each other: private scalars with a place for each iteration of a loop, which goes innermost."""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl

from polyc.cost.recurrences import rows_of
from polyc.model import ctree as c
from polyc.model.program import Buffer, Program
from polyc.model.scop import Access, AccessKind
from polyc.model.tree import Band, Domain, Extension, Mark, Member, Node, Role, Sequence, walk
from polyc.nests.naming import fresh
from polyc.nests.nest import Outer, has_loops
from polyc.nests.strides import dimension_of, iterations, strides_of, unrolled_below
from polyc.nests.sums import LINE_BYTES, streams
from polyc.nests.tiling import tile_members
from polyc.passes.loops.siblings import Siblings
from polyc.passes.loops.vectorize import sink
from polyc.poly import affine_of, among, maps, names, sets, value_on
from polyc.records import dataclass, replace

STAGE = "spread"
LINES = 4
"""Of a cache, that a row of a strip has: one vector operation after the other does not wait for its own recurrence."""
WIDEST = 512
"""Of a strip that the nest has already: its scalars stay in the nearest cache."""
OVERLAPPED = 128
"""Steps of a recurrence that are in flight at once with those of the next row: of a few instructions each, of some
hundreds that a core keeps."""


def spread_scalars(program: Program) -> Program:
    """Run the sums and recurrences of neighbouring columns at once, each with scalars of its own.

    rewrite:  for j { t = 0; for i { A[i][j] = f(B[i][j], t); t = A[i][j]; } }
              -> for jt by 64 { double t_of[64]; for j in jt t_of[j - jt] = 0;
                                for i for j in jt { A[i][j] = f(B[i][j], t_of[j - jt]); t_of[j - jt] = A[i][j]; } }
    tree:     band(i, j) - x  ->  band(i, j by 64) - mark(allocate t_of) - x with band(j) below all else
    math:     j is coincident, and all flow through t stays in one iteration of j; its place is p(x) = j(x), so that no
              two iterations share one. Then no dependence is left between them, and j may go inside
    requires: j runs along consecutive memory, and the loops inside do not; or j goes from row to row, and what runs
              along the rows waits for itself (`interleave.py`)
    ensures:  each sum has its order; sums that read the same array share their loops (`siblings.py`), spread or not
    source:   scalar expansion (Kuck et al., POPL 1981) in strips
    """
    if not streams(program.options) or not _scalars(program):
        return program
    spreader = _Spreader(program, Siblings.of(program))
    child = spreader.at(program.tree.child, ())
    return replace(spreader.program, tree=Domain(program.tree.domain, child)) if spreader.made else program


def _scalars(program: Program) -> frozenset[str]:
    """Private scalars that carry values."""
    arrays, flow = program.scop.arrays, program.dependences.flow_by_array
    return frozenset(a for a in program.scop.privatizable if arrays[a].rank == 0 and a in flow)


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


def _strip_of(member: Member, above: tuple[Member, ...]) -> int | None:
    """The loop above that makes strips of a loop's iterations, narrow enough for scalars of each."""
    for k, tile in enumerate(above):
        if tile.role is Role.TILE and tile.coincident and 0 < tile.size <= WIDEST and _follows(tile, member):
            return k
    return None


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
                joined = self.siblings.nests(node, above) if self.has_scalars(node) else node
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

    def has_scalars(self, steps: Sequence) -> bool:
        """Whether all steps carry values in private scalars."""
        scalars = _scalars(self.program)
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
        scalars = self.carried(band, (*above, *band.members))
        if not scalars:
            return None
        left_to_compilers = unrolled_below(band, self.program) and not self.calls(inner)
        member, rows = (None, 0) if left_to_compilers else self.chosen(band, inner)
        widest = max(self.program.scop.arrays[name].element.size_bytes for name in scalars)
        if member is None or not widest:
            steps = self.siblings.loops(band.child, (*above, *band.members))
            self.made = self.made or steps is not band.child
            return replace(band, child=steps)
        others = tuple(m for m in band.members if m is not member)
        around = (*above, *others)
        strip = None if rows else _strip_of(member, around)
        size = around[strip].size if strip is not None else rows or LINES * LINE_BYTES // widest
        tiles = tile_members((member,), (size,)) if strip is None else ()
        around, strip = (*around, *tiles), len(around) if strip is None else strip
        keys = tuple(self.buffer(name, instances, member, len(around), strip, size) for name in scalars)
        point = replace(member, role=Role.POINT)
        self.made = True
        what = ", ".join(self.program.scop.arrays[name].c_name for name in scalars)
        statements = tuple(names(instances))
        message = f"{', '.join(statements)} in strips of {size} iterations of {member.name}, each with its own {what}"
        self.program = self.program.remark("spread", STAGE, message, statements, scalars=list(scalars), size=size)
        steps = self.siblings.loops(band.child, (*around, point))
        below_strip = Mark("allocate", sink(point, steps), names=keys)
        left = (*others, *tiles)
        return Band(left, band.permutable or not others, below_strip) if left else below_strip

    def chosen(self, band: Band, inner: list[Member]) -> tuple[Member | None, int]:
        """The loop that goes innermost, and how many rows at once it makes where it goes from row to row; None where
        the loops inside are as good."""
        candidates = [m for m in band.members if m.coincident]
        if all(
            self.sums_in_vectors(n.members[-1])
            for n in walk(band.child)
            if isinstance(n, Band) and not has_loops(n.child)
        ):
            return None, 0
        strides = {id(m): strides_of(m, self.program) for m in (*candidates, *inner)}
        best = max(reversed(candidates), key=lambda m: strides[id(m)].gain, default=None)
        if best is None:
            return None, 0
        if strides[id(best)].gain <= 0:
            rows = rows_of(self.program, band)
            if rows is None or self.overlaps(inner) or self.only_sums(inner):
                return None, 0
            return rows.along, rows.count
        better = (m.coincident and strides[id(m)].gain >= strides[id(best)].gain for m in inner)
        along_lines = all(strides[id(m)].far < strides[id(best)].far for m in inner)
        return (None, 0) if any(better) or along_lines else (best, 0)

    def calls(self, inner: list[Member]) -> bool:
        """Whether loops call functions, so that compilers make no vectors of the loop around them either."""
        bodies = [self.program.statements[name].body for m in inner for name in names(m.schedule.domain())]
        return any(isinstance(node, c.Call) for body in bodies for node in c.walk(body))

    def overlaps(self, inner: list[Member]) -> bool:
        """Whether the rows are so short that a core is at the next one while it waits for the last."""
        total = 1
        for member in inner:
            count = iterations(member, self.program)
            if count is None:
                return False
            total *= max(count, 1)
        return total <= OVERLAPPED

    def only_sums(self, inner: list[Member]) -> bool:
        """Whether inner loops do nothing but update several scalars. A core waits for them at once, and with gcc 12,
        which takes those of several rows for one sum to make ordered vectors of, more rows do not help."""
        below = {name for member in inner for name in names(member.schedule.domain())}
        written = [a.relation.dim(isl.dim_type.out) for name in below for a in self.written(name)]
        return len(written) > 1 and not any(written)

    def written(self, statement: str) -> list[Access]:
        return [a for a in self.program.statements[statement].accesses if a.kind is not AccessKind.READ]

    def sums_in_vectors(self, inner: Member) -> bool:
        """Whether C compilers make vectors of a loop that sums up: of whole numbers, in any order, along a row."""
        arrays, strides = self.program.scop.arrays, strides_of(inner, self.program)
        written = (a.array for name in names(inner.schedule.domain()) for a in self.written(name))
        return strides.consecutive > 0 and not strides.far and all(arrays[a].element.kind == "int" for a in written)

    def carried(self, band: Band, around: tuple[Member, ...]) -> tuple[str, ...]:
        """The private scalars that live across loops below the band; none where it has others that keep the loop in
        its place."""
        instances = band.members[0].schedule.domain()
        statements = [self.program.scop.statements.get(name) for name in names(instances)]
        if any(s is None or s.opaque for s in statements):
            return ()
        if any(not isl.UnionSet.from_set(s.domain).is_subset(instances) for s in statements if s is not None):
            return ()  # the others would have no place
        accesses = [a for s in statements if s is not None for a in s.accesses]
        written = {a.array for a in accesses if a.kind is not AccessKind.READ} & self.program.scop.privatizable
        mine = set(names(instances))
        taken = {
            b.array for b in self.program.buffers.values() if b.places is None or mine & {n for n, _ in b.accesses}
        }
        if not written <= _scalars(self.program) or written & taken:
            return ()
        if not all(a.exact and a.kind is not AccessKind.MAY_WRITE for a in accesses if a.array in written):
            return ()
        straight, across = list(_straight(sink(band.members[0], band.child), around)), set()
        for array in written:
            flow = self.program.dependences.flow_by_array[array]
            here = flow.intersect_domain(instances).union(flow.intersect_range(instances))
            if not here.is_subset(Outer(around).same_iteration(here)):
                return ()
            for instances_there, members in straight:
                here = here.subtract(Outer(members).same_iteration(among(here, instances_there)))
            if not here.is_empty():
                across.add(array)
        return tuple(sorted(across))

    def buffer(self, array: str, instances: isl.UnionSet, member: Member, depth: int, strip: int, size: int) -> str:
        """A place of the scalar for each iteration of a strip."""
        program = self.program
        used = program.scop.used_names | set(program.buffers) | {b.name for b in program.buffers.values()}
        name = fresh(f"{program.scop.arrays[array].c_name}_of", used | set(program.scop.arrays))
        refs = frozenset(
            (s, a.ref) for s in names(instances) for a in program.statements[s].accesses if a.array == array
        )
        context = instances.get_ctx()
        own = isl.Id.read_from_str(context, array)
        places = isl.UnionMap.empty(instances.get_space())
        for piece in maps(instances.identity()):
            space = piece.get_space().domain()
            if any(s == space.get_tuple_name(isl.dim_type.set) for s, _ in refs):
                value = isl.Map.from_pw_aff(value_on(member.schedule, space)).set_tuple_id(isl.dim_type.out, own)
                places = places.union(isl.UnionMap.from_map(value))
        tile = instances.get_space().params().add_unnamed_tuple_ui(depth)
        last = isl.Aff.var_on_domain(isl.LocalSpace.from_space(tile), isl.dim_type.set, strip)
        corner = isl.MultiAff.from_aff(last).set_tuple_id(isl.dim_type.out, own)
        params = isl.Set.universe(instances.get_space().params())
        extent = isl.PwAff.val_on_domain(params, isl.Val.int_from_si(context, size))
        buffer = Buffer(name, name, array, corner, depth, (extent,), "spread", refs, (), (), 0, places)
        self.program = replace(program, buffers=program.buffers | {name: buffer})
        return name
