"""Regions as users write them: what polyc makes of a program prints the same bytes, in every mode.

Each file of `programs` is a whole program that runs its region at several sizes and prints all results. So that all
tests end soon, a program runs in the two modes that sanitizers look at, of which one is the default, and in an eighth
of the others, each second one without OpenMP, and the others with small budgets; with POLYC_ALL_MODES=1, in each.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from toolbox import (
    ROUNDING,
    WARNINGS,
    assert_no_warnings,
    assert_rest_unchanged,
    assert_verified,
    compiled_file,
    run,
)

from polyc.model.certificate import NOT_SHOWN
from polyc.model.program import InputOptions, Options
from tests.modes import MODES
from tests.turns import turn

FOLDER = Path(__file__).parent / "programs"
PROGRAMS = {file.stem: file for file in sorted(FOLDER.glob("*.c"))}
INPUTS = InputOptions(include_dirs=(str(FOLDER),))
FORCED = {
    "max-recompute 100": Options(max_recompute=100.0),
    "max-recompute 1000000, 5,7,3": Options(max_recompute=1e6, tile_sizes=(5, 7, 3)),
    "smart, 5,7,3": Options(fuse="smart", tile_sizes=(5, 7, 3)),
    "max, 5,7,3": Options(fuse="max", tile_sizes=(5, 7, 3)),
}
SANITIZED = ("default", "max-recompute 1000000, 5,7,3")
SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize=vla-bound", "-fno-sanitize-recover=all", "-g")
"""An array `double A[n]` as a parameter may have no elements; gcc's vla-bound complains of that."""


def flags_for(name: str) -> tuple[str, ...]:
    """Pragmas for polyc stay in the output, where other compilers do not know them."""
    unknown = "#pragma polyc" in PROGRAMS[name].read_text()
    return (f"-I{FOLDER}", *(["-Wno-unknown-pragmas"] if unknown else []))


def modes_of(name: str) -> dict[str, Options]:
    """Neighbouring programs take the eighths in turn, so that each mode sees an eighth of them."""
    every = {**MODES, **FORCED}
    others = turn([mode for mode in every if mode not in SANITIZED], list(PROGRAMS).index(name), 8)
    return {mode: options for mode, options in every.items() if mode in SANITIZED or mode in others}


def built_and_run(file: Path, *flags: str) -> str:
    program = file.with_suffix(".out")
    run("gcc", *WARNINGS, ROUNDING, *flags, file, "-o", program, "-lm")
    return run(program)


def test_enough_programs():
    assert len(PROGRAMS) >= 40


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_same_output(name, tmp_path):
    """All modes of one program in one test: many give the same text, which is built once."""
    original = tmp_path / "original.c"
    original.write_text(PROGRAMS[name].read_text())
    expected = built_and_run(original, "-O1", f"-I{FOLDER}", "-Wno-unknown-pragmas")
    assert len(expected) > 50
    seen: set[str] = set()
    flags = flags_for(name)
    for number, (mode, options) in enumerate(modes_of(name).items()):
        source, regions, text = compiled_file(PROGRAMS[name], INPUTS, options)
        assert_verified(regions)
        assert_rest_unchanged(source, regions, text)
        file = tmp_path / f"mode_{number}.c"
        file.write_text(text)
        if text not in seen:
            assert_no_warnings(file, *flags)
            assert built_and_run(file, "-O1", "-fopenmp", *flags) == expected, mode
        if mode in SANITIZED:
            assert built_and_run(file, "-O1", "-fopenmp", *flags, *SANITIZERS) == expected, f"{mode} with sanitizers"
        seen.add(text)


@pytest.mark.parametrize("name", turn(list(PROGRAMS), 0))
def test_target_c(name):
    options = replace(MODES["default"], target="c")
    source, regions, text = compiled_file(PROGRAMS[name], INPUTS, options)
    assert_verified(regions)
    assert_rest_unchanged(source, regions, text)
    assert "#pragma omp" not in text


@pytest.mark.slow
@pytest.mark.parametrize("name", turn(list(PROGRAMS), 1))
def test_small_budgets(name, tmp_path):
    """Whatever isl has no operations left for, what is printed computes the same."""
    original = tmp_path / "original.c"
    original.write_text(PROGRAMS[name].read_text())
    expected = built_and_run(original, "-O1", f"-I{FOLDER}", "-Wno-unknown-pragmas")
    flags = flags_for(name)
    seen: set[str] = set()
    budgets = (1, 10_000, 30_000, 100_000, 300_000)
    for number, operations in enumerate(turn(budgets, list(PROGRAMS).index(name), 5)):
        source, regions, text = compiled_file(PROGRAMS[name], INPUTS, replace(MODES["default"], budget=operations))
        assert all(region.certificate.tree != NOT_SHOWN for region in regions)
        assert_rest_unchanged(source, regions, text)
        file = tmp_path / f"budget_{number}.c"
        file.write_text(text)
        if text not in seen:
            assert built_and_run(file, "-O1", "-fopenmp", *flags) == expected, operations
        seen.add(text)
