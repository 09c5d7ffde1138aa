"""What this machine can do: peak rates of arithmetic and of memory, measured in a second by harness/rates.c."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from .contestants import HERE, OPTIMISE, Step
from .execute import build, command, settings
from .results import Rates
from .tools import Tool

LIMIT_SECONDS = 120.0


def measure(gcc: Tool, threads: Sequence[int], folder: Path) -> list[Rates]:
    """The rates for each number of threads."""
    program = folder / "rates"
    argv = (*gcc.command, *OPTIMISE, "-fopenmp", str(HERE / "harness" / "rates.c"), "-o", str(program))
    build([Step("cc", argv)], LIMIT_SECONDS)
    return [read(command((str(program),), LIMIT_SECONDS, "rates", settings(count)), count) for count in threads]


def read(text: str, threads: int) -> Rates:
    words = [line.split() for line in text.splitlines()]
    flops = {name: float(rate) for kind, name, rate in words if kind == "flops"}
    return Rates(threads, flops, {size: float(rate) for kind, size, rate in words if kind == "bytes"})
