"""Parts of arrays in shared memory, between copies by all threads of a block."""

from __future__ import annotations

from itertools import count
from math import prod

import islpy as isl

from polyc.model.program import Buffer, Program
from polyc.model.scop import Access, AccessKind
from polyc.model.tree import Extension, Filter, Mark, Member, Node, Sequence
from polyc.nests.boxes import Box, bounding_box
from polyc.nests.naming import fresh_buffer
from polyc.nests.nest import Outer
from polyc.nests.samples import sample_parameters
from polyc.passes.buffers.promotion import copy_statement
from polyc.passes.products.panels import Panel, copying, filled_box
from polyc.poly import among, empty_map, maps, names, union_of
from polyc.records import replace

FETCHED_BYTES = (4, 8, 16)
"""Of elements that are fetched without a register."""


class NoPanels(Exception):
    """A part of an array has no place in shared memory, or gains nothing by it."""


class Parts:
    """What a tile, or a step of it, reads and writes of some arrays, copied into panels and back."""

    def __init__(self, program: Program, rows: int) -> None:
        self.program = program
        self.rows = rows
        """Of a tile."""
        self.left = 0
        """Bytes of shared memory."""
        self.numbers = count(1)
        """Of copies."""
        self.refs: frozenset[tuple[str, str]] | None = None
        """Of statements, those that go to panels; None for all to their arrays."""

    def with_panels(
        self,
        arrays: list[tuple[str, isl.Map | None, isl.Map | None]],
        step: Filter,
        below: Node,
        around: tuple[Member, ...],
        places: int,
        padded: bool = True,
    ) -> Node:
        """What a step does with a part of some arrays, between copies into panels and out of them. Raises NoPanels.

        arrays: each with `{ [outer, tile, part] -> A[x] }` of what is read and of what is written
        """
        if not arrays:
            return below
        copies, back, keys = list[Panel](), list[Panel](), list[str]()
        for array, read, written in arrays:
            (cells, *others) = (m for m in (read, written) if m is not None)
            for other in others:
                cells = cells.union(other)
            box = bounding_box(cells.coalesce(), self.program.scop.known, sample_parameters(self.program))
            extents = box.constant_extents() if box is not None else None
            if box is None or extents is None or max(extents) > 2 * max(around[-1].size, self.rows):
                raise NoPanels
            element = self.program.scop.arrays[array].element
            size = element.size_bytes or 8
            if element.kind == "struct" and size not in FETCHED_BYTES:
                raise NoPanels  # neither is it fetched at once, nor has it a zero
            pad = _pad(extents) if padded else 0
            self.left -= places * size * prod(extents[:-1]) * (extents[-1] + pad)
            order = tuple(range(len(extents))) if written is None else ()  # of what is staged only
            key = self.buffer(array, box, order, pad, len(around), names(step.filter))
            keys.append(key)
            if read is not None:
                whole = filled_box(box, extents) if written is None else None  # zeros may be in the way of values
                copies.append(self.copy(array, key, read, whole, True))
            if written is not None:
                back.append(self.copy(array, key, written, None, False))
        every = union_of((one.relation for one in (*copies, *back)), empty_map(self.program.scop.domain))
        steps = (*map(copying, copies), replace(step, child=below), *map(copying, back))
        return Mark("allocate", Extension(every, Sequence(steps)), names=tuple(keys))

    def touched(
        self, array: str, instances: isl.UnionSet, tile: isl.UnionMap, written: bool, inside: tuple[Member, ...] = ()
    ) -> isl.Map | None:
        """`{ [outer, tile, part] -> A[x] }`: what is read of an array, or written; None where nothing is.

        inside: the loops around a part, whose own values it does not read
        """
        found = []
        for name in names(instances):
            accesses = [a for a in self.program.statements[name].accesses if a.array == array and self.goes(name, a)]
            reads = [a for a in accesses if a.kind is AccessKind.READ]
            for access in reads if not written else (a for a in accesses if a.kind is not AccessKind.READ):
                relation = isl.UnionMap.from_map(access.relation)
                flow = self.program.dependences.flow_by_array.get(array)
                if len(reads) == 1 and not written and flow is not None:
                    made = Outer(inside).same_iteration(among(flow, instances)).range()
                    relation = relation.subtract_domain(made)
                found.append(relation)
        if not found:
            return None
        relation = empty_map(tile)
        for one in found:
            relation = relation.union(one)
        cells = maps(tile.reverse().apply_range(relation.intersect_domain(instances)))
        return cells[0].coalesce() if cells else None

    def goes(self, statement: str, access: Access) -> bool:
        """Whether a reference goes to the panel of its array."""
        return self.refs is None or (statement, access.ref) in self.refs

    def buffer(self, array: str, box: Box, order: tuple[int, ...], pad: int, depth: int, users: list[str]) -> str:
        name = fresh_buffer(self.program, f"{self.program.scop.arrays[array].c_name}_panel")
        every = ((n, a) for n in users for a in self.program.statements[n].accesses if a.array == array)
        refs = frozenset((n, a.ref) for n, a in every if self.goes(n, a))
        buffer = Buffer(name, name, array, box.corner, depth, box.extents, "tile", refs, (), order, pad)
        self.program = replace(self.program, buffers=self.program.buffers | {name: buffer})
        return name

    def copy(self, array: str, key: str, cells: isl.Map, box: isl.Map | None, inside: bool) -> Panel:
        """A statement that moves the cells of a part into its panel, or back from it."""
        shape = self.program.scop.arrays[array]
        statement = copy_statement(self.program, shape, f"{'in' if inside else 'out'}{next(self.numbers)}", inside)
        called = isl.Id.read_from_str(self.program.scop.domain.get_ctx(), statement.name)
        relation = (box if box is not None else cells).set_tuple_id(isl.dim_type.out, called)
        own = cells.range().set_tuple_id(called)
        known = self.program.buffers[key]
        buffers = self.program.buffers | {key: replace(known, accesses=known.accesses | {(statement.name, "inside")})}
        padded = dict(self.program.padded)
        if inside and not relation.range().intersect_params(self.program.scop.known).is_subset(own):
            padded[statement.name] = "zero"
        self.program = replace(
            self.program,
            buffers=buffers,
            padded=padded,
            statements=self.program.statements | {statement.name: replace(statement, domain=own)},
            copies=self.program.copies | {statement.name},
        )
        return Panel(statement.name, relation, key)


def _pad(extents: tuple[int, ...]) -> int:
    """Elements behind the rows of a panel: with rows of an odd length, lanes that walk side by side are on different
    banks."""
    return 1 - extents[-1] % 2
