"""Rows that the iterations of a loop read, each its own: in a buffer in which neighbours lie side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from math import prod

import islpy as isl

from polyc.analysis.expressions.straight import unconditional
from polyc.model.program import Buffer, Program
from polyc.model.scop import Access, AccessKind, Statement
from polyc.model.tree import Band, Extension, Filter, Mark, Member, Node, Sequence, walk
from polyc.nests.boxes import bounding_box
from polyc.nests.naming import fresh_buffer
from polyc.nests.nest import values
from polyc.nests.samples import sample_parameters
from polyc.nests.strides import dimension_of, iterations, step_of, subscript_of
from polyc.nests.tiling import tile_members
from polyc.passes.buffers.promotion import copy_statement, loops_over
from polyc.poly import constant_of, empty_map, names, union_of, value_on
from polyc.records import dataclass, replace

LARGEST = 16384
"""Bytes of a strip's columns: half of a first-level cache, beside which the other operands have their place."""
REUSED = 4
"""Iterations of a loop that reads the same elements again, for which it pays to move them."""


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """One buffer `t[k][i - it] = A[i][k]`, and the copy that fills it."""

    buffer: Buffer
    statement: Statement
    cells: isl.Map
    """`{ [above, tile] -> copy[i, k] }`."""


def columns_of(
    program: Program, band: Band, member: Member, above: tuple[Member, ...], size: int
) -> tuple[Column, ...]:
    """The arrays of which each iteration of a loop reads a short row, again and again, for strips of the loop.

    requires: nothing in the band writes them; what is copied is what the strip's iterations read whatever the data are
    """
    instances = band.members[0].schedule.domain()
    if len(band.members) > 1 and not band.permutable:
        return ()  # the loop could not go around the others
    if any(not instances.is_subset(m.schedule.domain()) for m in above):
        return ()
    inner = [m for n in walk(band.child) if isinstance(n, Band) for m in n.members]
    loops = [m for m in (*band.members, *inner) if m is not member]
    around = values((*above, *tile_members((member,), (size,))), instances).reverse()
    found: list[Column] = []
    for array, subscript, reads in _rows_read(program, member, instances, loops):
        touched = union_of((a.relation for _, a in reads), empty_map(instances))
        name = fresh_buffer(program, f"{program.scop.arrays[array].c_name}_columns", (c.buffer.name for c in found))
        column = column_of(program, isl.Map.from_union_map(around.apply_range(touched)), subscript, reads, name)
        extents = [] if column is None else [constant_of(extent) for extent in column.buffer.extents]
        element = program.scop.arrays[array].element.size_bytes or LARGEST
        if column is not None and None not in extents and prod(e or 0 for e in extents) * element <= LARGEST:
            found.append(replace(column, buffer=replace(column.buffer, depth=len(above) + 1)))
    return tuple(found)


def column_of(
    program: Program, cells: isl.Map, subscript: int, reads: list[tuple[Statement, Access]], name: str
) -> Column | None:
    """A buffer for the cells of a tile, `{ [tile] -> A[i, k] }`, with the given subscript innermost; None where no box
    holds them."""
    array = program.scop.arrays[reads[0][1].array]
    cells = cells.coalesce()
    box = bounding_box(cells, program.scop.known, sample_parameters(program))
    if box is None:
        return None
    copy = copy_statement(program, array, f"fill_{name}", True)
    cells = cells.set_tuple_id(isl.dim_type.out, isl.Id.read_from_str(cells.get_ctx(), copy.name))
    refs = frozenset({(s.name, a.ref) for s, a in reads} | {(copy.name, "inside")})
    order = (*(d for d in range(array.rank) if d != subscript), subscript)
    buffer = Buffer(name, name, array.name, box.corner, 0, box.extents, "tile", refs, (), order)
    domain = copy.domain.intersect(cells.range().remove_divs()).coalesce()
    return Column(buffer, replace(copy, domain=domain), cells)


def with_columns(program: Program, columns: Iterable[Column]) -> Program:
    """The program with the buffers and their copies, which no node of the tree runs yet."""
    columns = tuple(columns)
    return replace(
        program,
        buffers=program.buffers | {c.buffer.key: c.buffer for c in columns},
        statements=program.statements | {c.statement.name: c.statement for c in columns},
        copies=program.copies | {c.statement.name for c in columns},
    )


def plainly_filled(column: Column) -> Band:
    """Loops over the elements in their own order."""
    # No pragma: gcc makes vectors of rows and shuffles them, three times as fast as stores to each column.
    return loops_over(column.statement.loops, column.cells.range(), coincident=False)


def below_columns(
    columns: tuple[Column, ...], instances: isl.UnionSet, node: Node, filling: Callable[[Column], Node] = plainly_filled
) -> Node:
    """What runs in a strip, below the copies that fill its columns."""
    fills = tuple(Filter(isl.UnionSet.from_set(c.cells.range()), filling(c)) for c in columns)
    every = union_of((c.cells for c in columns), empty_map(instances))
    steps = Sequence((*fills, Filter(instances, node)))
    return Mark("allocate", Extension(every, steps), names=tuple(c.buffer.key for c in columns))


def _rows_read(
    program: Program, member: Member, instances: isl.UnionSet, loops: list[Member]
) -> Iterator[tuple[str, int, list[tuple[Statement, Access]]]]:
    """Arrays, the subscript that the loop moves, and the references for which it does so, where another loop reads the
    same again."""
    statements = [program.statements[name] for name in names(instances)]
    found: dict[tuple[str, int], list[tuple[Statement, Access]]] = {}
    for statement in statements:
        position = position_of(member, statement)
        for access in statement.accesses:
            subscript = row_read(program, statement, access, position, statements)
            if subscript is not None and _is_reused(access, statement, loops, program):
                found.setdefault((access.array, subscript), []).append((statement, access))
    for (array, subscript), reads in sorted(found.items(), key=lambda one: one[0]):
        yield array, subscript, reads


def row_read(
    program: Program, statement: Statement, access: Access, position: int | None, others: Iterable[Statement]
) -> int | None:
    """The subscript that a dimension of a statement moves, from row to row, of an access that may be to a copy of its
    array: it reads what is there, and no other statement, nor a buffer, has it otherwise; else None."""
    if position is None or not access.exact or step_of(access, position) != 2 or is_written(access.array, others):
        return None
    if access.array in program.scop.privatizable:
        return None  # each iteration outside has its own: no copy of it may hide that
    if any((statement.name, access.ref) in b.accesses for b in program.buffers.values()):
        return None
    if access.ref not in {one.ref for one in unconditional(statement.body)}:
        return None  # where data decide, there may be no such element
    return subscript_of(access, position)


def is_written(array: str, statements: Iterable[Statement]) -> bool:
    """Whether some statements may write an array."""
    return any(a.array == array and a.kind is not AccessKind.READ for s in statements for a in s.accesses)


def _is_reused(access: Access, statement: Statement, loops: list[Member], program: Program) -> bool:
    for loop in loops:
        position = position_of(loop, statement)
        if position is not None and step_of(access, position) == 0:
            count = iterations(loop, program)
            if count is None or count >= REUSED:
                return True
    return False


def position_of(member: Member, statement: Statement) -> int | None:
    """The dimension of a statement that a loop runs through."""
    if not any(name == statement.name for name in names(member.schedule.domain())):
        return None
    return dimension_of(value_on(member.schedule, statement.domain.get_space()))
