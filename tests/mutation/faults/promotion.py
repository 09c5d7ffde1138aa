"""Faults of the buffers that `basteln` makes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import islpy as isl

import polyc.passes.buffers.promotion as promotion
import polyc.passes.fusion.basteln as basteln
import polyc.passes.fusion.tile_data as tile_data
from polyc.nests.boxes import Box
from polyc.poly import empty_map, maps
from tests.mutation import edits as e
from tests.mutation.install import Install, adding_to, patched
from tests.mutation.runner import Fault, after_pass

FAULTS: list[Fault] = []
add = adding_to(FAULTS)

# --- promotion and boxes ---------------------------------------------------------------------------------------------


def box_changed(change: Callable[[Box], Box]) -> Install:
    def make(original: Any) -> Any:
        def bounding_box(*args: Any) -> Box | None:
            found = original(*args)
            return None if found is None else change(found)

        return bounding_box

    return patched(promotion, "bounding_box", make)


def corner(dimension: int, distance: int) -> Callable[[Box], Box]:
    def change(box: Box) -> Box:
        if box.corner.dim(isl.dim_type.out) <= dimension:
            return box
        one = box.corner.get_at(dimension)
        moved = one.add_constant_val(isl.Val.int_from_si(one.get_ctx(), distance))
        return replace(box, corner=box.corner.set_at(dimension, moved))

    return change


def extent(dimension: int, distance: int) -> Callable[[Box], Box]:
    def change(box: Box) -> Box:
        if len(box.extents) <= dimension:
            return box
        old = box.extents[dimension]
        more = isl.PwAff.val_on_domain(old.domain(), isl.Val.int_from_si(old.get_ctx(), distance))
        return replace(box, extents=(*box.extents[:dimension], old.add(more), *box.extents[dimension + 1 :]))

    return change


def plan(change: Callable[[promotion.DataTile], promotion.DataTile]) -> Install:
    def make(original: Any) -> Any:
        def plan_buffer(*args: Any) -> Any:
            found = original(*args)
            return change(found) if isinstance(found, promotion.DataTile) else found

        return plan_buffer

    return patched(tile_data, "plan_buffer", make)


def every_tile_stores(original: Any) -> Any:
    """A cell has no owner: each tile that made it stores it."""

    def copy_out(*args: Any) -> Any:
        program, tile, nest, moved, array, _outer, _dropped = args
        found = original(*args)
        if not isinstance(found, isl.Map):
            return found
        writes = empty_map(tile)
        for name in nest.statements:
            for access in program.statements[name].accesses:
                if access.array == array and access.kind.value != "read":
                    writes = writes.union(isl.UnionMap.from_map(access.relation))
        (every,) = maps(tile.reverse().apply_range(writes.intersect_domain(moved)).coalesce())
        return every

    return copy_out


def owner_is_last(original: Any) -> Any:
    def copy_out(*args: Any) -> Any:
        found = every_tile_stores(original)(*args)
        if not isinstance(found, isl.Map):
            return found
        return found.reverse().lexmax().reverse().coalesce()

    return copy_out


def fill_cells(change: Callable[[isl.Map], isl.Map | None]) -> Install:
    return plan(lambda d: replace(d, fill=None if d.fill is None else change(d.fill)))


def store_cells(change: Callable[[isl.Map], isl.Map | None]) -> Install:
    return plan(lambda d: replace(d, copy_out=None if d.copy_out is None else change(d.copy_out)))


def copies_flipped(original: Any) -> Any:
    return lambda program, array, prefix, to_buffer: original(program, array, prefix, not to_buffer)


for dim_ in (0, 1):
    for distance_ in (-1, 1):
        add(
            "promotion",
            f"corner {distance_:+d} in dimension {dim_}",
            "of the box",
            box_changed(corner(dim_, distance_)),
        )
        add(
            "promotion",
            f"extent {distance_:+d} in dimension {dim_}",
            "of the box",
            box_changed(extent(dim_, distance_)),
        )
        add(
            "promotion",
            f"buffer's corner {distance_:+d} in dimension {dim_}",
            "of the buffer, after basteln",
            after_pass("basteln", e.buffer_edit(e.corner_moved(dim_, distance_))),
        )
add(
    "promotion",
    "buffer one too small",
    "its last extent",
    after_pass("basteln", e.buffer_edit(e.extent_changed(0, -1))),
)
add("promotion", "extent lost", "one dimension fewer", after_pass("basteln", e.buffer_edit(e.extent_lost)))
add(
    "promotion",
    "corner of the first tile",
    "for all tiles",
    after_pass("basteln", e.buffer_edit(e.corner_of_everything)),
)
add("promotion", "corner forgotten", "the array's own subscripts", after_pass("basteln", e.corner_forgotten))
for distance_ in (-1, 1):
    add(
        "promotion",
        f"depth {distance_:+d}",
        "of the buffer",
        after_pass("basteln", e.buffer_edit(e.depth_changed(distance_))),
    )
for position_ in (0, -1, 1):
    add(
        "promotion",
        f"access {position_} not redirected",
        "it stays on the array",
        after_pass("basteln", e.buffer_edit(e.access_lost(position_))),
    )
add("promotion", "fill forgotten", "old values are not there", fill_cells(lambda _m: None))
add("promotion", "fill without its last column", "of cells", fill_cells(e.range_shrunk(1, True)))
add("promotion", "fill shifted", "by a column", fill_cells(e.range_shift(1, 1)))
add("promotion", "store forgotten", "values needed outside stay in the tile", store_cells(lambda _m: None))
add("promotion", "store without its first row", "of cells", store_cells(e.range_shrunk(0, False)))
add("promotion", "store shifted", "by a row", store_cells(e.range_shift(0, 1)))
add("promotion", "every tile stores", "cells have no owner", patched(promotion, "_copy_out", every_tile_stores))
add("promotion", "the last tile owns", "instead of the first", patched(promotion, "_copy_out", owner_is_last))
add("promotion", "copies flipped", "fill stores, store fills", patched(basteln, "copy_statement", copies_flipped))
add(
    "promotion",
    "copies turned round",
    "after basteln",
    after_pass("basteln", e.statement_edit(e.copies_turned_round, True)),
)
add(
    "promotion",
    "copies add one",
    "the text is no copy",
    after_pass("basteln", e.statement_edit(e.value_plus_one, True)),
)
add(
    "promotion",
    "copies take the neighbour",
    "one cell to the next",
    after_pass("basteln", e.statement_edit(e.copy_of_the_neighbour, True)),
)
add("promotion", "copies are not known as such", "`copies` is empty", after_pass("basteln", e.no_copy_is_known))
add("promotion", "everything is a copy", "`copies` has all statements", after_pass("privatize", e.everything_is_a_copy))
add(
    "promotion",
    "sizes without a guard",
    "parametric extents",
    patched(promotion, "_sizes", lambda o: lambda *a: None if o(*a) is None else (o(*a)[0], None)),
)
add(
    "promotion",
    "sizes without slack",
    "ten where the samples say more",
    patched(
        promotion,
        "_sizes",
        lambda o: lambda *a: None if o(*a) is None else (tuple(min(x, 10) for x in o(*a)[0]), o(*a)[1]),
    ),
)
add(
    "promotion",
    "guard twice as wide",
    "the limit of parametric extents",
    patched(promotion, "_fits", lambda o: lambda x, limit, t: o(x, 2 * limit, t)),
)
add("promotion", "named like another array", "which the tile reads", after_pass("basteln", e.named_like_another_array))
add("promotion", "two buffers of one name", "in one tile", after_pass("basteln", e.buffers_share_a_name))
add(
    "promotion",
    "values from before forgotten",
    "RefFlow knows no live-in",
    patched(promotion.RefFlow, "of", lambda o: lambda s, *a: replace(o(s, *a), live_in=empty_map(o(s, *a).live_in))),
)
add(
    "promotion",
    "declared above the tiles",
    "one buffer for all tiles",
    after_pass("basteln", e.everywhere(e.allocation_above_the_band)),
)
add(
    "promotion",
    "declared below",
    "anew in each step's loop",
    after_pass("basteln", e.everywhere(e.allocation_below_the_next_band)),
)
add(
    "promotion",
    "declared in each step",
    "each has its own",
    after_pass("basteln", e.everywhere(e.allocation_into_each_step)),
)
add("promotion", "declared nowhere", "the mark is dropped", after_pass("basteln", e.everywhere(e.allocation_dropped)))
