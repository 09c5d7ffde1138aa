"""Loops that scatter ask ahead for the lines of what they go through in order."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from math import prod

import islpy as isl

from polyc.analysis.expressions.reductions import scatter_of
from polyc.machine import load_cpu
from polyc.model.program import Program
from polyc.model.scop import CALLS, Access, AccessKind, Array, Statement
from polyc.model.tree import (
    LEAF,
    Band,
    Domain,
    Extension,
    Filter,
    Leaf,
    Mark,
    Member,
    Node,
    Role,
    Sequence,
    walk,
)
from polyc.nests.naming import fresh
from polyc.nests.nest import values
from polyc.nests.strides import dimension_of, step_of
from polyc.nests.tiling import tile_members
from polyc.passes.buffers.promotion import prefetch_statement
from polyc.poly import constant_of, empty_map, maps, names, set_name, union_of
from polyc.records import dataclass, field, replace

STAGE = "ahead"
STRIPS = 16
"""How far ahead, in strips. A strip takes about 25 nanoseconds; 8 to 128 of them measure the same."""
MOST_REQUESTS = 16
"""Of a strip: a line of each array that it goes through, or several where elements are larger than others."""


def ask_ahead(program: Program) -> Program:
    """Let loops that scatter ask early for the lines of arrays that they go through in order.

    rewrite:  for e net[head[e]] += w[e]
              -> for et by 16 { prefetch w[et + 256], w[et + 264], head[et + 256]; for e net[head[e]] += w[e]; }
    tree:     band(…, e) -> band(…, et) - extension(requests) - sequence(requests, band(e))
    math:     requests of an iteration [v, et]: the cells that the iterations [v, et + 256 + k] read, for each k with
              which a line begins; where all of them are there
    requires: the final loops, and marks on them. The innermost loop carries a scatter, and each of its parts runs in
              order; what it adds to, or what it gathers, depends on data and does not fit into the first level
    ensures:  the order of all instances; requests compute nothing, and name cells that the region touches
    why:      a core finds out by itself which lines follow each other, but not among the misses of gathers and scatters
    """
    options = program.options
    if options.gpu or not any(scatter_of(s, program.scop.arrays) for s in program.statements.values()):
        return program
    asking = _Asking(program)
    child = asking.at(program.tree.child, ())
    return replace(asking.program, tree=Domain(program.tree.domain, child))


@dataclass(slots=True)
class _Asking:
    """Goes down to the innermost loops, and remembers the requests and the remarks."""

    program: Program
    line: int = field(init=False)
    nearest: int = field(init=False)
    """Bytes of the first level."""

    def __post_init__(self) -> None:
        first = load_cpu(self.program.options.machine).levels[0]
        self.line, self.nearest = first.line_bytes, first.bytes

    def at(self, node: Node, above: tuple[Member, ...]) -> Node:
        match node:
            case Leaf() | Extension():
                return node
            case Sequence(children=steps):
                return Sequence(tuple(replace(s, child=self.at(s.child, above)) for s in steps))
            case Mark():
                return replace(node, child=self.at(node.child, above))
            case Band(members=members) if any(isinstance(n, Band) for n in walk(node.child)):
                return replace(node, child=self.at(node.child, (*above, *members)))
            case Band():
                return self.asked(node, above)

    def asked(self, band: Band, above: tuple[Member, ...]) -> Node:
        """An innermost band, its last loop in strips that ask for lines; or as it was."""
        every = (*above, *band.members)
        alone = all(m.role is Role.LOOP and not m.vector and (not m.parallel or m.owned) for m in every)
        if not alone or not self.gathers_far(band) or self.declares(band, len(every)):
            return band
        streams = list(self.streams(band))
        sizes = [self.program.scop.arrays[access.array].element.size_bytes for access in streams]
        if not streams or sum(min(sizes) and size // min(sizes) for size in sizes) > MOST_REQUESTS:
            return band
        strip = self.line // min(sizes)
        requests = list(self.requests(streams, every, strip))
        if not requests:
            return band
        return self.in_strips(band, streams, requests, strip)

    def declares(self, band: Band, depth: int) -> bool:
        """Whether buffers are declared in its iterations, which would be those of one loop more."""
        users = {statement.name for statement in self.statements(band)}
        inside = (buffer for buffer in self.program.buffers.values() if buffer.depth >= depth)
        return any(not users.isdisjoint(name for name, _ in buffer.accesses) for buffer in inside)

    def gathers_far(self, band: Band) -> bool:
        """Whether it scatters, and whether data decide on the place in an array that is not in the first level."""
        scatters = any(scatter_of(s, self.program.scop.arrays) for s in self.statements(band))
        return scatters and any(array.rank and not self.is_near(array) for array in self.gathered(band, far=True))

    def statements(self, band: Band) -> list[Statement]:
        return [self.program.statements[name] for name in names(band.members[0].schedule.domain())]

    def gathered(self, band: Band, far: bool = False) -> list[Array]:
        """Arrays in which data decide on the place; `far`: on the first subscript, not only on the place
        in a row."""
        accesses = (a for s in self.statements(band) for a in s.accesses if not a.exact and a.array != CALLS)
        return [self.program.scop.arrays[a.array] for a in accesses if 0 in a.loose or not far]

    def is_near(self, array: Array) -> bool:
        extents = [constant_of(e) if e is not None else None for e in array.extents]
        size = prod(e for e in extents if e is not None) * (array.element.size_bytes or 8)
        return None not in extents and size <= self.nearest

    def streams(self, band: Band) -> Iterator[Access]:
        """One access for each row of an array that the last loop reads from cell to cell."""
        arrays, seen = self.program.scop.arrays, set[tuple[str, str]]()
        held = {buffer.array for buffer in self.program.buffers.values()}
        held |= {array.name for array in self.gathered(band)}
        pieces = band.members[-1].schedule.get_pw_aff_list()
        for piece in (pieces.get_at(k) for k in range(pieces.n_pw_aff())):
            position = dimension_of(piece)
            if position is None:
                continue
            for access in self.program.statements[set_name(piece.domain())].accesses:
                array = arrays[access.array]
                size = array.element.size_bytes
                if (
                    access.kind is not AccessKind.READ
                    or array.name in held
                    or not array.rank
                    or step_of(access, position) != 1
                ):
                    continue
                row = access.relation.project_out(isl.dim_type.out, array.rank - 1, 1)
                key = array.name, str(row.reset_tuple_id(isl.dim_type.in_))
                if key not in seen and size and self.line % size == 0:
                    seen.add(key)
                    yield access

    def requests(self, streams: list[Access], loops: tuple[Member, ...], strip: int) -> list[isl.Map]:
        """`{ [v, et] -> ahead[x] }`, a statement for each line of a strip, made on the way; none where no strip has
        all of them."""
        made = [
            (self.program.scop.arrays[access.array], self.read_ahead(access, loops, STRIPS * strip + first))
            for access in streams
            for first in range(0, strip, self.line // self.program.scop.arrays[access.array].element.size_bytes)
        ]
        last = [self.read_ahead(access, loops, (STRIPS + 1) * strip - 1).domain() for access in streams]
        there = reduce(isl.Set.intersect, [*(r.domain() for _, r in made), *last]).intersect_params(
            self.program.scop.known
        )
        if there.coalesce().is_empty():
            return []
        found = []
        for array, relation in made:
            name = fresh(f"ahead_{array.name}", set(self.program.statements))
            request = prefetch_statement(self.program, array, name, written=False)
            self.program = replace(self.program, statements=self.program.statements | {name: request})
            named = isl.Id.read_from_str(relation.get_ctx(), name)
            found.append(relation.intersect_domain(there).set_tuple_id(isl.dim_type.out, named))
        return found

    def read_ahead(self, access: Access, loops: tuple[Member, ...], ahead: int) -> isl.Map:
        """`{ [v, e] -> A[x] }`: what the iteration so much later reads."""
        inner = tuple(m for m in loops if not m.owned)  # not those of its block alone
        (relation,) = maps(values(inner, isl.UnionSet.from_set(access.relation.domain())))
        relation = relation.insert_dims(isl.dim_type.out, 0, len(loops) - len(inner))
        read = relation.reverse().apply_range(access.relation)
        moved = read.get_space().domain().identity_multi_aff_on_domain()
        last = len(loops) - 1
        shifted = moved.set_at(last, moved.get_at(last).add_constant_val(isl.Val.int_from_si(read.get_ctx(), ahead)))
        return isl.Map.from_multi_aff(shifted).apply_range(read)

    def in_strips(self, band: Band, streams: list[Access], requests: list[isl.Map], strip: int) -> Node:
        """The band with its last loop in strips, requests first in each."""
        (around,) = tile_members(band.members[-1:], (strip,))
        # No tile: nothing meets its data again.
        around = replace(around, role=Role.LOOP, size=1, name=f"{around.name}t")
        point = Band(band.members[-1:], False, band.child)
        cells = [isl.UnionSet.from_set(relation.range()) for relation in requests]
        asking = Sequence(tuple(Filter(one, LEAF) for one in cells))
        both = Sequence(
            (Filter(reduce(isl.UnionSet.union, cells), asking), Filter(band.members[0].schedule.domain(), point))
        )
        told = ", ".join(sorted({self.program.scop.arrays[access.array].c_name for access in streams}))
        self.program = self.program.remark(
            "asked-ahead",
            STAGE,
            f"every {strip} iterations, {band.members[-1].name} asks for the lines that it reads {STRIPS * strip} "
            f"iterations later of {told}",
            tuple(names(band.members[0].schedule.domain())),
            iterations=STRIPS * strip,
        )
        return Band((*band.members[:-1], around), False, Extension(union_of(requests, empty_map(requests[0])), both))
