"""Tile bands: sizes, tile loops and point loops (relations (10), (18) and (19))."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import islpy as isl

from polyc.machine import Cpu
from polyc.model.program import Options, Program
from polyc.model.tree import Band, Member, Node, Role
from polyc.nests.strides import dimension_of
from polyc.nests.wishes import options_of
from polyc.poly import affine_of, set_name, sets, value_on

WHOLE = 0
"""The size of a loop that is not cut."""
AUTO_LAST, AUTO_OTHER, AUTO_OUTER, AUTO_SINGLE = 128, 32, 8, 512
"""A CPU's tile where nothing was constructed for it (`cpu_tiles.py`)."""
GPU_SQUARE, GPU_SINGLE = 32, 256
"""A block's tile where nothing was constructed for it (`gpu_tiles.py`): four points for each of 32 x 8 threads, or one
for each of 256."""


def sizes_for(options: Options, band: Band) -> tuple[int, ...]:
    """The tile size of each member of a band; given sizes repeat the last one."""
    count = len(band.members)
    if isinstance(options.tile_sizes, tuple):
        given = options.tile_sizes
        return tuple(given[min(k, len(given) - 1)] for k in range(count))
    parallel = band.coincident_prefix
    if options.gpu:
        if parallel == 1:
            return (GPU_SINGLE, *[GPU_SQUARE] * (count - 1))
        return (*[1] * (parallel - 2), *[GPU_SQUARE] * (count - parallel + 2))
    if count == 1:
        return (AUTO_SINGLE,)
    sizes = [AUTO_OTHER] * count
    if parallel == 1:  # threads have nothing else to share
        sizes[0] = AUTO_OUTER
    if parallel >= 2:
        sizes[parallel - 1] = AUTO_LAST
    if parallel >= 3:
        sizes[: parallel - 2] = [AUTO_OUTER] * (parallel - 2)
    return tuple(sizes)


def neighbour(member: Member, size: int, place: int, space: isl.Space) -> isl.Map:
    """`{ S[i] -> S[i'] }`: to a place of the block of so many iterations of a loop that an instance lies in.

    math: v = c i + r with c = 1 or -1, so that i' = i + c (size floor(v / size) + place - v)
    requires: the loop runs through an index of the statement
    """
    value = value_on(member.schedule, space)
    position, index = dimension_of(value), affine_of(value)
    assert position is not None
    assert index is not None
    context = space.get_ctx()
    by = isl.Val.int_from_si(context, size)
    moved = index.scale_down_val(by).floor().scale_val(by).sub(index)
    moved = moved.add_constant_val(isl.Val.int_from_si(context, place))
    moved = moved.scale_val(index.get_coefficient_val(isl.dim_type.in_, position))
    result = isl.MultiAff.identity(space.map_from_set()).align_params(moved.get_space().params())
    moved = moved.align_params(result.get_space().params())
    return isl.Map.from_multi_aff(result.set_aff(position, result.get_aff(position).add(moved)))


def shared_among(machine: Cpu, size: int, least: int, length: int | None) -> int:
    """The size of tiles, halved until each core gets two of a parallel loop, if its length is known; no smaller than
    `least`."""
    while length is not None and size > least and length < 2 * size * machine.cores:
        size //= 2
    return size


def tile_members(members: tuple[Member, ...], sizes: tuple[int, ...]) -> tuple[Member, ...]:
    """`{ S[i] -> [T * floor(i / T)] }` for each member that is cut: the tile's corner, so that subscripts stay
    readable."""
    found = []
    for member, size in zip(members, sizes, strict=True):
        if size == WHOLE:
            continue
        value = isl.Val.int_from_si(member.schedule.get_ctx(), size)
        corner = member.schedule.scale_down_val(value).floor().scale_val(value)
        found.append(replace(member, schedule=corner, role=Role.TILE, size=size))
    return tuple(found)


def point_members(members: tuple[Member, ...]) -> tuple[Member, ...]:
    return tuple(replace(m, role=Role.POINT) for m in members)


def worth_tiling(program: Program, band: Band) -> bool:
    """Whether a tile of the band meets some of its data again: an access that a loop of the band does not move,
    or two accesses of one array that differ by a shift."""
    if isinstance(options_of(program, band).tile_sizes, tuple) or program.options.gpu:
        return True  # a GPU's blocks are tiles
    if len(band.members) < 2:
        return False
    for piece in sets(band.members[0].schedule.domain()):
        statement = program.statements[set_name(piece)]
        for access in statement.accesses:
            rank = access.relation.dim(isl.dim_type.out)
            if rank == 0 or not access.placed:
                continue
            for member in band.members:
                if not moves(access.relation, member):
                    return True
        by_array: dict[str, set[str]] = {}
        for access in statement.accesses:
            by_array.setdefault(access.array, set()).add(str(access.relation))
        if any(len(relations) > 2 for relations in by_array.values()):
            return True
    return False


def meets_along_last(program: Program, band: Band) -> bool:
    """Whether data are met again along the innermost loop of a band only, which carries a dependence: that needs no
    tiles, which would cut up what a recurrence keeps in registers, as the state of a filter.

    What several loops do not move counts for the innermost of these: it is there again in its next iteration.
    """
    *around, last = band.members
    if last.coincident or not around:
        return False
    for piece in sets(last.schedule.domain()):
        statement = program.statements[set_name(piece)]
        moved: dict[str, set[str]] = {}
        for access in statement.accesses:
            if access.relation.dim(isl.dim_type.out) == 0:
                continue
            if not (access.placed and access.exact):
                return False  # the data choose the cell
            still = [not moves(access.relation, member) for member in band.members]
            if any(one and not all(still[k:]) for k, one in enumerate(still)):
                return False
            if not still[-1]:
                moved.setdefault(access.array, set()).add(str(access.relation))
        if max(map(len, moved.values()), default=0) > 2:
            return False  # as it may be in a stencil, whose tiles meet their neighbours' data
    return True


def moves(relation: isl.Map, member: Member) -> bool:
    """Whether the cell determines the loop's value, so that another iteration means another cell."""
    space = relation.get_space().domain()
    value = value_on(member.schedule, space)
    return bool(relation.reverse().apply_range(isl.Map.from_pw_aff(value)).is_single_valued())


def told_sizes(sizes: Iterable[int]) -> str:
    """`32 x 128`, `8 x all`."""
    return " x ".join("all" if size == WHOLE else str(size) for size in sizes)


def tiled(band: Band, sizes: tuple[int, ...], below: Node) -> Node:
    """tile band - point band - below."""
    point = Band(point_members(band.members), band.permutable, below)
    return Band(tile_members(band.members, sizes), band.permutable, point)
