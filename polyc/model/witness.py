"""A dependence by example: two iterations and the array cell that they share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from polyc.model.scop import AccessKind
from polyc.records import dataclass


@dataclass(frozen=True, slots=True)
class Touch:
    """What one iteration does with the cell."""

    statement: str
    iteration: tuple[tuple[str, int], ...]
    """The loops around the statement, outermost first, and their values."""
    kind: AccessKind
    line: int
    """Of the statement, in the user's file."""

    @property
    def text(self) -> str:
        """`S1[i=1, j=2]`."""
        values = ", ".join(f"{name}={value}" for name, value in self.iteration)
        return f"{self.statement}[{values}]" if values else self.statement

    def data(self) -> dict[str, Any]:
        return {
            "statement": self.statement,
            "line": self.line,
            "iteration": dict(self.iteration),
            "access": self.kind.value,
        }


@dataclass(frozen=True, slots=True)
class Witness:
    """Two iterations of which one has to stay before the other, since both touch one cell and one of them writes it."""

    first: Touch
    """What runs first in the original order."""
    second: Touch
    array: str
    """The array's key in `Scop.arrays`."""
    cell: tuple[int, ...]
    """The cell in the model, which may give a flat array several dimensions."""
    element: str
    """The cell as C names it: `A[2][3]`."""
    parameters: tuple[tuple[str, int], ...]
    """The sizes of the example, as small as they can be."""

    @property
    def text(self) -> str:
        """`S1[i=1, j=2] writes A[2], and S1[i=2, j=2] reads it (n = 3)`."""
        sizes = ", ".join(f"{name} = {value}" for name, value in self.parameters)
        return ", and ".join(self.halves) + (f" ({sizes})" if sizes else "")

    @property
    def halves(self) -> tuple[str, str]:
        """`S1[i=1, j=2] writes A[2]` and `S1[i=2, j=2] reads it`."""
        again = _again(self.first.kind, self.second.kind)
        return f"{self.first.text} {_VERBS[self.first.kind]} {self.element}", f"{self.second.text} {again}"

    def data(self) -> dict[str, Any]:
        """JSON values."""
        return {
            "first": self.first.data(),
            "second": self.second.data(),
            "array": self.array,
            "cell": list(self.cell),
            "element": self.element,
            "parameters": dict(self.parameters),
            "text": self.text,
        }


Finder: TypeAlias = Callable[[], Witness | None]
"""Looks for a witness when somebody asks: None where there is none, or finding it takes too long."""

_VERBS = {AccessKind.READ: "reads", AccessKind.WRITE: "writes", AccessKind.MAY_WRITE: "may write"}


def _again(before: AccessKind, after: AccessKind) -> str:
    if after is AccessKind.READ:
        return "reads it"
    may = "may " if after is AccessKind.MAY_WRITE else ""
    if before is AccessKind.READ:
        return f"{may}overwrite{'' if may else 's'} it"
    return f"{may}write{'' if may else 's'} it again"
