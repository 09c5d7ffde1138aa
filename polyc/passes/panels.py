"""Panels: parts of a contraction's operands that the threads of a block copy into shared memory together."""

from __future__ import annotations

from dataclasses import dataclass

import islpy as isl

from polyc.model.program import Buffer, Program
from polyc.model.tree import LEAF, Band, Filter, Member, Role
from polyc.passes.boxes import Box
from polyc.poly import affine_of


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    name: str
    relation: isl.Map
    """`{ [outer, tile, panel] -> copy[x] }`."""
    buffer: str


def copying(panel: Panel) -> Filter:
    """Loops over the cells of a panel, that the mapping deals out to threads."""
    cells = panel.relation.range()
    space = cells.get_space()
    everywhere = isl.Set.universe(space)
    members = tuple(
        Member(
            isl.UnionPwAff.from_pw_aff(
                isl.PwAff.from_aff(
                    isl.Aff.var_on_domain(isl.LocalSpace.from_space(space), isl.dim_type.set, d)
                ).intersect_domain(everywhere)
            ),
            True,
            f"x{d}",
            Role.POINT,
        )
        for d in range(space.dim(isl.dim_type.set))
    )
    return Filter(isl.UnionSet.from_set(cells), Band(members, True, LEAF))


def filled_box(box: Box, extents: tuple[int, ...]) -> isl.Map:
    """`{ [o] -> A[x] : corner(o) <= x < corner(o) + extents }`."""
    corner = isl.Map.from_multi_aff(box.corner)
    rank = len(extents)
    one, two = [[f"{v}{k}" for k in range(rank)] for v in "lx"]
    inside = " and ".join(f"{a} <= {b} < {a} + {e}" for a, b, e in zip(one, two, extents, strict=True))
    text = f"{{ [{', '.join(one)}] -> [{', '.join(two)}] : {inside} }}"
    grown = isl.Map.read_from_str(corner.get_ctx(), text)
    return corner.reset_tuple_id(isl.dim_type.out).apply_range(grown)


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
    for extent in buffer.extents:
        most = extent.max_val()
        size *= int(most.to_python()) if most.is_int() else limit
    return size
