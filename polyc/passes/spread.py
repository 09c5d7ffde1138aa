"""Recurrences beside each other: private scalars with a place for each iteration of a loop, which goes innermost."""

from __future__ import annotations

import islpy as isl

from polyc.model.program import Buffer, Program
from polyc.model.scop import AccessKind
from polyc.model.tree import Band, Domain, Extension, Mark, Member, Node, Role, Sequence, walk
from polyc.passes.interleave import rows_of
from polyc.passes.naming import fresh
from polyc.passes.nests import Outer
from polyc.passes.sums import LINE_BYTES, streams
from polyc.passes.tiling import tile_members
from polyc.passes.vectorize import gain_of, sink, unrolled_below
from polyc.poly import maps, names, value_on
from polyc.records import dataclass, replace

STAGE = "spread"
LINES = 4
"""Of a cache, that a row of a strip has: one vector operation after the other does not wait for its own recurrence."""
WIDEST = 512
"""Of a strip that the nest has already: its scalars stay in the nearest cache."""


def spread_scalars(program: Program) -> Program:
    """Run the recurrences of neighbouring columns at once, each with scalars of its own.

    rewrite:  for j { t = 0; for i { A[i][j] = f(B[i][j], t); t = A[i][j]; } }
              -> for jt by 64 { double t_of[64]; for j in jt t_of[j - jt] = 0;
                                for i for j in jt { A[i][j] = f(B[i][j], t_of[j - jt]); t_of[j - jt] = A[i][j]; } }
    tree:     band(j) - x  ->  band(j by 64) - mark(allocate t_of) - x with band(j) below all else
    math:     j is coincident, and all flow through t stays in one iteration of j; its place is p(x) = j(x), so that no
              two iterations share one. Then no dependence is left between them, and j may go inside
    requires: j runs along consecutive memory, and the loops inside do not; or j goes from row to row, and what runs
              along the rows waits for itself (`interleave.py`)
    source:   scalar expansion (Kuck et al., POPL 1981) in strips
    """
    if not streams(program.options) or not _scalars(program):
        return program
    spreader = _Spreader(program)
    child = spreader.at(program.tree.child, ())
    return replace(spreader.program, tree=Domain(program.tree.domain, child)) if spreader.made else program


def _scalars(program: Program) -> frozenset[str]:
    """Private scalars that carry values."""
    arrays, flow = program.scop.arrays, program.dependences.flow_by_array
    return frozenset(a for a in program.scop.privatizable if arrays[a].rank == 0 and a in flow)


def _is_strip(tile: Member, member: Member) -> bool:
    """Whether a band is a strip of parallel iterations, and the loop below runs through one."""
    coincident = tile.coincident and member.coincident
    return coincident and tile.role is Role.TILE and member.role is Role.POINT and tile.size <= WIDEST


@dataclass(slots=True)
class _Spreader:
    program: Program
    made: bool = False

    def at(self, node: Node, above: tuple[Member, ...]) -> Node:
        match node:
            case Sequence(children=steps):
                return Sequence(tuple(replace(s, child=self.at(s.child, above)) for s in steps))
            case Mark(kind="group"):
                return replace(node, child=self.at(node.child, above))
            case Band(members=(member,)) if member.coincident and member.role is Role.LOOP:
                return self.spread(node, member, above) or node
            case Band(members=(tile,), child=Band(members=(member,)) as point) if _is_strip(tile, member):
                below = self.spread(point, member, (*above, tile), tile.size)
                return node if below is None else replace(node, child=below)
            case Band(members=members) if not any(m.coincident for m in members):
                return replace(node, child=self.at(node.child, above + members))
            case _:
                return node

    def spread(self, band: Band, member: Member, above: tuple[Member, ...], strip: int = 0) -> Node | None:
        """The loop in strips; None where it is no such nest. `strip`: of how many the loop above makes one already."""
        below = list(walk(band.child))
        inner = [m for n in below if isinstance(n, Band) for m in n.members]
        if not inner or any(isinstance(n, Mark | Extension) for n in below):
            return None
        instances = member.schedule.domain()
        scalars = self.carried(instances, (*above, member))
        rows = rows_of(self.program, band) if scalars and gain_of(member, self.program) <= 0 else None
        if not scalars or (gain_of(member, self.program) <= 0 and rows is None) or unrolled_below(band, self.program):
            return None
        if any(m.coincident and gain_of(m, self.program) >= gain_of(member, self.program) for m in inner):
            return None
        arrays = self.program.scop.arrays
        widest = max(arrays[name].element.size_bytes for name in scalars)
        if not widest:
            return None
        size = LINES * LINE_BYTES // widest if rows is None else rows.count
        size = strip if rows is None and strip else size
        tiles = tile_members((member,), (size,)) if size != strip else ()
        keys = tuple(self.buffer(name, instances, member, (*above, *tiles), size) for name in scalars)
        point = replace(member, role=Role.POINT)
        self.made = True
        what = ", ".join(arrays[name].c_name for name in scalars)
        statements = tuple(names(instances))
        message = f"{', '.join(statements)} in strips of {size} iterations of {member.name}, each with its own {what}"
        self.program = self.program.remark("spread", STAGE, message, statements, scalars=list(scalars), size=size)
        below_strip = Mark("allocate", sink(point, band.child), names=keys)
        return Band(tiles, True, below_strip) if tiles else below_strip

    def carried(self, instances: isl.UnionSet, around: tuple[Member, ...]) -> tuple[str, ...]:
        """The private scalars that the nest writes; none where it has others that keep the loop in its place."""
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
        for array in written:
            flow = self.program.dependences.flow_by_array[array]
            here = flow.intersect_domain(instances).union(flow.intersect_range(instances))
            if not here.is_subset(Outer(around).same_iteration(here)):
                return ()
        return tuple(sorted(written))

    def buffer(self, array: str, instances: isl.UnionSet, member: Member, around: tuple[Member, ...], size: int) -> str:
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
        tile = instances.get_space().params().add_unnamed_tuple_ui(len(around))
        last = isl.Aff.var_on_domain(isl.LocalSpace.from_space(tile), isl.dim_type.set, len(around) - 1)
        corner = isl.MultiAff.from_aff(last).set_tuple_id(isl.dim_type.out, own)
        params = isl.Set.universe(instances.get_space().params())
        extent = isl.PwAff.val_on_domain(params, isl.Val.int_from_si(context, size))
        buffer = Buffer(name, name, array, corner, len(around), (extent,), "spread", refs, (), (), 0, places)
        self.program = replace(program, buffers=program.buffers | {name: buffer})
        return name
