"""Where a difference comes from: who wrote the element, and the first operands that are not the same."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from polyc.replay.machine.operations import NUMBER
from polyc.replay.machine.tracing import Tracer
from polyc.replay.outcome import Difference

if TYPE_CHECKING:
    from polyc.replay.both import Ran

DEEPEST = 200


def explained(difference: Difference, wanted: Ran, found: Ran) -> Difference:
    """The difference with its element's name, its writers, and the operands."""
    region, text = wanted.machine.tracer, found.machine.tracer
    assert region is not None
    assert text is not None
    name, place = difference.array, difference.place
    if place is None:
        return replace(difference, witness=operands(region, text, wanted.scalars[name], found.scalars[name]))
    element = wanted.arrays[name].element(place)
    writers = [
        str(one) if one is not None else ""
        for one in (region.writers.get((name, place)), text.writers.get((name, place)))
    ]
    told = [f"written last by {one}" if one else "never written" for one in writers]
    values = [ran.arrays[name][place] for ran in (wanted, found)]
    parts = [f"{element} is {told[0]} of the region, and {told[1]} of the text"]
    if all(isinstance(value, int) for value in values):
        parts.append(operands(region, text, *values))
    return replace(
        difference, message=f"{element} has another value", witness="; ".join(part for part in parts if part)
    )


def operands(region: Tracer, text: Tracer, one: Any, other: Any) -> str:
    """The first operands that differ, on the way down from two values."""
    for _ in range(DEEPEST):
        here, there = region.terms.get(one), text.terms.get(other)
        if (
            here is None
            or there is None
            or here[0] != there[0]
            or len(here) != len(there)
            or here[0] in ("start", "number")
        ):
            break
        pair = next(((a, b) for a, b in zip(here, there, strict=True) if a != b), None)
        if pair is None:
            break
        one, other = pair
    return f"the first operands that differ: {told(region, one)} in the region, {told(text, other)} in the text"


def told(tracer: Tracer, value: Any) -> str:
    """Where a value comes from."""
    term = tracer.terms.get(value)
    match term:
        case ("start", str(name)):
            return f"{name} as it was before" if not name.startswith("unset") else f"{name[6:]}, which was never set"
        case ("number", number):
            return str(number)
        case (kind, *_) if kind == NUMBER:
            return "a constant"
        case None:
            return str(value)
        case _ if value in tracer.origins:
            return tracer.origins[value]
        case _:
            return "an intermediate result"
