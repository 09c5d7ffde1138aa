"""What a replay answers."""

from __future__ import annotations

from typing import Literal

from polyc.records import dataclass, field


@dataclass(frozen=True, slots=True)
class Difference:
    """What a text does otherwise than its region."""

    kind: str
    """`value`, `race`, `bounds`, `text`."""
    message: str
    witness: str
    """Where it comes from: who wrote it, and the first operands that differ."""
    sizes: dict[str, int]
    array: str = ""
    place: int | None = None
    """Of an array's element, counted in elements."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of a text ran."""

    ran: int
    total: int
    """Bodies of loops and branches."""
    missed: tuple[int, ...] = ()
    """Lines of the text at which those begin that never ran."""

    @property
    def share(self) -> float:
        return self.ran / self.total if self.total else 1.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """The answer: whether a text leaves behind what its region does, as far as both ran."""

    kind: Literal["agrees", "differs", "not-run"]
    reason: str = ""
    difference: Difference | None = None
    coverage: Coverage = Coverage(0, 0)
    sizes: tuple[dict[str, int], ...] = field(default=())
    """Values of the parameters that were run."""
