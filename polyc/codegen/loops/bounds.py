"""Conditions with a division, in the form that bounds the innermost of their loops: `8 * (a / 3) <= k` is a bound of k,
and the same as `a < 3 * (k / 8) + 3`, a bound of a."""

from __future__ import annotations

from functools import lru_cache

import islpy as isl

from polyc.model.relations import pw_affs_of
from polyc.model.tree import Domain, Member, paths
from polyc.poly import set_name, sets


def with_inner_bounds(instances: isl.UnionSet, tree: Domain) -> isl.UnionSet:
    """Instances of a tree, with each floor(L / m) compared the other way where L has the innermost loop of a condition.

    isl finds a loop's bounds as if quotients of its counter were any numbers, and asks about the rest in each
    iteration.

    math: for whole numbers, c > 0 and m > 0
        c * floor(L / m) <= r   <=>   L <= m * floor(r / c) + m - 1
        c * floor(L / m) >= r   <=>   L >= m * ceil(r / c)
    instances: `{ S[i] }`, or `{ [o] -> S[i] }` with the values of the outermost loops, as extensions have them
    """
    pieces = [basic for piece in sets(instances) for basic in piece.get_basic_sets()]
    if not any(piece.dim(isl.dim_type.div) for piece in pieces):
        return instances
    turned = [_turned(piece, _depths_in(piece, tree)) for piece in pieces]
    if not any(turned):
        return instances
    found = isl.UnionSet.empty(instances.get_space())
    for piece, other in zip(pieces, turned, strict=True):
        found = found.union(isl.UnionSet.from_set(isl.Set.from_basic_set(other or piece)))
    return found


def _depths_in(piece: isl.BasicSet, tree: Domain) -> tuple[int, ...]:
    """The innermost loop that each dimension has a part in, -1 where there is none; () where that is not known."""
    space, outer = piece.get_space(), 0
    if space.is_wrapping():
        space = space.unwrap()
        outer = space.dim(isl.dim_type.in_)
        space = space.range()
    mine = _depths(tree).get(str(space.get_tuple_name(isl.dim_type.set) or ""))
    return () if mine is None else (*range(outer), *mine)


@lru_cache(maxsize=8)
def _depths(tree: Domain) -> dict[str, tuple[int, ...]]:
    """`_depths_in` the sets of each statement, by its name."""
    found: dict[str, tuple[int, ...]] = {}
    for path in paths(tree):
        members = [pw_affs_of(step.schedule) for step in path.steps if isinstance(step, Member)]
        for piece in sets(path.instances):
            name = set_name(piece)
            values = [value.get(name) for value in members]
            found.setdefault(name, tuple(_last(values, d) for d in range(piece.dim(isl.dim_type.set))))
    return found


def _last(values: list[isl.PwAff | None], d: int) -> int:
    return max((k for k, value in enumerate(values) if value is not None and _has(value, d)), default=-1)


def _has(value: isl.PwAff, d: int) -> bool:
    """Whether a dimension is in a value, which may be defined for a part of its space only."""
    found: list[bool] = []
    value.foreach_piece(lambda _, aff: found.append(aff.involves_dims(isl.dim_type.in_, d, 1)))
    return any(found)


def _turned(piece: isl.BasicSet, depths: tuple[int, ...]) -> isl.BasicSet | None:
    """The same set, or None where no condition changes."""
    known = piece.compute_divs().get_basic_sets()
    if len(known) != 1:
        return None  # in several pieces, which would be as many loops
    zero = isl.Aff.zero_on_domain(isl.LocalSpace.from_space(piece.get_space()))
    found = isl.BasicSet.universe(piece.get_space())
    changed = False
    for constraint in known[0].get_constraints():
        if constraint.is_div_constraint():
            continue
        if constraint.is_equality():
            found = found.intersect(constraint.get_aff().zero_basic_set())
            continue
        other = _other_way(constraint, depths)
        changed |= other is not None
        found = found.intersect((other or constraint.get_aff()).ge_basic_set(zero))
    return found if changed else None


def _other_way(constraint: isl.Constraint, depths: tuple[int, ...]) -> isl.Aff | None:
    """What an inequality says of the dividend of a quotient that has its innermost loop: this is not negative."""

    def depth(aff: isl.Aff) -> int:
        return max((at for d, at in enumerate(depths) if aff.involves_dims(isl.dim_type.in_, d, 1)), default=-1)

    for k in range(constraint.dim(isl.dim_type.div)):
        factor = constraint.get_coefficient_val(isl.dim_type.div, k)
        if factor.is_zero():
            continue
        quotient = constraint.get_div(k)
        rest = constraint.get_aff().sub(quotient.floor().scale_val(factor))
        if depth(quotient) > depth(rest):
            m = quotient.get_denominator_val()
            limit = rest.scale_down_val(factor.abs()).floor()  # of factor * floor(L / m) + rest >= 0
            if factor.is_pos():
                return limit.add(quotient).scale_val(m)
            return limit.sub(quotient).scale_val(m).add_constant_val(m.sub(isl.Val.one(m.get_ctx())))
    return None
