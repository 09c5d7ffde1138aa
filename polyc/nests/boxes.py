"""The bounding box of a tile's data, for its buffer."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from functools import cache

import islpy as isl

from polyc.poly import at_sizes, constant_of, maps
from polyc.records import dataclass

MOST_LARGER = 4
"""Times an extent that depends on parameters, at the typical sizes: what one that does not may have to be better."""


@dataclass(frozen=True, slots=True, eq=False)
class Box:
    """`corner` is the lowest cell, `extents` the sizes."""

    corner: isl.MultiAff
    """`{ [o0, o1] -> A[l0, l1] }`, with divisions where a tile reads a smaller image: `A[floor(o0 / 2), …]`."""
    extents: tuple[isl.PwAff, ...]
    """Affine in the parameters."""

    def constant_extents(self) -> tuple[int, ...] | None:
        sizes = [constant_of(e) for e in self.extents]
        return tuple(s for s in sizes if s is not None) if None not in sizes else None

    def bounded(self, known: isl.Set, whole: Container[int]) -> Box | None:
        """The box with constant extents; None where it has none.

        whole: dimensions that a tile has as a whole, which may have the largest extents that the parameters allow. In
               all others that would be a box for all tiles together
        """
        if self.constant_extents() is not None:
            return self
        if any(constant_of(extent) is None for d, extent in enumerate(self.extents) if d not in whole):
            return None
        most = [extent.intersect_params(known).max_val() for extent in self.extents]
        if not all(value.is_int() for value in most):
            return None
        params = isl.Set.universe(known.get_space().params())
        return Box(self.corner, tuple(isl.PwAff.val_on_domain(params, value) for value in most))


def bounding_box(relation: isl.Map, context: isl.Set, typical: isl.Set) -> Box | None:
    """The smallest box with a quasi-affine corner that holds a tile's cells, for every tile; None if there is none.

    `typical`: parameters at which extents that depend on parameters are compared.

    math:     for each dimension d, among the lower bounds l(o) <= c x_d that the cells' hull has, the one with the
              smallest max over all tiles of x_d - ceil(l(o) / c); that maximum + 1 is the extent
    source:   isl's fixed box hull does the same, but cannot be read from here, and has c = 1 only
    """
    # One hull for all pieces first: projecting dozens of shifted pieces one by one takes isl seconds.
    relation = at_sizes(relation, context)
    hull = relation.simple_hull()
    tiles = cache(lambda: relation.domain().reset_tuple_id())
    rank = relation.dim(isl.dim_type.out)
    array = relation.get_space().range()
    corners: list[isl.Aff] = []
    extents: list[isl.PwAff] = []
    for d in range(rank):
        one = hull.project_out(isl.dim_type.out, d + 1, rank - d - 1).project_out(isl.dim_type.out, 0, d)
        flat = isl.Map.from_basic_map(one).reset_tuple_id(isl.dim_type.out)
        best = _best_bound(flat.simple_hull(), flat.remove_divs().simple_hull(), tiles, typical)
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


@dataclass(frozen=True, slots=True, eq=False)
class _Bound:
    """`x >= floor(value(o) / factor) + offset`."""

    value: isl.Aff
    """Of the tile's coordinates and the parameters, with whole coefficients and without division."""
    factor: int
    offset: int
    lost: int
    """What the division by `factor` leaves over at most: 0 where it leaves nothing in any tile."""

    def corner(self) -> isl.Aff:
        if self.factor == 1:
            return self.value.add_constant_val(_whole(self.value, self.offset))
        divided = self.value.scale_down_val(_whole(self.value, self.factor)).floor()
        return divided.add_constant_val(_whole(self.value, self.offset))


def _best_bound(
    one: isl.BasicMap, plain: isl.BasicMap, tiles: Callable[[], isl.Set], typical: isl.Set
) -> tuple[isl.Aff, isl.PwAff] | None:
    """The best lower bound of `{ [o] -> [x] }`, as a function of o, with the extent that it leaves.

    `plain`: the same without divisions; `tiles`: all that there are.
    """
    outer = one.dim(isl.dim_type.in_)
    flat = isl.Set.from_basic_set(plain.wrap().flatten()).remove_divs()
    best: tuple[isl.Aff, isl.PwAff] | None = None
    seen: set[tuple[int, ...]] = set()
    # Those without a division first: of two that leave as much, the plainer one.
    for bound in sorted((*_lower_bounds(one, tiles, seen), *_lower_bounds(plain, tiles, seen)), key=lambda b: b.factor):
        extent = _extent(flat, bound, outer, typical)
        if extent is not None and (best is None or _smaller(extent, best[1], typical)):
            best = (bound.corner(), extent)
    return best


def _lower_bounds(hull: isl.BasicMap, tiles: Callable[[], isl.Set], seen: set[tuple[int, ...]]) -> Iterator[_Bound]:
    """`ceil(l(o) / c)` for each constraint `c x >= l(o)` without division.

    seen: what was found already, of this hull or of another one in the same space; it is not found again
    math: with l = v + k, k its constant, ceil(l / c) >= floor(v / c) + ceil(k / c), and they are equal where c divides
          v, as it does if v counts tiles whose sizes it divides
    """
    domain = hull.get_space().domain()
    for constraint in hull.get_constraints():
        coefficient = constraint.get_coefficient_val(isl.dim_type.out, 0).to_python()
        if coefficient < 0 and constraint.is_equality():
            factor, sign = -coefficient, 1
        elif coefficient > 0:
            factor, sign = coefficient, -1
        else:
            continue
        if constraint.is_div_constraint() or any(
            not constraint.get_coefficient_val(isl.dim_type.div, k).is_zero()
            for k in range(constraint.dim(isl.dim_type.div))
        ):
            continue
        kinds = (isl.dim_type.in_, isl.dim_type.param)
        places = [(kind, k) for kind in kinds for k in range(constraint.dim(kind))]
        factors = [int(constraint.get_coefficient_val(*place).to_python()) * sign for place in places]
        constant = int(constraint.get_constant_val().to_python()) * sign
        if (key := (factor, constant, *factors)) in seen:
            continue
        seen.add(key)
        value = isl.Aff.zero_on_domain(isl.LocalSpace.from_space(domain))
        for place, number in zip(places, factors, strict=True):
            if number:
                value = value.set_coefficient_val(*place, isl.Val.int_from_si(value.get_ctx(), number))
        if factor == 1 or _divides(factor, value, tiles()):
            yield _Bound(value, factor, -(-constant // factor), 0)
            continue
        yield _Bound(value, factor, -(-constant // factor), factor - 1)
        yield _Bound(value.set_constant_val(_whole(value, constant + factor - 1)), factor, 0, factor - 1)


def _divides(factor: int, value: isl.Aff, tiles: isl.Set) -> bool:
    """Whether the factor divides the value in all tiles."""
    rest = isl.PwAff.from_aff(value).mod_val(_whole(value, factor))
    return bool(tiles.is_subset(rest.zero_set().reset_tuple_id()))


def _whole(like: isl.Aff, value: int) -> isl.Val:
    return isl.Val.int_from_si(like.get_ctx(), value)


def _extent(flat: isl.Set, bound: _Bound, outer: int, typical: isl.Set) -> isl.PwAff | None:
    """An upper bound in the parameters of `x - corner(o) + 1` over all tiles, the best at the typical sizes.

    math: x - floor(v / c) - p <= (c x - v + lost) / c - p, and the maximum of c x - v is that of an affine function
    """
    space = flat.get_space()
    local = isl.LocalSpace.from_space(space)
    difference = isl.Aff.var_on_domain(local, isl.dim_type.set, outer).scale_val(_whole(bound.value, bound.factor))
    difference = difference.sub(isl.Aff.zero_on_domain(local).set_constant_val(bound.value.get_constant_val()))
    for k in range(outer):
        factor = bound.value.get_coefficient_val(isl.dim_type.in_, k)
        difference = difference.add_coefficient_val(isl.dim_type.in_, k, factor.neg())
    for k in range(bound.value.dim(isl.dim_type.param)):
        name = bound.value.get_dim_name(isl.dim_type.param, k)
        at = difference.find_dim_by_name(isl.dim_type.param, name or "")
        factor = bound.value.get_coefficient_val(isl.dim_type.param, k)
        if at < 0:
            if factor.is_zero():
                continue
            return None
        difference = difference.add_coefficient_val(isl.dim_type.param, at, factor.neg())
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
        upper = upper.set_constant_val(isl.Val.int_from_si(flat.get_ctx(), last + bound.lost))
        for k in range(constraint.dim(isl.dim_type.param)):
            upper = upper.set_coefficient_val(
                isl.dim_type.param, k, constraint.get_coefficient_val(isl.dim_type.param, k) * -sign
            )
        if bound.factor > 1:
            upper = upper.scale_down_val(_whole(upper, bound.factor)).floor()
        extent = isl.PwAff.from_aff(upper.add_constant_val(_whole(upper, 1 - bound.offset)))
        if best is None or _smaller(extent, best, typical):
            best = extent
    return best


def _smaller(a: isl.PwAff, b: isl.PwAff, typical: isl.Set) -> bool:
    """Which of two extents is less at the typical sizes. One that depends on an image's size is a guess there, and an
    image may be larger: one that holds for all is better, if it is not much more."""
    one, two = (value.intersect_params(typical).max_val() for value in (a, b))
    if not one.is_int() or not two.is_int():
        return bool(one.is_int())
    sure = constant_of(a) is not None, constant_of(b) is not None
    first, second = int(one.to_python()), int(two.to_python())
    if sure[0] != sure[1] and max(first, second) <= MOST_LARGER * min(first, second):
        return sure[0]
    return first < second


def extents_of_box(order: isl.UnionMap, known: isl.Set, fixed: bool = False) -> tuple[int | None, ...] | None:
    """The extents of the box that `{ S[i] -> [v] }` reaches, None where the sizes decide.

    None for all where the values are no box, or not the same one for each statement. `fixed`: nor where the sizes
    decide one of them, which is found out first.
    """
    found: isl.Set | None = None
    for relation in maps(order):
        reached = relation.range().intersect_params(known)
        if found is not None and not found.is_equal(reached):
            return None
        found = reached
    if found is None or found.is_empty():
        return None
    box = isl.Set.universe(found.get_space()).intersect_params(found.params())
    extents: list[int | None] = []
    loops = range(found.dim(isl.dim_type.set))
    for d in loops:
        others = found
        for other in reversed([k for k in loops if k != d]):
            others = others.project_out(isl.dim_type.set, other, 1)
        one = isl.Val.one(found.get_ctx())
        extents.append(constant_of(others.dim_max(0).sub(others.dim_min(0)).add_constant_val(one).gist(found.params())))
        if fixed and extents[-1] is None:
            return None
        spread = others
        for k in loops:
            if k != d:
                spread = spread.insert_dims(isl.dim_type.set, k, 1)
        box = box.intersect(spread)
    return tuple(extents) if box.is_equal(found) else None


def extents_in_each(reached: isl.UnionMap, known: isl.Set) -> tuple[int, ...] | None:
    """The extents of the box that `{ [o] -> [v] }` reaches, if they are the same for each o."""
    fixed = isl.UnionMap.empty(reached.get_space())
    for relation in maps(reached):
        sizes, outer = relation.dim(isl.dim_type.param), relation.dim(isl.dim_type.in_)
        fixed_one = relation.move_dims(isl.dim_type.param, sizes, isl.dim_type.in_, 0, outer)
        for k in range(outer):  # no name of C's
            fixed_one = fixed_one.set_dim_name(isl.dim_type.param, sizes + k, f"outer {k}")
        fixed = fixed.union(isl.UnionMap.from_map(fixed_one))
    extents = extents_of_box(fixed, known, fixed=True)
    if extents is None or None in extents:
        return None
    return tuple(extent for extent in extents if extent is not None)
