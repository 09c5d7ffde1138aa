"""A run that remembers who wrote what, and how each value was computed."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from polyc.records import dataclass, field
from polyc.replay.machine.memory import Cells, Value


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a text, and the loop counters around it."""

    line: int
    counters: tuple[tuple[str, int], ...]

    def __str__(self) -> str:
        values = ", ".join(f"{name} = {value}" for name, value in self.counters)
        return f"line {self.line}" + (f" ({values})" if values else "")


@dataclass(slots=True, eq=False)
class Tracer:
    """Remembers how each number was computed, and where each cell was written."""

    place_of: Callable[[FrameType], Place | None]
    terms: dict[int, tuple[Any, ...]] = field(default_factory=dict)
    origins: dict[int, str] = field(default_factory=dict)
    """Where a value was stored first."""
    writers: dict[tuple[str, int], Place] = field(default_factory=dict)

    def hashed(self, term: tuple[Any, ...]) -> int:
        found = hash(term)
        self.terms[found] = term
        return found

    def here(self) -> Place | None:
        frame: FrameType | None = sys._getframe(2)
        while frame is not None:
            place = self.place_of(frame)
            if place is not None:
                return place
            frame = frame.f_back
        return None


class TracedCells(Cells):
    """An array of the user's, with the last writer of each cell."""

    __slots__ = ()

    def __setitem__(self, place: int, value: Value) -> None:
        tracer = self.machine.tracer
        writer = None if tracer is None else tracer.here()
        if tracer is not None and writer is not None:
            tracer.writers[self.name, place] = writer
            if isinstance(value, int) and self.kind.letter == "f":
                tracer.origins.setdefault(value, f"{self.element(place)} of {writer}")
        super().__setitem__(place, value)
