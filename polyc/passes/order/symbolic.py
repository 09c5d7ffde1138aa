"""Constraints of isl's scheduler with a parameter in the place of each size that is a number.

The numbers of isl's linear programs grow with the constants of the dependences: for `n < n' <= 47999` beside
`0 <= b <= 5` a row of a schedule takes seconds, for `n < n' < N` milliseconds.
"""

from __future__ import annotations

import re
from typing import Any, TypeVar

import islpy as isl

from polyc.poly import empty_map, empty_set, maps, sets, union_of

PREFIX = "polyc_size_"
"""Of the parameters' names; the size follows."""
LEAST = 16
"""The least number that is taken for a size, and the least value of the parameters."""
NEAR = 2
"""How far numbers of one size lie apart: `n - 1` and `n + 1`."""
_OWN = re.compile(rf"(\d*){PREFIX}(\d+)")
_LIST = re.compile(r"(?<!\w)\[([\w, ]+)\] -> (?=[\[{])")


def with_symbols(constraints: isl.ScheduleConstraints) -> isl.ScheduleConstraints | None:
    """The constraints for any sizes, of which those for the numbers are an instance; None where none is a size.

    ensures: a schedule of these, at the numbers, is one that the constraints allow
    """
    domain, context = constraints.get_domain(), constraints.get_context()
    pieces = [part for piece in sets(domain) for part in _parts(piece.get_basic_set_list())]
    sizes = _apart(sorted({number for part in pieces for number in _numbers(part)}))
    if not sizes:
        return None
    space = isl.Space.params_alloc(context.get_ctx(), 0)
    for size in sizes:
        space = space.add_param_id(isl.Id.read_from_str(context.get_ctx(), f"{PREFIX}{size}"))
    symbols = isl.Set.universe(space)
    for position in range(len(sizes)):
        symbols = symbols.lower_bound_val(isl.dim_type.param, position, isl.Val(LEAST))

    def general(relation: isl.UnionMap) -> isl.UnionMap:
        parts = [part for piece in maps(relation) for part in _parts(piece.get_basic_map_list())]
        changed = (isl.Map.from_basic_map(_with_symbols(part, sizes, space)) for part in parts)
        return union_of(changed, empty_map(relation))

    instances = empty_set(domain)
    for part in pieces:
        instances = instances.union(isl.UnionSet.from_set(isl.Set.from_basic_set(_with_symbols(part, sizes, space))))
    found = isl.ScheduleConstraints.on_domain(instances).set_context(context.intersect(symbols))
    found = found.set_validity(general(constraints.get_validity()))
    found = found.set_proximity(general(constraints.get_proximity()))
    found = found.set_coincidence(general(constraints.get_coincidence()))
    return found.set_conditional_validity(
        general(constraints.get_conditional_validity_condition()), general(constraints.get_conditional_validity())
    )


def at_sizes(schedule: isl.Schedule) -> isl.Schedule:
    """The schedule with the numbers in the places of their parameters."""

    def number(match: re.Match[str]) -> str:
        return str(int(match[1] or 1) * int(match[2]))

    def listed(match: re.Match[str]) -> str:
        others = [name for name in match[1].split(", ") if not name.startswith(PREFIX)]
        return f"[{', '.join(others)}] -> " if others else ""

    text = _OWN.sub(number, _LIST.sub(listed, str(schedule)))
    return isl.Schedule.read_from_str(schedule.get_ctx(), text)


Basic = TypeVar("Basic", isl.BasicSet, isl.BasicMap)


def _parts(pieces: isl.BasicSetList | isl.BasicMapList) -> list[Any]:
    count = pieces.n_basic_set() if isinstance(pieces, isl.BasicSetList) else pieces.n_basic_map()
    return [pieces.get_at(k) for k in range(count)]


def _numbers(basic: isl.BasicSet) -> set[int]:
    """The constants of its conditions that may be sizes."""
    if basic.dim(isl.dim_type.div):
        return set()
    found = {abs(one.get_constant_val().to_python()) for one in basic.get_constraints()}
    return {number for number in found if number >= LEAST}


def _apart(numbers: list[int]) -> list[int]:
    """The least of each group of numbers that belong to one size."""
    found: list[int] = []
    for number in numbers:
        if not found or number - found[-1] > NEAR:
            found.append(number)
    return found


def _with_symbols(basic: Basic, sizes: list[int], space: isl.Space) -> Basic:
    """The conditions with parameters in the places of sizes; as they are where a remainder is among them."""
    if basic.dim(isl.dim_type.div):
        return basic
    basic = basic.align_params(space)
    found = type(basic).universe(basic.get_space())
    for one in basic.get_constraints():
        number = one.get_constant_val().to_python()
        size = next((size for size in sizes if 0 <= abs(number) - size <= NEAR), None)
        if size is not None:
            sign = 1 if number > 0 else -1
            position = basic.get_space().find_dim_by_name(isl.dim_type.param, f"{PREFIX}{size}")
            one = one.set_constant_val(isl.Val(number - sign * size))
            one = one.set_coefficient_val(isl.dim_type.param, position, isl.Val(sign))
        found = found.add_constraint(one)
    return found
