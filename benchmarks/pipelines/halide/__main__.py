"""python -m benchmarks.pipelines.halide NAME ROWS COLS SCHEDULE PARALLELISM STEM: write STEM.o and STEM.h."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from .program import write


def main(name: str, rows: str, cols: str, schedule: str, parallelism: str, stem: str) -> None:
    module = importlib.import_module(f"{__package__}.{name}")
    write(module.program(int(rows), int(cols)), f"halide_{name}", schedule, int(parallelism), Path(stem))


main(*sys.argv[1:])
