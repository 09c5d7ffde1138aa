"""The irregular codes as a suite for the driver of the pipelines: one form, and memory that stays where it is."""

from __future__ import annotations

from pathlib import Path

from benchmarks.pipelines.cli import command
from benchmarks.pipelines.pipelines import Suite

HERE = Path(__file__).parent
NAMES = ("equake", "csr", "histogram", "mesh")
IRREGULAR = Suite(
    "irregular",
    "Irregular codes: plain nests and polyc's output, values compared.",
    HERE,
    NAMES,
    ("nests",),
    ("kept",),
)

main = command(IRREGULAR)
