"""Windows: the loops below some others, of which a statement runs a few iterations in each of theirs."""

from __future__ import annotations

import islpy as isl

from polyc.model.scop import Statement
from polyc.model.tree import Member
from polyc.nests.strides import UNROLLED, dimension_of
from polyc.poly import box_volume, greatest_of, least_of, value_on


def first_inside(statement: Statement, around: tuple[Member, ...]) -> int:
    """The first dimension of a statement that its loops below some others follow."""
    values = [value_on(member.schedule, statement.domain.get_space()) for member in around]
    places = [dimension_of(value) for value in values]
    known = [place for place in places if place is not None]
    return max(known) + 1 if len(known) == len(places) else len(statement.loops)


def window_of(domain: isl.Set, first: int) -> isl.Set | None:
    """All values that the last dimensions of a domain take together; None where it has none, or no end."""
    found = isl.Set.universe(domain.get_space())
    for d in range(first, domain.dim(isl.dim_type.set)):
        low, high = least_of(domain, d), greatest_of(domain, d)
        if not (low.is_int() and high.is_int()):
            return None
        found = found.lower_bound_val(isl.dim_type.set, d, low).upper_bound_val(isl.dim_type.set, d, high)
    return found if first < domain.dim(isl.dim_type.set) else None


def has_small_windows(statements: list[Statement], around: tuple[Member, ...]) -> bool:
    """Whether the loops below some others have so few iterations, wherever all of them run, that C compilers write them
    out."""
    counts = []
    for statement in statements:
        first = first_inside(statement, around)
        window = window_of(statement.domain, first)
        inner = len(statement.loops) - first
        if inner and window is None:
            return False
        if window is not None:
            counts.append(box_volume(window.project_out(isl.dim_type.set, 0, first)))
    return bool(counts) and max(counts) <= UNROLLED
