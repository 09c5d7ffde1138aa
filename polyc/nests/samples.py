"""Sample sizes: one point of the parameters, and one tile, at which costs are estimated."""

from __future__ import annotations

import math

import islpy as isl

from polyc.model.program import Program
from polyc.model.scop import AccessKind, Parameter
from polyc.poly import box_volume, greatest_of, least_of, set_name

LARGE, SMALL = 2000, 5
"""Tried for each parameter that the user gave no value for."""


def sample_parameters(program: Program) -> isl.Set:
    """One point of the parameters: sizes are large, and a parameter is small where that leaves more results, or as many
    of more to do.

    The window of a convolution is such a one: a window as large as the image leaves a single cell.
    """
    known = program.scop.bounded.align_params(program.scop.domain.get_space())
    if not program.scop.known.is_subset(program.scop.bounded):  # arrays bound it only where something runs
        known = _busy(program, known)
    chosen = _chosen(program, known)
    found = _fixed(known, chosen)
    return found if not found.is_empty() else _nearest(_busy(program, known), chosen)


def _chosen(program: Program, known: isl.Set) -> list[int]:
    """Large sizes of those that are known; of others what calls in the file pass."""
    count = known.dim(isl.dim_type.param)
    usual = program.scop.usual
    most = {p.name: usual.get(p.name) or _largest(p) for p in program.scop.parameters}
    named = (most.get(known.get_dim_name(isl.dim_type.param, k) or "", LARGE) for k in range(count))
    large = [_allowed(known, k, size) for k, size in enumerate(named)]
    chosen = list(large)
    for tie in program.scop.ties:  # the largest of some sizes is large, not the one that all others are multiples of
        position = known.find_dim_by_name(isl.dim_type.param, tie.base)
        if position >= 0:
            chosen[position] = min(chosen[position], max(1, round(LARGE / tie.factor)))
    best = _score(program, _fixed(known, chosen))
    for position in range(count):
        if chosen[position] < large[position] or known.get_dim_name(isl.dim_type.param, position) in usual:
            continue
        tried = [*chosen[:position], SMALL, *chosen[position + 1 :]]
        score = _score(program, _fixed(known, tried))
        as_many = score == best > float("-inf")
        if score > best or (as_many and _runs(program, _fixed(known, tried)) > _runs(program, _fixed(known, chosen))):
            chosen, best = tried, score
    return chosen


def _largest(parameter: Parameter) -> int:
    """A large size that the type holds; yes, where it is an answer."""
    type_ = parameter.type
    if parameter.is_answer:
        return 1
    return min(LARGE, (1 << (8 * type_.size_bytes - type_.signed)) - 1) if type_.size_bytes else LARGE


def _allowed(known: isl.Set, position: int, size: int) -> int:
    """A size, or the greatest below it that one parameter may have: arrays bound the loops over them."""
    most = greatest_size(known, position)
    return size if most is None else max(min(size, most), 1)


def greatest_size(known: isl.Set, position: int) -> int | None:
    """The greatest value that a parameter may have; None where there is none."""
    flat = known.move_dims(isl.dim_type.set, 0, isl.dim_type.param, position, 1)
    most = greatest_of(flat, 0) if not flat.is_empty() else None
    return most.to_python() if most is not None and most.is_int() else None


def _busy(program: Program, known: isl.Set) -> isl.Set:
    """The sizes for which all statements run, as far as there are such: at others there is less to do."""
    for statement in program.scop.statements.values():
        running = known.intersect(statement.domain.params())
        known = known if running.is_empty() else running
    return known


def _fixed(known: isl.Set, sizes: list[int]) -> isl.Set:
    for position, size in enumerate(sizes):
        known = known.fix_val(isl.dim_type.param, position, isl.Val.int_from_si(known.get_ctx(), size))
    return known


def _nearest(known: isl.Set, sizes: list[int]) -> isl.Set:
    """The sizes as far as the context allows them, one parameter after the other."""
    for position, size in enumerate(sizes):
        for value in (size, LARGE, 500, 100, 32, SMALL, 1):
            fixed = known.fix_val(isl.dim_type.param, position, isl.Val.int_from_si(known.get_ctx(), value))
            if not fixed.is_empty():
                known = fixed
                break
        else:
            return isl.Set.from_point(known.sample_point())
    return known


def _score(program: Program, at: isl.Set) -> float:
    """How much the region writes at these sizes (logarithms, so that every nest counts)."""
    if at.is_empty():
        return float("-inf")
    total = 0.0
    for statement in program.scop.statements.values():
        total += math.log(1.0 + written_cells(program, statement.domain.intersect_params(at)))
    return total


def _runs(program: Program, at: isl.Set) -> float:
    """How often the statements run at these sizes (logarithms)."""
    volumes = (box_volume(statement.domain.intersect_params(at)) for statement in program.scop.statements.values())
    return sum(math.log(1.0 + volume) for volume in volumes)


def middle_tile(tiles: isl.Set) -> isl.Set | None:
    """A tile in the interior."""
    chosen = tiles
    for d in range(tiles.dim(isl.dim_type.set)):
        low, high = least_of(chosen, d), greatest_of(chosen, d)
        if not (low.is_int() and high.is_int()):
            return None
        half = (low.to_python() + high.to_python()) // 2
        above = chosen.lower_bound_val(isl.dim_type.set, d, isl.Val.int_from_si(chosen.get_ctx(), half))
        value = least_of(above, d) if not above.is_empty() else low
        chosen = chosen.fix_val(isl.dim_type.set, d, value)
    return chosen


def written_cells(program: Program, piece: isl.Set) -> float:
    statement = program.statements[set_name(piece)]
    cells = [
        _volume(a.relation.intersect_domain(piece).range())
        for a in statement.accesses
        if a.kind is not AccessKind.READ and a.relation.dim(isl.dim_type.out) > 0
    ]
    return max(cells, default=0.0)


def _volume(cells: isl.Set) -> float:
    """The cells of a box that may lie anywhere: of a row `a[k]`, where k is no size of a loop."""
    volume = box_volume(cells)
    if volume < math.inf:
        return volume
    return box_volume(cells.intersect_params(isl.Set.from_point(cells.params().sample_point())))
