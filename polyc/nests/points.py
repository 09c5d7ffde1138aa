"""Nests in which no iteration has data in common with another one: a tile of them shares nothing."""

from __future__ import annotations

import islpy as isl

from polyc.model.program import Program
from polyc.model.scop import AccessKind
from polyc.model.tree import Band, Extension, Mark, Member, Node, Role, walk
from polyc.nests.nest import values
from polyc.poly import maps, sets

SEVERAL_TIMES = 4
"""Blocks that are started for each that the machine holds at once, so that none waits long for the last ones."""


def is_elementwise(program: Program, members: tuple[Member, ...], instances: isl.UnionSet, below: Node) -> bool:
    """Whether each cell that the nest touches belongs to one iteration of the members, or is only read by all
    iterations of some loops (`b[j]` in `a[i][j] + b[j]`).

    math: for v the members' values and R = { v -> A[x] } all accesses to an array below: R is injective; or it is read
          only, and injective when the dimensions of v that it does not depend on are projected out
    """
    if any(isinstance(n, Extension) or (isinstance(n, Mark) and n.kind == "threads") for n in walk(below)):
        return False
    order = values(members, instances)
    by_array: dict[str, tuple[isl.UnionMap, bool]] = {}
    for relation in maps(order):
        name = str(relation.get_tuple_name(isl.dim_type.in_))
        for access in program.statements[name].accesses:
            touched = isl.UnionMap.from_map(relation.reverse().apply_range(access.relation))
            found, read_only = by_array.get(access.array, (None, True))
            joined = touched if found is None else found.union(touched)
            by_array[access.array] = joined, read_only and access.kind is AccessKind.READ
    private = program.scop.privatizable
    return all(
        array in private or _own_cells(touched) or (read_only and _broadcast(touched))
        for array, (touched, read_only) in by_array.items()
    )


def _own_cells(touched: isl.UnionMap) -> bool:
    return touched.is_injective()


def _broadcast(touched: isl.UnionMap) -> bool:
    """Whether the cells depend on some of the loops only, and in those each belongs to one iteration."""
    (relation,) = maps(touched)
    for d in reversed(range(relation.dim(isl.dim_type.in_))):
        without = relation.project_out(isl.dim_type.in_, d, 1)
        everywhere = without.insert_dims(isl.dim_type.in_, d, 1).reset_tuple_id(isl.dim_type.in_)
        if everywhere.intersect_domain(relation.domain()).is_equal(relation):
            relation = without
    return relation.is_injective()


def points_of(node: Node) -> Node:
    """What is below the tile loops at the top of a group."""
    while isinstance(node, Band) and node.members[0].role is Role.TILE:
        node = node.child
    return node


def statements_of(band: Band) -> tuple[str, ...]:
    """The names of the statements below a band."""
    return tuple(str(s.get_tuple_name()) for s in sets(band.members[0].schedule.domain()))
