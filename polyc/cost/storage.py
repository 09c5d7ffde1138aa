"""Which buffers of a tile may lie in the same place: those that are never in use at the same time."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

from polyc.records import dataclass

STACK_BYTES = 320 * 1024
"""What the buffers of one tile may take of a thread's stack."""


@dataclass(frozen=True, slots=True)
class Life:
    """One buffer, from the first step of the tile that touches it to the last."""

    key: str
    kind: tuple[object, ...]
    """What buffers of one place agree in: their elements' type, how they are stored."""
    element_bytes: int
    extents: tuple[int, ...]
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Place:
    """One array for buffers that follow each other."""

    lives: tuple[Life, ...]
    extents: tuple[int, ...]
    """The largest of each dimension, so that each element is found at its buffer's own subscripts."""

    @property
    def size_bytes(self) -> int:
        return self.lives[0].element_bytes * prod(self.extents)

    def with_one(self, life: Life) -> Place:
        larger = tuple(max(pair) for pair in zip(self.extents, life.extents, strict=True))
        return Place((*self.lives, life), larger)


def places_for(lives: Iterable[Life]) -> list[Place]:
    """Places for all of them, in the order of their beginnings.

    math: buffers that begin later take the place that is free and grows least; where it would grow by more than a place
          of their own takes, they get that. For buffers of one size this takes as few places as there can be, as many
          as are in use in some step at once
    source: the left-edge algorithm, Hashimoto and Stevens 1971, for intervals
    """
    found: list[Place] = []
    for life in sorted(lives, key=lambda one: (one.first, one.last, one.key)):
        own = Place((life,), life.extents)
        growths = [
            (place.with_one(life).size_bytes - place.size_bytes, k)
            for k, place in enumerate(found)
            if place.lives[-1].last < life.first
            and place.lives[0].kind == life.kind
            and len(place.extents) == len(life.extents)
        ]
        growth, chosen = min(growths, default=(own.size_bytes, -1))
        if chosen < 0 or growth >= own.size_bytes:
            found.append(own)
        else:
            found[chosen] = found[chosen].with_one(life)
    return found


def bytes_for(lives: Iterable[Life]) -> int:
    return sum(place.size_bytes for place in places_for(lives))
