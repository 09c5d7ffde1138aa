"""Conditions with a division, in the form that bounds the innermost of their loops: `8 * (a / 3) <= k` is a bound of k,
and the same as `a < 3 * (k / 8) + 3`, a bound of a."""

from __future__ import annotations

from functools import lru_cache

import islpy as isl

from polyc.model.relations import IN, affs_of, pw_affs_of
from polyc.model.tree import Domain, Member, paths
from polyc.poly import set_name, sets
from polyc.records import dataclass, replace


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
    turned = [_turned(piece, _loops_of(piece, tree)) for piece in pieces]
    if not any(turned):
        return instances
    found = isl.UnionSet.empty(instances.get_space())
    for piece, other in zip(pieces, turned, strict=True):
        found = found.union(isl.UnionSet.from_set(isl.Set.from_basic_set(other or piece)))
    return found


@dataclass(frozen=True, slots=True)
class _Loops:
    """A tree's loops around a statement."""

    dims: tuple[int, ...]
    """For each dimension, the innermost loop that it has a part in, where the statement stands first; -1 where there
    is none."""
    quotients: tuple[isl.Aff, ...] = ()
    """What loops divide, in any part of the tree: `i / 8`, where one counts tiles of 8."""

    def depth(self, aff: isl.Aff) -> int:
        mine = (at for d, at in enumerate(self.dims) if aff.involves_dims(IN, d, 1))
        return max(mine, default=-1)


def _is_multiple(one: isl.Aff, other: isl.Aff) -> bool:
    """Whether floor(L / m) is a quotient of floor(L / t): t divides m."""
    if not one.get_domain_space().has_equal_tuples(other.get_domain_space()):
        return False
    times = one.get_denominator_val().div(other.get_denominator_val())
    if not times.is_int():
        return False
    other = other.align_params(one.get_domain_space())
    return bool(one.align_params(other.get_domain_space()).scale_val(times).sub(other).plain_is_zero())


def _loops_of(piece: isl.BasicSet, tree: Domain) -> _Loops:
    """Those of `{ S[i] }` or `{ [o] -> S[i] }`."""
    space = piece.get_space()
    if not space.is_wrapping():
        return _loops(tree).get(set_name(isl.Set.from_basic_set(piece)), _Loops(()))
    pair = space.unwrap()
    inner = _loops(tree).get(str(pair.get_tuple_name(isl.dim_type.out) or ""), _Loops(()))
    return _Loops((*range(pair.dim(isl.dim_type.in_)), *inner.dims))


@lru_cache(maxsize=8)
def _loops(tree: Domain) -> dict[str, _Loops]:
    found: dict[str, _Loops] = {}
    for path in paths(tree):
        members = [pw_affs_of(step.schedule) for step in path.steps if isinstance(step, Member)]
        for piece in sets(path.instances):
            affs = [affs_of(member[set_name(piece)]) if set_name(piece) in member else [] for member in members]
            dims = tuple(
                max((k for k, mine in enumerate(affs) for aff in mine if aff.involves_dims(IN, d, 1)), default=-1)
                for d in range(piece.dim(isl.dim_type.set))
            )
            quotients = tuple(aff.get_div(k) for mine in affs for aff in mine for k in range(aff.dim(isl.dim_type.div)))
            one = found.setdefault(set_name(piece), _Loops(dims))
            found[set_name(piece)] = replace(one, quotients=one.quotients + quotients)
    return found


def _turned(piece: isl.BasicSet, loops: _Loops) -> isl.BasicSet | None:
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
        other = _other_way(constraint, loops)
        changed |= other is not None
        found = found.intersect((other or constraint.get_aff()).ge_basic_set(zero))
    return found if changed else None


def _other_way(constraint: isl.Constraint, loops: _Loops) -> isl.Aff | None:
    """What an inequality says of the dividend of a quotient that has its innermost loop: this is not negative."""

    for k in range(constraint.dim(isl.dim_type.div)):
        factor = constraint.get_coefficient_val(isl.dim_type.div, k)
        if factor.is_zero():
            continue
        quotient = constraint.get_div(k)
        if any(_is_multiple(quotient, one) for one in loops.quotients):
            continue  # of whole tiles
        rest = constraint.get_aff().sub(quotient.floor().scale_val(factor))
        if loops.depth(quotient) > loops.depth(rest):
            m = quotient.get_denominator_val()
            limit = rest.scale_down_val(factor.abs()).floor()  # of factor * floor(L / m) + rest >= 0
            if factor.is_pos():
                return limit.add(quotient).scale_val(m)
            return limit.sub(quotient).scale_val(m).add_constant_val(m.sub(isl.Val.one(m.get_ctx())))
    return None
