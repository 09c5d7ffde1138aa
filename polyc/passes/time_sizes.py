"""Whether time tiles pay, of which kind and how large, from the machine's description."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from polyc.machine import load_cpu
from polyc.model.program import Program
from polyc.passes.skew import Steps


@dataclass(frozen=True, slots=True)
class Shape:
    kind: str
    sizes: tuple[int, ...]
    reason: str
    data: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Untiled:
    reason: str
    data: dict[str, Any] = field(default_factory=dict)


def shape_for(program: Program, steps: Steps) -> Shape | Untiled:
    kind, sizes = program.options.time_tile
    return Shape(kind, sizes, "as --time-tile asks")


__all__ = ["load_cpu"]
