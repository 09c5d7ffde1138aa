"""Values of the parameters for a run: what is promised holds, and every access is inside its array."""

from __future__ import annotations

import islpy as isl

from polyc.analysis.extents import elements, on_parameters
from polyc.model.scop import Scop
from polyc.poly import greatest_of, least_of, project
from polyc.records import dataclass

PARAM, SET = isl.dim_type.param, isl.dim_type.set
SCAN = 24


@dataclass(frozen=True, slots=True, eq=False)
class Feasible:
    """Which values of the parameters may be run."""

    names: tuple[str, ...]
    allowed: isl.Set
    """`{ [n, m] : … }`, one dimension a parameter: promises hold, arrays are not empty."""
    busy: isl.Set
    """The part of `allowed` for which every statement runs, whatever comparisons answer."""
    answers: tuple[str, ...] = ()
    """The parameters that answer comparisons, 0 or 1."""


def feasible(scop: Scop) -> Feasible:
    """Collect the conditions of a region on its parameters."""
    allowed = with_memory(scop.context.params(), scop).intersect(scop.guard.params())
    for array in scop.arrays.values():
        for extent in array.extents:
            if extent is not None:
                allowed = allowed.intersect(on_parameters(extent).pos_set().params())
    for statement in scop.statements.values():
        for access in statement.accesses:
            if access.exact:
                outside = access.relation.range().subtract(
                    elements(scop.arrays[access.array], access.relation.range().get_space())
                )
                allowed = allowed.subtract(outside.params()).coalesce()
    busy = allowed
    answers = tuple(parameter.name for parameter in scop.parameters if parameter.is_answer)
    for statement in scop.statements.values():
        running = busy.intersect(project(statement.domain.params(), answers))
        busy = busy if running.is_empty() else running
    names = tuple(parameter.name for parameter in scop.parameters)
    return Feasible(names, as_dimensions(allowed, names), as_dimensions(busy, names), answers)


def with_memory(allowed: isl.Set, scop: Scop) -> isl.Set:
    """The values with which each pointer leads somewhere, as those of a run do."""
    for parameter in scop.parameters:
        if parameter.is_about_pointer:
            allowed = allowed.intersect(fixed({parameter.name: 1}))
    return allowed


def as_dimensions(values: isl.Set, names: tuple[str, ...]) -> isl.Set:
    """A set of parameters' values with the parameters as its dimensions, in the order of `names`."""
    space = isl.Space.params_alloc(values.get_ctx(), len(names))
    for position, name in enumerate(names):
        space = space.set_dim_name(PARAM, position, name)
    values = values.align_params(space)
    for position in reversed(range(values.dim(PARAM))):
        if values.get_dim_name(PARAM, position) not in names:
            values = values.project_out(PARAM, position, 1)
    return isl.Set.from_params(values).move_dims(SET, 0, PARAM, 0, len(names))


def near(found: Feasible, size: int) -> dict[str, int] | None:
    """Parameter values around `size`, all different where they may be; None where nothing is allowed."""
    for space in (found.busy, found.allowed):
        if not space.is_empty():
            return chosen(space, found, size)
    return None


def chosen(space: isl.Set, found: Feasible, size: int) -> dict[str, int]:
    """Fix one parameter after the other as close to what is wanted as the others leave room for. Answers are bits of
    the size, so that each of them is no and yes."""
    values: dict[str, int] = {}
    for position, name in enumerate(found.names):
        wanted = (size, size + 1, size // 2 + 1, size // 3 + 1)[position % 4]  # windows come after what they slide over
        wanted = size >> found.answers.index(name) & 1 if name in found.answers else wanted
        value = closest(space, position, wanted)
        space = space.fix_val(SET, position, isl.Val.int_from_si(space.get_ctx(), value))
        values[name] = value
    return values


def closest(space: isl.Set, position: int, wanted: int) -> int:
    low, high = least_of(space, position), greatest_of(space, position)
    if low.is_int():
        wanted = max(wanted, low.to_python())
    if high.is_int():
        wanted = min(wanted, high.to_python())
    context = space.get_ctx()
    for distance in range(SCAN):
        for value in dict.fromkeys((wanted + distance, wanted - distance)):
            if not space.fix_val(SET, position, isl.Val.int_from_si(context, value)).is_empty():
                return value
    point = space.sample_point()
    return int(point.get_coordinate_val(SET, position).to_python())


def fixed(values: dict[str, int]) -> isl.Set:
    """`[n] -> { : n = 5 }`."""
    conditions = " and ".join(f"{name} = {value}" for name, value in values.items())
    return isl.Set(f"[{', '.join(values)}] -> {{ : {conditions} }}" if values else "{ : }")


def bounds(piece: isl.Set, position: int) -> tuple[int, int] | None:
    """Least and greatest value of a dimension of a set without parameters; None where there is none."""
    if piece.is_empty():
        return None
    low, high = least_of(piece, position), greatest_of(piece, position)
    return (low.to_python(), high.to_python()) if low.is_int() and high.is_int() else None
