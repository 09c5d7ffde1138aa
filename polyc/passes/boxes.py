"""The bounding box of a tile's data, for its buffer."""

from __future__ import annotations

from dataclasses import dataclass

import islpy as isl


@dataclass(frozen=True, slots=True, eq=False)
class Box:
    """`corner` is the lowest cell, `extents` the sizes."""

    corner: isl.MultiAff
    """`{ [o0, o1] -> A[l0, l1] }`."""
    extents: tuple[isl.PwAff, ...]
    """Affine in the parameters."""

    def constant_extents(self) -> tuple[int, ...] | None:
        sizes = [constant_of(e) for e in self.extents]
        return tuple(s for s in sizes if s is not None) if None not in sizes else None


def constant_of(value: isl.PwAff) -> int | None:
    """The value of an expression that is one integer, or None."""
    if value.n_piece() != 1 or not value.is_cst():
        return None
    affs: list[isl.Aff] = []
    value.foreach_piece(lambda _domain, aff: affs.append(aff))
    return int(affs[0].get_constant_val().to_python())


def bounding_box(relation: isl.Map, context: isl.Set, typical: isl.Set) -> Box | None:
    """The smallest box with an affine corner that holds a tile's cells, for every tile; None if there is none.

    `typical`: parameters at which extents that depend on parameters are compared.

    math:     for each dimension d, among the lower bounds l(o) <= a x_d that the cells' hull has, the one with the
              smallest max over all tiles of (a x_d - l(o)) / a; that maximum, rounded down, + 1 is the extent, and the
              corner is l(o) / a, rounded up (a > 1 for images of half the size: 2 x >= o - 1)
    source:   isl's fixed box hull does the same, but cannot be read from here
    """
    # One hull for all pieces first: projecting dozens of shifted pieces one by one takes isl seconds.
    hull = relation.intersect_params(context).simple_hull()
    rank = relation.dim(isl.dim_type.out)
    array = relation.get_space().range()
    corners: list[isl.Aff] = []
    extents: list[isl.PwAff] = []
    for d in range(rank):
        one = hull.project_out(isl.dim_type.out, d + 1, rank - d - 1).project_out(isl.dim_type.out, 0, d)
        best = _best_bound(isl.Map.from_basic_map(one).reset_tuple_id(isl.dim_type.out).simple_hull(), typical)
        if best is None:
            return None
        corners.append(best[0])
        extents.append(best[1])
    space = relation.get_space().domain().map_from_domain_and_range(array)
    pieces = isl.AffList.alloc(relation.get_ctx(), rank)
    for corner in corners:
        pieces = pieces.add(corner)
    return Box(
        isl.MultiAff.from_aff_list(space.align_params(corners[0].get_space()) if corners else space, pieces),
        tuple(extents),
    )


def _best_bound(one: isl.BasicMap, typical: isl.Set) -> tuple[isl.Aff, isl.PwAff] | None:
    """The best lower bound of `{ [o] -> [x] }`, as an affine function of o, with the extent that it leaves."""
    outer = one.dim(isl.dim_type.in_)
    flat = isl.Set.from_basic_set(one.wrap().flatten()).remove_divs()
    best: tuple[isl.Aff, isl.PwAff] | None = None
    for factor, bound in sorted(_lower_bounds(one, outer), key=lambda found: found[0]):
        extent = _extent(flat, factor, bound, outer, typical)
        if extent is not None and (best is None or _smaller(extent, best[1], typical)):
            best = (_rounded_up(bound, factor), extent)
    return best


def _rounded_up(bound: isl.Aff, factor: int) -> isl.Aff:
    """`l(o) / a`."""
    if factor == 1:
        return bound
    return bound.add_constant_val(_number(bound, factor - 1)).scale_down_val(_number(bound, factor)).floor()


def _number(of: isl.Aff, value: int) -> isl.Val:
    return isl.Val.int_from_si(of.get_ctx(), value)


def _lower_bounds(hull: isl.BasicMap, outer: int) -> list[tuple[int, isl.Aff]]:
    """`a` and `l(o)` for each constraint `a x >= l(o)` without division."""
    found: list[tuple[int, isl.Aff]] = []
    domain = hull.get_space().domain()
    for constraint in hull.get_constraints():
        coefficient = constraint.get_coefficient_val(isl.dim_type.out, 0).to_python()
        usable = coefficient > 0 or (constraint.is_equality() and coefficient < 0)
        if (
            not usable
            or constraint.is_div_constraint()
            or (
                constraint.dim(isl.dim_type.div)
                and any(
                    not constraint.get_coefficient_val(isl.dim_type.div, k).is_zero()
                    for k in range(constraint.dim(isl.dim_type.div))
                )
            )
        ):
            continue
        sign = -1 if coefficient > 0 else 1
        aff = isl.Aff.zero_on_domain(isl.LocalSpace.from_space(domain))
        aff = aff.set_constant_val(constraint.get_constant_val() * sign)
        for kind, target in ((isl.dim_type.in_, isl.dim_type.in_), (isl.dim_type.param, isl.dim_type.param)):
            for k in range(constraint.dim(kind)):
                aff = aff.set_coefficient_val(target, k, constraint.get_coefficient_val(kind, k) * sign)
        found.append((abs(int(coefficient)), aff))
    return found


def _extent(flat: isl.Set, factor: int, bound: isl.Aff, outer: int, typical: isl.Set) -> isl.PwAff | None:
    """An upper bound in the parameters of `(a x - l(o)) / a + 1` over all tiles, the best at the typical sizes."""
    """An upper bound in the parameters of `x - l(o) + 1` over all tiles, the best at the typical sizes."""
    space = flat.get_space()
    local = isl.LocalSpace.from_space(space)
    difference = isl.Aff.var_on_domain(local, isl.dim_type.set, outer).scale_val(_number(bound, factor))
    difference = difference.sub(isl.Aff.zero_on_domain(local).set_constant_val(bound.get_constant_val()))
    for k in range(outer):
        times = bound.get_coefficient_val(isl.dim_type.in_, k)
        difference = difference.add_coefficient_val(isl.dim_type.in_, k, times.neg())
    for k in range(bound.dim(isl.dim_type.param)):
        name = bound.get_dim_name(isl.dim_type.param, k)
        at = difference.find_dim_by_name(isl.dim_type.param, name or "")
        times = bound.get_coefficient_val(isl.dim_type.param, k)
        if at < 0:
            if times.is_zero():
                continue
            return None
        difference = difference.add_coefficient_val(isl.dim_type.param, at, times.neg())
    # Projected without integer divisions (the steps of tile loops): the bound stays safe, and isl stays fast.
    reached = isl.Map.from_aff(difference).intersect_domain(flat).range().remove_divs().simple_hull()
    best: isl.PwAff | None = None
    for constraint in reached.get_constraints():
        # -x + u >= 0, or x - u = 0 in either sign
        sign = constraint.get_coefficient_val(isl.dim_type.set, 0).to_python()
        if sign != -1 and not (constraint.is_equality() and sign == 1):
            continue
        upper = isl.Aff.zero_on_domain(isl.LocalSpace.from_space(reached.get_space().params()))
        last = constraint.get_constant_val().to_python() * -sign
        upper = upper.set_constant_val(isl.Val.int_from_si(flat.get_ctx(), last))
        for k in range(constraint.dim(isl.dim_type.param)):
            upper = upper.set_coefficient_val(
                isl.dim_type.param, k, constraint.get_coefficient_val(isl.dim_type.param, k) * -sign
            )
        extent = isl.PwAff.from_aff(upper)
        if factor > 1:
            extent = extent.scale_down_val(_number(bound, factor)).floor()
        extent = extent.add_constant_val(_number(bound, 1))
        if best is None or _smaller(extent, best, typical):
            best = extent
    return best


def _smaller(a: isl.PwAff, b: isl.PwAff, typical: isl.Set) -> bool:
    one, two = (value.intersect_params(typical).max_val() for value in (a, b))
    return bool(one.is_int() and (not two.is_int() or one.lt(two)))
