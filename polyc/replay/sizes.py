"""Sizes that a replay runs: small ones first, then some beyond the tiles' own."""

from __future__ import annotations

import re
from collections.abc import Iterator

import islpy as isl

from polyc.model.scop import Scop
from polyc.runtime.sizes import as_dimensions, closest

FEW = ((4, 5, 3, 6, 7), (1,), (2, 3), (3, 2, 4), (0, 2), (7,), (9, 11, 8, 10, 13))
"""Values for the parameters, in turn."""
LARGE = (17, 34, 65, 130)
_NUMBER = re.compile(r"(?<![\w.])(\d+)L?(?![\w.])")


def candidates(scop: Scop, text: str) -> Iterator[dict[str, int]]:
    """Values of the parameters that keep what is known of them, by their names in isl; each once."""
    names = tuple(parameter.name for parameter in scop.parameters)
    allowed = as_dimensions(scop.context.params(), names)
    seen: set[tuple[int, ...]] = set()
    for wanted in _wishes(len(names), text):
        found = _allowed(allowed, wanted)
        if found is not None and found not in seen:
            seen.add(found)
            yield dict(zip(names, found, strict=True))


def _wishes(count: int, text: str) -> Iterator[tuple[int, ...]]:
    if not count:
        yield ()
        return
    for few in FEW:
        yield tuple(few[k % len(few)] for k in range(count))
    tiles = tile_sizes(text)
    yield tuple(LARGE[0] + k for k in range(count))
    for size in tiles:
        yield tuple(size + 1 + k for k in range(count))
        for position in range(count if count > 1 else 0):
            yield tuple(2 * size + 3 if k == position else 3 + k for k in range(count))
    for large in LARGE[1:]:
        yield tuple(large + k for k in range(count))
    for size in tiles:
        for position in range(count):
            yield tuple(size + 5 if k != position else 3 for k in range(count))


def tile_sizes(text: str) -> list[int]:
    """Constants in the loops' heads and conditions of a text."""
    found: set[int] = set()
    for line in text.splitlines():
        if "for (" in line or "if (" in line:
            found |= {int(number) for number in _NUMBER.findall(line)}
    return sorted(number for number in found if 3 < number <= 2048)[:12]


def _allowed(allowed: isl.Set, wanted: tuple[int, ...]) -> tuple[int, ...] | None:
    """The values that are wanted, or what is close to them."""
    if _has(allowed, wanted):
        return wanted
    found: list[int] = []
    for position, value in enumerate(wanted):
        if allowed.is_empty():
            return None
        near = closest(allowed, position, value)
        allowed = allowed.fix_val(isl.dim_type.set, position, isl.Val.int_from_si(allowed.get_ctx(), near))
        found.append(near)
    return tuple(found)


def _has(allowed: isl.Set, values: tuple[int, ...]) -> bool:
    context = allowed.get_ctx()
    for position, value in enumerate(values):
        allowed = allowed.fix_val(isl.dim_type.set, position, isl.Val.int_from_si(context, value))
    return not allowed.is_empty()


