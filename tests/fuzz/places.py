"""Where the arguments of a program lie: each in memory of its own, or one in that of another one."""

from __future__ import annotations

from tests.fuzz.choose import Chooser
from tests.fuzz.model import SHIFTS, Array, Placed, Program, Run


def placed(chooser: Chooser, program: Program) -> tuple[Placed, ...]:
    """Draws which arguments overlap: none in a quarter of the runs, otherwise one or two."""
    shared = [array for array in program.arrays if array.kind == "argument" and not array.index]
    found: list[Placed] = []
    for _ in range(chooser.integer(0, 3) and chooser.integer(1, 2)):
        pairs = [(on, array) for k, on in enumerate(shared) for array in shared[k + 1 :] if fits(array, on)]
        pairs = [(on, array) for on, array in pairs if array.name not in {place.array for place in found}]
        if pairs:
            on, array = pairs[chooser.integer(0, len(pairs) - 1)]
            found.append(Placed(array.name, on.name, SHIFTS[chooser.integer(0, len(SHIFTS) - 1)]))
    return tuple(found)


def fits(array: Array, on: Array) -> bool:
    """Whether C allows one array in the memory of another one: an element has one type."""
    return array.type == on.type and array.pair == on.pair


def shift(name: str, count: int, own: int) -> int:
    """Elements from the start of an array with `count` elements to that of one with `own`."""
    return {
        "same": 0,
        "one": 1,
        "back": -1,
        "part": max(1, count // 2),
        "last": count - 1,
        "touching": count,
        "before": -own,
    }[name]


def homes(arrays: list[Array], counts: list[int], run: Run) -> list[tuple[int, int]]:
    """For each array the number of the one whose block it lies in, and the first of its numbers there."""
    at = {array.name: number for number, array in enumerate(arrays)}
    found = [(number, 0) for number in range(len(arrays))]
    # An array lies on an earlier one, so that this one's place is known.
    for place in sorted(run.placed, key=lambda place: at.get(place.array, 0)):
        if place.array not in at or place.on not in at or not fits(arrays[at[place.array]], arrays[at[place.on]]):
            continue  # what was made smaller has lost one of them
        array, on = at[place.array], at[place.on]
        unit = 2 if arrays[on].pair else 1
        home, start = found[on]
        found[array] = home, start + unit * shift(place.shift, counts[on] // unit, counts[array] // unit)
    least = {home: min(start for other, start in found if other == home) for home, _ in found}
    return [(home, start - least[home]) for home, start in found]
