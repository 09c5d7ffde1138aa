"""Faults of `timetiles`: skews that are too small, waves that are off, tiles that nobody runs, a wrong order inside."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import islpy as isl

import polyc.nests.skew as skew
import polyc.passes.timetiles.time_bands as time_bands
import polyc.passes.timetiles.timetiles as time_tiles
import polyc.passes.timetiles.wavefronts as wavefronts
from polyc.model.tree import Band, Mark, Member, Node, Sequence, rewrite
from tests.mutation import edits as e
from tests.mutation.install import adding_to, patched
from tests.mutation.runner import Fault, after_pass

FAULTS: list[Fault] = []
add = adding_to(FAULTS)

# --- tiles and their order -------------------------------------------------------------------------------------------


def of_tiles(change: Callable[[Mark, Band], Node]) -> e.Edit:
    """Change the loops over time tiles."""

    def at(node: Node) -> Node | None:
        match node:
            case Mark(kind="tiles", child=Band() as band):
                return change(node, band)
            case _:
                return None

    return e.everywhere(at)


def wave(form: str) -> Callable[[Mark, Band], Node]:
    """Wavefronts of another form in the old wavefront `w` and the tile `x` in it; their region goes with them."""

    def change(mark: Mark, band: Band) -> Node:
        front, tile, *rest = band.members
        old = isl.MultiUnionPwAff.from_union_pw_aff(front.schedule).flat_range_product(
            isl.MultiUnionPwAff.from_union_pw_aff(tile.schedule)
        )
        context = front.schedule.get_ctx()
        value = isl.PwAff.read_from_str(context, f"{{ [w, x] -> [{form}] }}")
        moved = replace(front, schedule=old.apply_pw_aff(value))
        assert mark.region is not None
        inner = [f"v{k}" for k in range(len(rest))]
        text = f"{{ [{', '.join(['w', 'x', *inner])}] -> [{', '.join([form, 'x', *inner])}] }}"
        region = mark.region.apply(isl.Map.read_from_str(context, text))
        return replace(mark, region=region, child=replace(band, members=(moved, tile, *rest)))

    return change


def region(change: Callable[[isl.Set], isl.Set]) -> e.Edit:
    def at(mark: Mark, band: Band) -> Node:
        assert mark.region is not None
        return replace(mark, region=change(mark.region))

    return of_tiles(at)


def without_first(dimension: int) -> Callable[[isl.Set], isl.Set]:
    """The tiles numbered 0 or less in one dimension are left out."""
    return lambda old: old.lower_bound_val(isl.dim_type.set, dimension, isl.Val.one(old.get_ctx()))


def without_last_step(old: isl.Set) -> isl.Set:
    """The last step is left out, for each size."""
    steps = isl.Set.read_from_str(old.get_ctx(), "[steps] -> { [t] : t <= steps - 2 }")
    last = old.dim(isl.dim_type.set) - 1
    return old.intersect(steps.insert_dims(isl.dim_type.set, 0, last))


def members(change: Callable[[tuple[Member, ...]], tuple[Member, ...]]) -> e.Edit:
    return of_tiles(lambda mark, band: replace(mark, child=replace(band, members=change(band.members))))


def marked(position: int) -> e.Edit:
    return members(lambda m: (*m[:position], replace(m[position], coincident=True), *m[position + 1 :]))


def negated(position: int) -> e.Edit:
    """A loop runs backwards; the region is turned with it."""

    def at(mark: Mark, band: Band) -> Node:
        changed = list(band.members)
        k = position % len(changed)
        changed[k] = replace(changed[k], schedule=changed[k].schedule.neg())
        assert mark.region is not None
        inner = [f"v{n}" for n in range(len(changed))]
        outer = [f"-{v}" if n == k else v for n, v in enumerate(inner)]
        text = f"{{ [{', '.join(inner)}] -> [{', '.join(outer)}] }}"
        turned = mark.region.apply(isl.Map.read_from_str(mark.region.get_ctx(), text))
        return replace(mark, region=turned, child=replace(band, members=tuple(changed)))

    return of_tiles(at)


def steps_outside(mark: Mark, band: Band) -> Node:
    """The steps are taken tile after tile: the innermost loop of the band below all of a tile's points."""
    *outer, time = band.members
    inner = Band((time,), False, band.child)
    shorter = mark.region.project_out(isl.dim_type.set, len(outer), 1) if mark.region is not None else None
    return replace(mark, region=shorter, child=replace(band, members=tuple(outer), child=_innermost(inner)))


def _innermost(loop: Band) -> Node:
    """The loop moved below the first loop that is inside of it."""

    def moved(node: Node) -> Node:
        match node:
            case Band():
                return replace(node, child=replace(loop, child=node.child))
            case Sequence(children=children):
                return Sequence(tuple(replace(s, child=moved(s.child)) for s in children))
            case _:
                return node

    return moved(loop.child)


def inside(change: Callable[[Node], Node]) -> e.Edit:
    """Change what a tile runs in one step."""
    return of_tiles(lambda mark, band: replace(mark, child=replace(band, child=change(band.child))))


def every_band(change: Callable[[Band], Band | None]) -> Callable[[Node], Node]:
    return lambda node: rewrite(node, lambda n: (change(n) or n) if isinstance(n, Band) else n)


def reversed_sequence(node: Node) -> Node:
    return e.reversed_steps(node) or node


def first_statement_dropped(node: Node) -> Node:
    return e.first_step_dropped(node) or node


EDITS: list[tuple[str, str, e.Edit]] = [
    ("waves of one number", "tiles count alone", of_tiles(wave("w - x"))),
    ("waves of the difference", "", of_tiles(wave("w - 2 x"))),
    ("waves off by a tile", "every other one", of_tiles(wave("w + x mod 2"))),
    ("waves of two", "at once", of_tiles(wave("floor(w/2)"))),
    ("steeper waves", "twice the second number", of_tiles(wave("w + x"))),
    ("waves backwards", "", negated(0)),
    ("waves in parallel", "", marked(0)),
    ("steps in parallel", "", marked(-1)),
    (
        "tiles inside of waves in parallel",
        "all of them",
        members(lambda m: tuple(replace(x, coincident=True) for x in m)),
    ),
    ("steps backwards", "", negated(-1)),
    ("the last tiled dimension backwards", "", negated(-2)),
    (
        "the wave loop lost",
        "",
        of_tiles(
            lambda mark, band: replace(
                mark,
                region=None if mark.region is None else mark.region.project_out(isl.dim_type.set, 0, 1),
                child=replace(band, members=band.members[1:]),
            )
        ),
    ),
    ("steps inside of cells", "", of_tiles(steps_outside)),
    ("tiles at the border lost", "of waves", region(without_first(0))),
    ("tiles at the other border lost", "in a wave", region(without_first(1))),
    ("the first steps lost", "", region(without_first(-1 + 3))),
    ("the last step lost", "", region(without_last_step)),
    ("statements reversed", "of a step", inside(reversed_sequence)),
    ("the first statement dropped", "", inside(first_statement_dropped)),
    ("cells backwards", "in a tile", inside(every_band(e.reversed_last))),
    ("rows backwards", "in a tile", inside(every_band(e.reversed_first))),
    ("cells in parallel", "in a tile", inside(every_band(e.all_coincident))),
    ("a cell later", "in a tile", inside(every_band(e.strip_of_all_at_once))),
]
for name_, what_, edit_ in EDITS:
    add("timetiles", name_, what_, after_pass("timetiles", edit_))

# --- hyperplanes -----------------------------------------------------------------------------------------------------


def nearer(original: Any) -> Any:
    """Values are taken to come from a cell less far away."""

    def least(distances: isl.Set, sign: int, slope: int) -> int | None:
        found = original(distances, sign, slope)
        return None if found is None else found + 1

    return least


def no_shifts(original: Any) -> Any:
    """The statements of one step are not shifted against each other."""

    def paths(nodes: list[str], edges: list[tuple[str, str, int]]) -> dict[str, int] | None:
        return None if original(nodes, edges) is None else dict.fromkeys(nodes, 0)

    return paths


def slope_less(original: Any) -> Any:
    """The skew is one too small."""

    def schedule(steps: Any, dimension: int, sign: int, slope: int, shifts: dict[str, int]) -> isl.UnionPwAff:
        return original(steps, dimension, sign, max(0, slope - 1), shifts)

    return schedule


def one_side(original: Any) -> Any:
    """Both sides of a diamond lean the same way."""

    def schedule(steps: Any, dimension: int, sign: int, slope: int, shifts: dict[str, int]) -> isl.UnionPwAff:
        return original(steps, dimension, abs(sign), slope, shifts)

    return schedule


def shifts_turned(original: Any) -> Any:
    """The shift of one statement is another's."""

    def schedule(steps: Any, dimension: int, sign: int, slope: int, shifts: dict[str, int]) -> isl.UnionPwAff:
        names = list(shifts)
        return original(steps, dimension, sign, slope, dict(zip(names, reversed(shifts.values()), strict=True)))

    return schedule


def only_later_steps(original: Any) -> Any:
    """Dependences within one step are not looked at."""

    def distances(steps: Any, dependence: isl.Map, dimension: int) -> isl.Set:
        found = original(steps, dependence, dimension)
        later = found.lower_bound_val(isl.dim_type.set, 0, isl.Val.one(found.get_ctx()))
        return found if later.is_empty() else later

    return distances


def only_from_one_side(original: Any) -> Any:
    """Values from cells behind are not looked at."""

    def distances(steps: Any, dependence: isl.Map, dimension: int) -> isl.Set:
        found = original(steps, dependence, dimension)
        ahead = found.lower_bound_val(isl.dim_type.set, 1, isl.Val.zero(found.get_ctx()))
        return found if ahead.is_empty() else ahead

    return distances


def no_slack(original: Any) -> Any:
    """Tiles whose first value lies before all others are not counted."""
    return lambda ran, _low, _high: original(ran, 0, 0)


def slack_turned(original: Any) -> Any:
    return lambda ran, low, high: original(ran, -high, -low)


def larger_front(original: Any) -> Any:
    """The tiles in front are larger than those beside them."""

    def band(steps: Any, front: Any, second: Any, rest: Any, forms: Any) -> Any:
        return original(steps, replace(front, size=front.size + 3), second, rest, forms)

    return band


def as_it_was(_original: Any) -> Any:
    """No loop inside of a tile is turned into wavefronts, and all count as parallel."""
    return lambda node, _dependences: rewrite(node, lambda n: (e.all_coincident(n) or n) if isinstance(n, Band) else n)


def flat_wavefront(_original: Any) -> Any:
    """Any sum of two loops is taken for a wavefront."""
    return lambda _dependences, _value: True


def all_free(_original: Any) -> Any:
    return lambda _member, _dependences: True


add("timetiles", "values from a cell nearer", "", patched(skew, "_least", nearer))
add("timetiles", "no shifts", "between statements", patched(skew, "_longest_paths", no_shifts))
add("timetiles", "a skew too small", "by one", patched(skew, "_schedule", slope_less))
add("timetiles", "diamonds that lean to one side", "", patched(skew, "_schedule", one_side))
add("timetiles", "shifts turned", "between statements", patched(skew, "_schedule", shifts_turned))
add("timetiles", "only later steps", "nothing within a step", patched(skew, "_distances", only_later_steps))
add("timetiles", "only from one side", "", patched(skew, "_distances", only_from_one_side))
add("timetiles", "regions without slack", "", patched(time_bands, "hull_of", no_slack))
add("timetiles", "regions to the wrong side", "", patched(time_bands, "hull_of", slack_turned))
add("timetiles", "larger tiles in front", "", patched(time_bands, "_band", larger_front))
add("timetiles", "the inner order not looked at", "", patched(time_tiles, "ordered_points", as_it_was))
add("timetiles", "any wavefront in a tile", "", patched(wavefronts, "_positive", flat_wavefront))
add("timetiles", "no recurrence in a tile", "", patched(wavefronts, "_free", all_free))
