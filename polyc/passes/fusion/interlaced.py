"""Nests that write every second element of a row, each between the other's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import islpy as isl

from polyc.model.program import Program
from polyc.model.scop import Access, AccessKind
from polyc.nests.nest import Nest, values
from polyc.poly import greatest_of, in_name, least_of, maps, sets

LARGEST_STEP = 4
"""How many elements there may be from one that a loop writes to its next."""
BORDER = 4
"""Iterations at a border that one of the loops may have more."""
WINDOW = 8
"""Iterations in each dimension, of the loops' middle, that show whether two run the same ones."""


def interlaced(program: Program, typical: isl.Set, group: list[Nest], others: list[Nest]) -> list[Nest] | None:
    """The second nests with their innermost loop shifted so that each iteration of both fills up a piece of a row.

    rewrite:  for x = 0, 2, … A[x] = f(x);  for x = 1, 3, … A[x] = g(x)
              -> for x = 1, 3, … { A[x - 1] = f(x - 1); A[x] = g(x); }
    math:     with v the values of the loops and s the step of the last one: the cells that both write of an array in
              one iteration v differ in their last subscript only, by a constant less than what a step of v adds to it
    requires: bands of parallel loops, as many in both, that no dependence leads between
    ensures:  the loops' values are the same, but for BORDER iterations at either end. None where no shift does it
    """
    band = others[0].band
    assert band is not None
    first, last = _values(group), len(band.members) - 1
    step = _step(first, last)
    written = _written(program, group), _written(program, others)
    if not 1 <= step <= LARGEST_STEP or not written[0] or written[0].keys() != written[1].keys():
        return None
    for shift in range(step):
        moved = [_shifted(nest, shift) for nest in others]
        second = _values(moved)
        if _beside(written[0], _written(program, moved), step) and _alike(first, second, typical):
            return moved
    return None


def _values(nests: list[Nest]) -> isl.Set:
    """`{ [v] }`, the values of the nests' loops."""
    found: isl.UnionSet | None = None
    for nest in nests:
        assert nest.band is not None
        mine = values(nest.band.members, nest.instances).range()
        found = mine if found is None else found.union(mine)
    assert found is not None
    (one,) = sets(found.coalesce())
    return one


def _step(loops: isl.Set, last: int) -> int:
    return int(loops.get_stride(last).to_python())


def _shifted(nest: Nest, shift: int) -> Nest:
    """The nest with its innermost loop's values larger by a constant, which changes no order."""
    band = nest.band
    assert band is not None
    schedule = band.members[-1].schedule
    by = isl.UnionPwAff.val_on_domain(schedule.domain(), isl.Val.int_from_si(schedule.get_ctx(), shift))
    moved = replace(band.members[-1], schedule=schedule.add(by))
    return nest if shift == 0 else replace(nest, node=replace(band, members=(*band.members[:-1], moved)))


def _writes(program: Program, nests: list[Nest]) -> Iterator[tuple[Access, isl.Map]]:
    """Each write with `{ [v] -> A[x] }`."""
    for nest in nests:
        assert nest.band is not None
        for piece in maps(values(nest.band.members, nest.instances)):
            for access in program.statements[in_name(piece)].accesses:
                if access.kind is not AccessKind.READ and access.relation.dim(isl.dim_type.out):
                    yield access, piece.reverse().apply_range(access.relation)


def _written(program: Program, nests: list[Nest]) -> dict[str, list[isl.Map]]:
    """The cells that each iteration writes, by array; nothing where one write depends on data or is not one cell."""
    found: dict[str, list[isl.Map]] = {}
    for access, cells in _writes(program, nests):
        if access.kind is not AccessKind.WRITE or not access.exact or not cells.is_single_valued():
            return {}
        found.setdefault(access.array, []).append(cells)
    return found


def _beside(one: dict[str, list[isl.Map]], two: dict[str, list[isl.Map]], step: int) -> bool:
    """Whether in each iteration the cells of both lie between those of the iteration before and of the next."""
    return all(_is_between(a, b, step) for array in one for a in one[array] for b in two[array])


def _is_between(one: isl.Map, two: isl.Map, step: int) -> bool:
    distances = one.reverse().apply_range(two).deltas()
    rank = distances.dim(isl.dim_type.set)
    for d in range(rank):
        far = greatest_of(distances, d), least_of(distances, d)
        if not (far[0].is_int() and far[0].eq(far[1])):
            return False
        apart = far[0].to_python()
        if d < rank - 1 and apart != 0:
            return False
    return 0 < abs(apart) < _stretch(one, step)


def _stretch(cells: isl.Map, step: int) -> int:
    """How far the last subscript goes in one step of the last loop; 0 where another one goes as well."""
    loops, rank = cells.dim(isl.dim_type.in_), cells.dim(isl.dim_type.out)
    ahead = isl.Map.identity(cells.domain().get_space().map_from_set())
    ahead = isl.Map.from_multi_aff(_next(ahead.domain().get_space(), loops - 1, step))
    moves = cells.reverse().apply_range(ahead.apply_range(cells)).deltas()
    for d in range(rank):
        far = greatest_of(moves, d), least_of(moves, d)
        if not (far[0].is_int() and far[0].eq(far[1])):
            return 0
        if d < rank - 1 and not far[0].is_zero():
            return 0
    return abs(int(far[0].to_python()))


def _next(space: isl.Space, last: int, step: int) -> isl.MultiAff:
    found = isl.MultiAff.identity(space.map_from_set())
    return found.set_aff(last, found.get_aff(last).add_constant_val(isl.Val.int_from_si(space.get_ctx(), step)))


def _alike(one: isl.Set, two: isl.Set, typical: isl.Set) -> bool:
    """Whether loops have the same values but for a few at their borders."""
    for d in range(one.dim(isl.dim_type.set)):
        for first, second in ((one.dim_min(d), two.dim_min(d)), (one.dim_max(d), two.dim_max(d))):
            apart = first.sub(second)
            far = apart.max_val(), apart.min_val()
            if not all(v.is_int() and abs(v.to_python()) <= BORDER for v in far):
                return False
    window = _middle(one.intersect_params(typical))
    if window is None:
        return False
    here, there = (loops.intersect_params(typical).intersect(window) for loops in (one, two))
    return not here.is_empty() and bool(here.is_equal(there))


def _middle(loops: isl.Set) -> isl.Set | None:
    """A few values in the middle of each dimension, whether a loop has them or not."""
    window = isl.Set.universe(loops.get_space())
    for d in range(loops.dim(isl.dim_type.set)):
        low, high = least_of(loops, d), greatest_of(loops, d)
        if not (low.is_int() and high.is_int()):
            return None
        middle = (low.to_python() + high.to_python()) // 2
        first, last = (isl.Val.int_from_si(loops.get_ctx(), v) for v in (middle, middle + WINDOW - 1))
        window = window.lower_bound_val(isl.dim_type.set, d, first).upper_bound_val(isl.dim_type.set, d, last)
    return window


__all__ = ["interlaced"]
