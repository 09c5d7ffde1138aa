"""The thirty kernels through the whole compiler: checked, without warnings, and with the bits of gcc -O2."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import cache
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

from polyc.model.program import InputOptions
from tests.modes import MODES
from tests.turns import turn

POLYBENCH = Path(__file__).parents[2] / "polybench"
HARNESS = POLYBENCH / "harness"
KERNELS = {file.stem: file for file in sorted((POLYBENCH / "kernels").glob("*.c"))}
LARGEST_OUTPUT_BYTES = 20_000
LONGEST_BUILD_SECONDS = 5.0
EVERY_RUN = [("MINI", mode) for mode in MODES] + [("SMALL", "default"), ("SMALL", "5,7,3")]
OTHERS = EVERY_RUN[1:-2]


def runs() -> list[tuple[str, str, str]]:
    """Each kernel in the default mode, in one that is small, and in a third of the others; with POLYC_ALL_MODES=1, in
    each."""
    return [
        (kernel, *run)
        for number, kernel in enumerate(KERNELS)
        for run in (EVERY_RUN[0], *turn(OTHERS, number, 3), *turn(EVERY_RUN[-2:], number))
    ]


def flags(dataset: str) -> tuple[str, ...]:
    return (f"-I{HARNESS}", f"-D{dataset}_DATASET")


def inputs(dataset: str) -> InputOptions:
    return InputOptions(include_dirs=(str(HARNESS),), defines=(f"{dataset}_DATASET",))


@pytest.fixture(scope="session")
def harness(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The object file that every program is linked with."""
    target = tmp_path_factory.mktemp("harness") / "harness.o"
    run("gcc", "-O1", "-DDUMP", "-c", HARNESS / "harness.c", "-o", target)
    return target


@pytest.fixture(scope="session")
def references(harness: Path, tmp_path_factory: pytest.TempPathFactory):
    """What the kernels print as gcc -O2 builds them."""
    folder = tmp_path_factory.mktemp("plain")

    @cache
    def reference(kernel: str, dataset: str) -> str:
        program = folder / f"{kernel}.{dataset}"
        run("gcc", "-O2", ROUNDING, *flags(dataset), KERNELS[kernel], harness, "-o", program, "-lm")
        return run(program)

    return reference


def test_there_are_thirty_kernels():
    assert len(KERNELS) == 30


@pytest.mark.slow
@pytest.mark.parametrize(("kernel", "dataset", "mode"), runs())
def test_same_dump(kernel, dataset, mode, harness, references, tmp_path):
    source, regions, text = compiled_file(KERNELS[kernel], inputs(dataset), MODES[mode])
    assert_verified(regions)
    assert_rest_unchanged(source, regions, text)
    assert len(text) < LARGEST_OUTPUT_BYTES
    file, program = tmp_path / f"{kernel}.c", tmp_path / kernel
    file.write_text(text)
    if dataset == "MINI":
        assert_no_warnings(file, *flags(dataset))
    run("gcc", "-O1", "-fopenmp", ROUNDING, *WARNINGS, *flags(dataset), file, harness, "-o", program, "-lm")
    assert run(program) == references(kernel, dataset)


@pytest.mark.slow
@pytest.mark.parametrize("kernel", KERNELS)
def test_gcc_is_quick(kernel, tmp_path):
    file = tmp_path / f"{kernel}.c"
    file.write_text(compiled_file(KERNELS[kernel], inputs("LARGE"), MODES["default"])[2])
    start = time.perf_counter()
    run("gcc", "-O3", "-fopenmp", *WARNINGS, *flags("LARGE"), "-c", file, "-o", tmp_path / "kernel.o")
    assert time.perf_counter() - start < LONGEST_BUILD_SECONDS


@pytest.mark.parametrize("kernel", KERNELS)
def test_target_c_has_no_openmp(kernel):
    """Plain C: the same program without a word of OpenMP, checked as well."""
    options = replace(MODES["default"], target="c")
    source, regions, text = compiled_file(KERNELS[kernel], inputs("MINI"), options)
    assert_verified(regions)
    assert_rest_unchanged(source, regions, text)
    assert "#pragma omp" not in text
