"""Short ways from C text to what the tests look at."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from polyc.frontend import read
from polyc.model.program import Compiled, InputOptions, Options, Program
from polyc.model.scop import Region
from polyc.pipeline import compile_region, initial_program, passes_for


def region_of(text: str, folder: Path, **inputs: Any) -> Region:
    """The only region of a C text."""
    file = folder / "t.c"
    file.write_text(text)
    (region,) = read(str(file), InputOptions(**inputs)).regions
    return region


def region_in(file: Path, **inputs: Any) -> Region:
    (region,) = read(str(file), InputOptions(**inputs)).regions
    return region


def compiled(text: str, folder: Path, **options: Any) -> Compiled:
    return compile_region(region_of(text, folder), Options(**options))


def after(region: Region, last: str, skipped: tuple[str, ...] = (), **options: Any) -> Program:
    """The program after the pass `last`, without some, not checked."""
    chosen = Options(**options)
    program = initial_program(region.scop, chosen)
    for name, run in passes_for(chosen):
        program = program if name in skipped else run(program)
        if name == last:
            return program
    raise AssertionError(f"no pass {last}")
