"""Short ways from C text to what the tests look at."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from polyc.codegen import render_file
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


def compiled_file(text: str, folder: Path, **options: Any) -> tuple[list[Compiled], str]:
    """The regions that polyc finds in a C text, compiled and verified, and what it prints for the file."""
    file = folder / "t.c"
    file.write_text(text)
    source = read(str(file), InputOptions(detect=True))
    found = [compile_region(region, Options(**options)) for region in source.regions]
    assert {one.verified for one in found} == {True}
    return found, render_file(source, found)


def after(region: Region, last: str, skipped: tuple[str, ...] = (), **options: Any) -> Program:
    """The program after the pass `last`, without some, not checked."""
    chosen = Options(**options)
    program = initial_program(region.scop, chosen)
    for name, run in passes_for(chosen):
        program = program if name in skipped else run(program)
        if name == last:
            return program
    raise AssertionError(f"no pass {last}")


def run_alike(text: str, printed: str, folder: Path, inputs: Sequence[tuple[str, ...]] = ((),)) -> list[str]:
    """What two programs print, after they were shown to print and answer the same: also under the sanitizers.

    inputs: the arguments of each run
    """
    sanitize = ["-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    programs = (("a", text, ["-O2"]), ("b", printed, ["-O2"]), ("c", printed, sanitize))
    for name, code, flags in programs:
        (folder / f"{name}.c").write_text(code)
        words = ["-fopenmp", "-ffp-contract=off", "-fno-strict-aliasing", "-w", *flags, f"{name}.c", "-o", name, "-lm"]
        subprocess.run(["gcc", *words], check=True, cwd=folder)
    shown = []
    for arguments in inputs:
        done = [
            subprocess.run([f"./{name}", *arguments], capture_output=True, text=True, check=False, cwd=folder)
            for name, _, _ in programs
        ]
        assert len({(one.returncode, one.stdout) for one in done}) == 1, [one.stderr for one in done]
        shown.append(done[0].stdout)
    return shown
