"""What a tile needs of a producer, by the box of the cells that it reads."""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl

from polyc.model.program import Program
from polyc.model.scop import AccessKind
from polyc.nests.nest import Nest
from polyc.poly import in_name, maps, sets, union_of


def is_ragged(extension: isl.UnionMap) -> bool:
    """Whether some of it is no box: it has diagonal borders, several pieces, or remainders in bounds.

    A stencil over cells of two kinds, on a checkerboard say, needs less in the corners of each kind.
    """
    return any(_is_ragged(piece) for piece in maps(extension))


def _is_ragged(piece: isl.Map) -> bool:
    piece = piece.compute_divs()  # constraints are not told of remainders that isl does not know
    if piece.n_basic_map() > 1:
        return True
    basic = piece.get_basic_map_list().get_at(0)
    rows = basic.get_constraint_list()
    rank = basic.dim(isl.dim_type.out)
    for k in range(rows.n_constraint()):
        row = rows.get_at(k)
        used = sum(row.involves_dims(isl.dim_type.out, d, 1) for d in range(rank))
        if used > 1 and not row.is_equality():
            return True
    return bool(basic.dim(isl.dim_type.div) > basic.dim(isl.dim_type.in_))


def is_simpler(one: isl.UnionMap, other: isl.UnionMap) -> bool:
    """Whether fewer conditions describe it, but some."""
    return 0 < _conditions(one) < _conditions(other)


def _conditions(relation: isl.UnionMap) -> int:
    pieces = [piece.compute_divs().get_basic_map_list() for piece in maps(relation)]
    basics = [found.get_at(k) for found in pieces for k in range(found.n_basic_map())]
    return sum(basic.get_constraint_list().n_constraint() for basic in basics)


def count_at(instances: isl.UnionSet, sizes: isl.Set) -> int | None:
    """How many instances there are at some sizes; None where there is no end of them."""
    count = 0
    for piece in sets(instances):
        here = piece.intersect_params(sizes)
        size = here.count_val() if here.is_bounded() else isl.Val.infty(here.get_ctx())
        if not size.is_int():
            return None
        count += size.to_python()
    return count


def by_cells(
    program: Program, tile_of: isl.UnionMap, tiles: isl.UnionSet, nest: Nest, grouping: isl.UnionMap
) -> isl.UnionMap:
    """The iterations of the nest that write into the box around the cells that a tile reads.

    math:     e = h . f, f the box hull of t^-1 . r for each array that the nest writes, r its reads; h the box hull, in
              the loops of the nest, of all iterations that write cells of f
    requires: tile_of `{ S[i] -> [outer, tile] }` of the readers, `tiles` its range for the outputs, grouping
              `{ S[i] -> [v] }`
    ensures:  at least the instances whose values the tile reads: they write what it reads
    """
    iterations: list[isl.Map] = []
    for array in _written(program, nest):
        cells = _box(list(_cells_read(program, tile_of, array)))
        if cells is None:
            continue
        for name in nest.statements:
            for access in program.statements[name].accesses:
                if access.array == array and access.kind is not AccessKind.READ:
                    writes = isl.UnionMap.from_map(access.relation).intersect_domain(nest.instances)
                    iterations += maps(isl.UnionMap.from_map(cells).apply_range(writes.reverse()).apply_range(grouping))
    box = _box(iterations)
    if box is None:
        return isl.UnionMap.empty(tile_of.get_space())
    wanted = isl.UnionMap.from_map(box).intersect_domain(tiles).intersect_range(grouping.range())
    return wanted.apply_range(grouping.reverse()).coalesce()


def _written(program: Program, nest: Nest) -> list[str]:
    accesses = (a for name in nest.statements for a in program.statements[name].accesses)
    return list(dict.fromkeys(a.array for a in accesses if a.kind is not AccessKind.READ))


def _cells_read(program: Program, tile_of: isl.UnionMap, array: str) -> Iterator[isl.Map]:
    """`{ [outer, tile] -> A[x] }` for each reference that reads."""
    for piece in maps(tile_of):
        for access in program.statements[in_name(piece)].accesses:
            if access.array == array and access.kind is AccessKind.READ:
                yield piece.reverse().apply_range(access.relation)


def _box(pieces: list[isl.Map]) -> isl.Map | None:
    """What holds all pieces, by bounds that one of them has, without remainders."""
    if not pieces:
        return None
    union = maps(union_of(pieces, isl.UnionMap.from_map(pieces[0])))
    (whole,) = union
    return isl.Map.from_basic_map(whole.remove_divs().simple_hull())


__all__ = ["by_cells", "count_at", "is_ragged", "is_simpler"]
