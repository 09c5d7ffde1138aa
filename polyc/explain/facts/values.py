"""How numbers and sizes are written for a person."""

from __future__ import annotations

import math

import islpy as isl

from polyc.model import relations as r
from polyc.model.program import Buffer, Program, Remark


def extent(size: isl.PwAff | int) -> int | str:
    """A number where the size is constant, otherwise an expression in the parameters."""
    text = r.expression(size) if isinstance(size, isl.PwAff) else str(size)
    return int(text) if text.isdigit() else text


def buffer_bytes(buffer: Buffer, program: Program) -> int | None:
    """What a buffer takes; None where its size is not constant, or its type not known."""
    array = program.scop.arrays.get(buffer.array)
    extents = [extent(size) for size in buffer.extents]
    numbers = [size for size in extents if isinstance(size, int)]
    if array is None or not array.element.size_bytes or len(numbers) < len(extents):
        return None
    return math.prod(numbers) * array.element.size_bytes


def figures(remark: Remark, but: tuple[str, ...] = ()) -> str:
    """`into (S1), recompute percent 12.5`."""
    told = {key: value for key, value in remark.data.items() if key not in but}
    return ", ".join(f"{key.replace('_', ' ')} {shown(value)}" for key, value in told.items())


def shown(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.0f}" if abs(value) >= 1e4 else f"{value:.4g}"
    if isinstance(value, (list, tuple)):
        return "(" + ", ".join(shown(item) for item in value) + ")"
    if isinstance(value, dict):
        return "(" + ", ".join(f"{key} {shown(item)}" for key, item in value.items()) + ")"
    return str(value)


def percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def again(share: float) -> str:
    """`13.4 %`, or `599 times`: how much work is repeated."""
    return f"{share:.0f} times" if share >= 10 else percent(share)
