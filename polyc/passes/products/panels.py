"""Panels: parts of a contraction's operands that the threads of a block copy into shared memory together."""

from __future__ import annotations

import islpy as isl

from polyc.cost.gpu_sizes import VECTOR_BYTES
from polyc.cost.time import operations
from polyc.model import ctree as c
from polyc.model.program import Buffer, Program
from polyc.model.scop import Access, AccessKind, Array, Statement
from polyc.model.tree import LEAF, Band, Filter, Member, Node, Role
from polyc.nests.boxes import Box
from polyc.poly import affine_of, maps, out_name
from polyc.records import dataclass, replace


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    name: str
    """The statement that fills it: a copy, or the producer of the values itself."""
    relation: isl.Map
    """`{ [outer, tile, panel] -> copy[x] }`."""
    buffer: str
    vector: int = 1
    """Elements that a thread copies at once."""


def copying(panel: Panel) -> Filter:
    """Loops over the cells of a panel, that the mapping deals out to threads."""
    cells = panel.relation.range()
    space = cells.get_space()
    rank = space.dim(isl.dim_type.set)
    members = [Member(_index(space, d), True, f"x{d}", Role.POINT) for d in range(rank)]
    below: Node = LEAF
    if panel.vector > 1:
        size = isl.Val.int_from_si(space.get_ctx(), panel.vector)
        last = members[-1]
        below = Band((replace(last, schedule=last.schedule.mod_val(size), role=Role.REGISTER),), True, LEAF)
        members[-1] = replace(last, schedule=last.schedule.scale_down_val(size).floor())
    return Filter(isl.UnionSet.from_set(cells), Band(tuple(members), True, below))


def _index(space: isl.Space, position: int) -> isl.UnionPwAff:
    """`{ copy[x] -> [x_d] }`."""
    value = isl.Aff.var_on_domain(isl.LocalSpace.from_space(space), isl.dim_type.set, position)
    return isl.UnionPwAff.from_pw_aff(isl.PwAff.from_aff(value))


def vector_of(array: Array, box: Box, extents: tuple[int, ...], tiles: isl.Set, cells: isl.Set, known: isl.Set) -> int:
    """How many elements of a row a thread may load at once: as many as 16 bytes have, where everything begins and ends
    at multiples of 16 bytes. In the panel they lie together, or, where another dimension is innermost there, in rows
    that follow each other: then they go through registers.

    tiles: `{ [o] }`, where the box's corners are; cells: what there is to copy; what else a panel holds is zero, 16
    bytes at a time.
    """
    size = VECTOR_BYTES // (array.element.size_bytes or VECTOR_BYTES)
    last = array.rank - 1
    if (
        size < 2
        or size * array.element.size_bytes < VECTOR_BYTES
        or extents[last] % size
        or not known.is_subset(array.aligned(size, known))
    ):
        return 1
    corner = isl.PwAff.from_aff(box.corner.get_aff(last)).mod_val(isl.Val.int_from_si(cells.get_ctx(), size))
    if not tiles.is_subset(corner.zero_set()):
        return 1
    return size if in_whole_blocks(cells, size) else 1


def in_whole_blocks(cells: isl.Set, size: int) -> bool:
    """Whether of `size` cells in a row, from a multiple of it on, all are there or none."""
    names = [f"x{d}" for d in range(cells.dim(isl.dim_type.set))]
    moved = [*names[:-1], "y"]
    text = f"{{ [{', '.join(names)}] -> [{', '.join(moved)}] : floor({names[-1]}/{size}) = floor(y/{size}) }}"
    together = isl.Map.read_from_str(cells.get_ctx(), text)
    plain = cells.reset_tuple_id()
    return bool(plain.apply(together).is_subset(plain))


MOST_OPERATIONS, MOST_READS = 16.0, 2
"""What a producer may cost where its values are made anew for each panel; loading them costs one read."""


def producer_of(
    program: Program, access: Access, reader: str, alone: frozenset[str], several: bool = False
) -> Statement | None:
    """The one statement that makes what an operand holds, if it is as cheap to run it again for each panel as to load
    its values: elementwise, from arrays that nobody writes.

    alone:   statements that have a nest of their own, which can be left out
    several: others may read its values, too. Its nest is needed, then, unless all of them have panels for which it runs
    """
    statements = program.scop.statements.values()
    written = {a.array for s in statements for a in s.accesses if a.kind is not AccessKind.READ}
    users = [(s, a) for s in statements for a in s.accesses if a.array == access.array]
    writers = [(s, a) for s, a in users if a.kind is not AccessKind.READ]
    if access.array in program.scop.live_out or len(writers) != 1:
        return None
    ((made, write),) = writers
    reads = [a for a in made.accesses if a.kind is AccessKind.READ]
    loads = sum(a.relation.dim(isl.dim_type.out) > 0 for a in reads)
    good = (
        made.name in alone
        and (several or readers_of(program, made) == {reader})
        and _is_elementwise(made)
        and operations(made) <= MOST_OPERATIONS
        and loads <= MOST_READS
        and (write.kind is AccessKind.WRITE and write.exact and write.relation.is_injective())
        and not any(out_name(m) == access.array for m in maps(program.dependences.live_in))
        and not written & {a.array for a in reads}
    )
    return made if good else None


def readers_of(program: Program, producer: Statement) -> set[str]:
    """The other statements that touch what a statement writes."""
    written = {a.array for a in producer.accesses if a.kind is not AccessKind.READ}
    statements = program.scop.statements.values()
    return {s.name for s in statements if any(a.array in written for a in s.accesses)} - {producer.name}


def _is_elementwise(statement: Statement) -> bool:
    """`X[i] = e` without calls."""
    match statement.body:
        case c.ExprStmt(expr=c.Assign(op="=")):
            return not statement.opaque and not any(isinstance(n, c.Call) for n in c.walk(statement.body))
        case _:
            return False


def filled_box(box: Box, extents: tuple[int, ...]) -> isl.Map:
    """`{ [o] -> A[x] : corner(o) <= x < corner(o) + extents }`."""
    corner = isl.Map.from_multi_aff(box.corner)
    rank = len(extents)
    one, two = [[f"{v}{k}" for k in range(rank)] for v in "lx"]
    inside = " and ".join(f"{a} <= {b} < {a} + {e}" for a, b, e in zip(one, two, extents, strict=True))
    text = f"{{ [{', '.join(one)}] -> [{', '.join(two)}] : {inside} }}"
    grown = isl.Map.read_from_str(corner.get_ctx(), text)
    return corner.reset_tuple_id(isl.dim_type.out).apply_range(grown)


def dimensions_along(cell: isl.PwMultiAff, value: isl.Map) -> list[int]:
    """The dimensions of a cell that move with a loop."""
    return [d for d in range(cell.dim(isl.dim_type.out)) if mention_one_index(cell.get_pw_aff(d), value)]


def mention_one_index(cell: isl.PwAff, value: isl.Map) -> bool:
    """Whether an index of a cell and a loop's value have an index of the statement in common."""
    one, two = affine_of(cell), affine_of(isl.PwMultiAff.from_map(value).get_pw_aff(0))
    if one is None or two is None:
        return False
    dims = range(one.dim(isl.dim_type.in_))
    return any(one.involves_dims(isl.dim_type.in_, d, 1) and two.involves_dims(isl.dim_type.in_, d, 1) for d in dims)


def buffer_bytes(program: Program, buffer: Buffer, limit: int) -> int:
    """What a buffer takes; `limit` elements for one without a constant size."""
    size = program.scop.arrays[buffer.array].element.size_bytes or 8
    inner = buffer.order[-1] if buffer.order else len(buffer.extents) - 1
    for d, extent in enumerate(buffer.extents):
        most = extent.max_val()
        size *= (int(most.to_python()) if most.is_int() else limit) + (buffer.pad if d == inner else 0)
    return size
