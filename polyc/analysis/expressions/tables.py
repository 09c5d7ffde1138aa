"""Short rows of tables, from which lookups take elements: how long they are, and what of them may be read."""

from __future__ import annotations

import islpy as isl

from polyc.analysis.expressions.ranges import bounds_of
from polyc.model import ctree as c
from polyc.model.program import Program
from polyc.model.scop import Access, AccessKind, Array, Statement, Storage
from polyc.poly import constant_of

BYTES_AT_ONCE = 64
"""Of a vector, for tables of bytes: with AVX-512 VBMI a permutation finds them in two registers, 128 elements."""
BYTE_ROWS = (128, 256, 512, 1024)
"""Elements of a row of bytes: as many as 2, 4, 8 or 16 registers hold."""


def row_extent(array: Array) -> isl.PwAff | None:
    """The elements of a row, None where they are not known: in C, `float t[12]` as an argument is a pointer."""
    pointer = array.rank == 1 and array.storage is Storage.ARGUMENT
    return None if pointer or not array.rank else array.extents[-1]


def index_below(program: Program, statement: Statement, access: Access) -> int | None:
    """A number that is more than each index of a lookup; None where none is known.

    By the declared length of a row, or by a clamp in the subscript itself (`analysis/expressions/ranges.py`).
    """
    extent = row_extent(program.scop.arrays[access.array])
    known = None if extent is None else constant_of(extent)
    (reference,) = (n for n in c.walk(statement.body) if isinstance(n, c.ArrayRef) and n.ref == access.ref)
    low, high = bounds_of(c.unlabelled(reference.subscripts[-1]), lambda _name: None)
    if low is None or high is None:
        return known
    return high + 1 if known is None else min(known, high + 1)


def can_be_read(program: Program, access: Access, count: int) -> bool:
    """Whether a row has so many elements that may be read: by its declaration, or since the region writes them all."""
    extent = row_extent(program.scop.arrays[access.array])
    known = None if extent is None else constant_of(extent)
    if known is not None:
        return count <= known
    last = access.relation.dim(isl.dim_type.out) - 1
    cells = access.relation.range().project_out(isl.dim_type.set, last, 1).insert_dims(isl.dim_type.set, last, 1)
    cells = cells.lower_bound_val(isl.dim_type.set, last, isl.Val.zero(cells.get_ctx()))
    cells = cells.upper_bound_val(isl.dim_type.set, last, isl.Val.int_from_si(cells.get_ctx(), count - 1))
    cells = cells.reset_tuple_id().intersect_params(program.scop.known)
    for statement in program.scop.statements.values():
        for other in statement.accesses:
            if other.array == access.array and other.kind is AccessKind.WRITE and other.exact:
                cells = cells.subtract(other.relation.range().reset_tuple_id())
    return bool(cells.is_empty())
