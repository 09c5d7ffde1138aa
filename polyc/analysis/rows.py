"""Which cells an array has for sure, whatever the program uses of it."""

from __future__ import annotations

import islpy as isl

from polyc.model.scop import Array


def with_rows(array: Array, cells: isl.Set) -> isl.Set:
    """Some cells of an array, and all that stand in one row, plane, … (what the first subscript has) with one of them.

    In `double A[][m]` a row is one object: where a cell of it can be used, all its m cells are there. Pointers to rows
    have no such extents. The rows of a flat array are no objects: it has all that lies in memory between two of its
    cells, and may end right after the last of them.

    cells: `[n] -> { A[x, y] }`
    """
    inner = [extent for extent in array.extents[1:] if extent is not None]
    if not inner or len(inner) < array.rank - 1:
        return cells
    first = cells.project_out(isl.dim_type.set, 1, array.rank - 1).insert_dims(isl.dim_type.set, 1, array.rank - 1)
    rows = first.set_tuple_id(cells.get_tuple_id())
    for position, extent in enumerate(inner, 1):
        space = rows.get_space().align_params(extent.get_space().params())
        place = isl.PwAff.from_aff(isl.Aff.var_on_domain(isl.LocalSpace.from_space(space), isl.dim_type.set, position))
        limit = extent.project_domain_on_params().insert_domain(space)
        zero = isl.PwAff.val_on_domain(isl.Set.universe(space), isl.Val.zero(space.get_ctx()))
        rows = rows.intersect(place.ge_set(zero)).intersect(place.lt_set(limit))
    if array.flat:
        space = cells.get_space()
        rows = rows.intersect(isl.Map.lex_le(space).intersect_domain(cells).range())
        rows = rows.intersect(isl.Map.lex_ge(space).intersect_domain(cells).range())
    return cells.union(rows)
