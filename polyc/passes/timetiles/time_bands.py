"""Bands of tiles over time and space, and the region of tile numbers that their loops run over."""

from __future__ import annotations

import islpy as isl

from polyc.cost.time_sizes import DIAMOND, SKEWED
from polyc.model.tree import Member, Role, partial_schedule
from polyc.nests.skew import Hyperplane, Steps, either_way, hyperplane
from polyc.poly import maps
from polyc.records import dataclass, replace


@dataclass(frozen=True, slots=True, eq=False)
class TimeBand:
    """Tiles of an iterated stencil."""

    kind: str
    members: tuple[Member, ...]
    """Wavefronts; the tiles of one, in parallel; for each further tiled dimension its tiles, in order; the steps."""
    region: isl.Set
    """`{ [v0, …] }`: all that the members' values can be, and some more: tiles without instances."""
    sizes: tuple[int, ...]
    """As the user gives them: steps, cells in each tiled dimension; for diamonds cells only."""
    planes: tuple[Hyperplane, ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Axis:
    """One direction of tiles; their loops count them, since a loop with strides starts at a multiple of its size, and
    says so in conditions that take isl long."""

    value: isl.UnionPwAff
    size: int
    name: str

    @property
    def number(self) -> isl.UnionPwAff:
        return self.value.scale_down_val(isl.Val.int_from_si(self.value.get_ctx(), self.size)).floor()


def skewed_band(steps: Steps, sizes: tuple[int, ...]) -> TimeBand | None:
    """Tiles of steps and of skewed cells; those with the same sum of numbers run in parallel.

    math:   tiles (floor(t / T), floor(phi / N)) depend on tiles that are not later in any component, so that two with
            the same sum do not depend on each other
    sizes:  steps, and cells for the first dimensions
    """
    planes = [either_way(steps, d) for d in range(len(sizes) - 1)]
    found = [p for p in planes if p is not None]
    if len(found) < len(planes):
        return None
    front, *rest = (_Axis(p.schedule, s, _letter(p)) for p, s in zip(found, sizes[1:], strict=True))
    time = _Axis(steps.time.schedule, sizes[0], steps.time.name)
    forms = [
        {"front": 1, "second": -found[0].slope},  # where a tile lies, whenever it runs
        {"second": 1},
        {"time": 1, "second": -1},
        *({f"rest{k}": 1, "second": -p.slope} for k, p in enumerate(found[1:])),
    ]
    return TimeBand(SKEWED, *_band(steps, front, time, rest, forms), sizes, tuple(found))


def diamond_band(steps: Steps, sizes: tuple[int, ...]) -> TimeBand | None:
    """Tiles between hyperplanes that lean to both sides along the first dimension: a whole row of them can start at
    once.

    math:   tiles (floor(phi+ / N), floor(phi- / N)) with phi+ = x + a * t, phi- = -x + b * t; the sum of both numbers
            counts steps, and says nothing of x
    source: Bandishti, Pananilath and Bondhugula, "Tiling Stencil Computations to Maximize Parallelism", SC 2012
    sizes:  cells for the first dimensions
    """
    planes = [hyperplane(steps, 0), hyperplane(steps, 0, -1), *(hyperplane(steps, d) for d in range(1, len(sizes)))]
    found = [p for p in planes if p is not None]
    if len(found) < len(planes) or found[0].slope + found[1].slope == 0:
        return None
    right, left = (_Axis(p.schedule, sizes[0], _letter(p)) for p in found[:2])
    rest = [_Axis(p.schedule, s, _letter(p)) for p, s in zip(found[2:], sizes[1:], strict=True)]
    a, b = found[0].slope, found[1].slope
    forms = [
        {"second": b, "front": -a},  # where a tile lies, whenever it runs
        {"front": 1, "second": 1},
        {"time": a + b, "front": -1, "second": -1},
        *({f"rest{k}": a + b, "front": -p.slope, "second": -p.slope} for k, p in enumerate(found[2:])),
    ]
    return TimeBand(DIAMOND, *_band(steps, left, right, rest, forms), sizes, tuple(found))


def _letter(plane: Hyperplane) -> str:
    return f"x{plane.dimension}"


def _band(
    steps: Steps, front: _Axis, second: _Axis, rest: list[_Axis], forms: list[dict[str, int]]
) -> tuple[tuple[Member, ...], isl.Set]:
    """The members: wavefronts `front + second`, `second`, the rest, and time; and the region of their values.

    forms: what bounds the region: linear forms of the axes' values, as coefficients by axis
    """
    axes = {"front": front, "second": second} | {f"rest{k}": axis for k, axis in enumerate(rest)}
    inner = list(axes.values())[1:]
    members = (
        Member(front.number.add(second.number), False, "wave", Role.TILE, front.size),
        *(Member(a.number, k == 0, a.name, Role.TILE, a.size) for k, a in enumerate(inner)),
        replace(steps.time, role=Role.POINT),
    )
    context = front.value.get_ctx()
    space = f"[wave, {', '.join(name for name in axes if name != 'front')}, time]"
    region = isl.Set.read_from_str(context, f"{{ {space} }}")
    values = [a.value for a in axes.values()] + [steps.time.schedule]
    every = isl.UnionMap.from_multi_union_pw_aff(partial_schedule(tuple(Member(v) for v in values)))
    exact = maps(every.intersect_params(steps.known))
    for form in (*forms, {"time": 1}):
        # The first value of a tile lies up to size - 1 below each one.
        slack = [-c * (axes[name].size - 1) for name, c in form.items() if name in axes]
        low, high = (sum(end(0, s) for s in slack) for end in (min, max))
        of_values = isl.Map.read_from_str(context, f"{{ [{', '.join(axes)}, time] -> [{_sum(form)}] }}")
        numbers = {name: c * axes[name].size if name in axes else c for name, c in form.items()}
        if "front" in numbers:
            numbers["wave"] = numbers.pop("front")
            numbers["second"] = numbers.get("second", 0) - numbers["wave"]
        of_numbers = isl.Map.read_from_str(context, f"{{ {space} -> [{_sum(numbers)}] }}")
        bounds = hull_of([v.apply_range(of_values).range() for v in exact], low, high)
        region = region.intersect(bounds.apply(of_numbers.reverse()))
    return members, region


def _sum(form: dict[str, int]) -> str:
    return " + ".join(f"{c}*{name}" for name, c in form.items())


def hull_of(ran: list[isl.Set], low: int, high: int) -> isl.Set:
    """`{ [v] : u + low <= v <= u + high }` for the u of some sets, or a larger set, by linear conditions alone."""
    every = ran[0]
    for one in ran[1:]:
        every = every.union(one)
    wider = isl.Map.read_from_str(every.get_ctx(), f"{{ [u] -> [v] : u + {low} <= v <= u + {high} }}")
    hull = isl.Set.from_basic_set(every.remove_divs().simple_hull()).apply(wider)
    return isl.Set.from_basic_set(hull.remove_divs().simple_hull())
