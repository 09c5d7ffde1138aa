"""Windows: the loops below some others, of which a statement runs a few iterations in each of theirs."""

from __future__ import annotations

import islpy as isl

from polyc.model.scop import Statement
from polyc.model.tree import Member
from polyc.nests.strides import dimension_of
from polyc.poly import greatest_of, least_of, value_on


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
