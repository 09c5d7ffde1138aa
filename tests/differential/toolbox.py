"""What the differential tests share: compile in-process, build with a C compiler, run, compare."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from polyc.codegen import on_lines, render_file
from polyc.frontend import read
from polyc.model.certificate import NOT_SHOWN
from polyc.model.program import Compiled, InputOptions, Options
from polyc.model.scop import Source
from polyc.pipeline import compile_region

WARNINGS = ("-std=c11", "-Wall", "-Wextra", "-Werror")
ROUNDING = "-ffp-contract=off"
"""Both programs of a comparison have to round alike."""

ENVIRONMENT = {
    "LC_ALL": "C",
    "OMP_NUM_THREADS": "4",
    "OMP_WAIT_POLICY": "passive",  # the tests run beside each other
    "ASAN_OPTIONS": "detect_leaks=0",  # libgomp keeps its threads
}

OTHERWISE = " } else { /* where that does not hold: as it was written */\n"

COMPILERS = [cc for cc in ("gcc", "clang") if shutil.which(cc)]


def compiled_file(path: Path, inputs: InputOptions, options: Options) -> tuple[Source, list[Compiled], str]:
    """The file as it was read, its regions, and the text of the output."""
    source = read(str(path), inputs)
    regions = [compile_region(region, options) for region in source.regions]
    return source, regions, render_file(source, regions)


def assert_verified(regions: list[Compiled]) -> None:
    """The static check accepted the program that the last pass made, and no pass gave up."""
    failures = [
        r.message for region in regions for r in region.program.remarks if r.code in ("verification-failed", "budget")
    ]
    assert not failures, failures
    assert all(region.certificate.tree != NOT_SHOWN for region in regions)


def assert_rest_unchanged(source: Source, regions: list[Compiled], text: str) -> None:
    """Every byte outside the regions is the user's."""
    before = after = 0
    for region, result in zip(source.regions, regions, strict=True):
        kept = source.text[before : region.start]
        assert text[after : after + len(kept)] == kept
        after += len(kept)
        printed = on_lines(source.text, region, result.in_file)
        assert text[after : after + len(printed)] == printed
        before, after = region.end, after + len(printed)
    assert text[after:] == source.text[before:]


def run(*command: str | Path, limit_seconds: float = 120) -> str:
    """Standard output of a command that has to succeed."""
    done = subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        timeout=limit_seconds,
        env={**os.environ, **ENVIRONMENT},
    )
    assert done.returncode == 0, (
        f"{' '.join(map(str, command))}: {done.returncode}\n{done.stdout[-1000:]}{done.stderr[-4000:]}"
    )
    return done.stdout


def assert_no_warnings(file: Path, *flags: str) -> None:
    """Every compiler takes the file without a word, with OpenMP and without. What only gcc's data flow sees needs
    its optimiser: the tests' own builds have these flags as well."""
    for cc in COMPILERS:
        for openmp in ("-fopenmp", "-fno-openmp"):
            run(cc, *WARNINGS, openmp, "-fsyntax-only", *flags, file)


def guard_in(text: str) -> str:
    """The only condition of a region, as it is printed."""
    before, _, _ = text.partition(OTHERWISE)
    indent = before.rpartition("\n")[2]
    return before.rpartition(f"\n{indent} if (")[2].partition(") {\n")[0]


def counted(text: str, guard: str) -> str:
    """A text that counts how often each branch runs."""
    assert text.count(OTHERWISE) == 1
    start = f" if ({guard}) {{\n"
    text = text.replace(start, f"{start}  polyc_ran[0]++;\n", 1)
    return "extern int polyc_ran[2];\n" + text.replace(OTHERWISE, f"{OTHERWISE}  polyc_ran[1]++;\n")
