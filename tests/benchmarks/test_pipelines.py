"""benchmarks/pipelines, small: both forms give the same values, polyc's output of each to the last bit.

What polyc does not make of them yet stands in TODAY, so that a change is seen here.
"""

from __future__ import annotations

import json
import os
import re
from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks.pipelines.cli import main
from benchmarks.pipelines.pipelines import FORMS, HERE, NAMES, STAGES
from polyc.model.program import InputOptions, Options
from tests.differential.toolbox import ROUNDING, WARNINGS, compiled_file, run

HARNESS = HERE.parents[1] / "polybench" / "harness"
INCLUDES = (str(HARNESS), str(HERE / "harness"))

DATA = {"non-affine-index", "not-fused", "not-inlined"}
"""A table or a grid whose cell depends on data."""

TODAY: dict[tuple[str, str], tuple[int, set[str]]] = {
    ("unsharp", "arrays"): (1, set()),
    ("unsharp", "flat"): (1, {"delinearised"}),
    ("harris", "arrays"): (1, set()),
    ("harris", "flat"): (1, {"delinearised"}),
    ("bilateral", "arrays"): (3, DATA | {"not-time-tiled"}),
    ("bilateral", "flat"): (6, DATA | {"assumed", "delinearised", "not-looked-up", "not-time-tiled"}),
    ("camera", "arrays"): (4, DATA | {"not-tiled"}),
    ("camera", "flat"): (3, DATA | {"assumed", "delinearised", "not-looked-up", "not-tiled"}),
    ("multiscale", "arrays"): (5, {"not-fused", "not-inlined", "not-tiled", "turned"}),
    ("multiscale", "flat"): (9, {"assumed", "delinearised", "not-fused", "not-inlined", "not-tiled", "turned"}),
    ("laplacian", "arrays"): (
        16,
        {"non-affine-index", "not-fused", "not-inlined", "not-looked-up", "not-tiled", "turned"},
    ),
    ("laplacian", "flat"): (
        17,
        {"assumed", "delinearised", "non-affine-index", "not-fused", "not-inlined", "not-looked-up", "not-tiled"},
    ),
}
"""For each pipeline and form: the groups that its nests end up in, and the codes of what polyc could not do."""

GOOD = {
    "known-sizes",
    *(
        "cells",
        "inspected",
        "looked-up",
        "pretiling-fused",
        "fused",
        "inlined",
        "contracted",
        "outputs-joined",
        "cpu-sizes",
        "storage-shared",
    ),
    "unrolled",
}


def built(text: Path, folder: Path) -> Path:
    """The program of a text that dumps what the pipeline computes."""
    program = folder / text.name.replace(".", "-")
    flags = (*WARNINGS, "-O2", ROUNDING, "-fopenmp", "-DDUMP", "-DMINI_DATASET", *(f"-I{path}" for path in INCLUDES))
    run("gcc", *flags, text, HARNESS / "harness.c", "-lm", "-o", program)
    return program


@cache
def values(name: str, folder: Path) -> str:
    """What the plain nests compute."""
    return run(built(HERE / "arrays" / f"{name}.c", folder))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pipelines")


LONG = {"multiscale", "laplacian"}
"""Half a minute or more for both forms, most of it in polyc: tried with POLYC_ALL_MODES only."""
NAMES_HERE = [name for name in NAMES if name not in LONG or os.environ.get("POLYC_ALL_MODES")]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", NAMES_HERE)
def test_pipeline(name: str, form: str, folder: Path) -> None:
    source = HERE / form / f"{name}.c"
    inputs = InputOptions(include_dirs=INCLUDES, defines=("MINI_DATASET",))
    _, regions, text = compiled_file(source, inputs, Options(threads="always"))
    assert all(region.verified for region in regions)
    made = folder / f"{name}.{form}.polyc.c"
    made.write_text(text)
    assert run(built(made, folder)) == values(name, folder)
    (region,) = regions
    program = region.program
    codes = {told.code for told in (*program.scop.notes, *program.remarks)} - GOOD
    assert (len(program.groups), codes) == TODAY[name, form]


@pytest.mark.parametrize("name", NAMES)
def test_both_forms_are_one_pipeline(name: str, folder: Path) -> None:
    flat = HERE / "flat" / f"{name}.c"
    assert run(built(flat, folder)) == values(name, folder)
    nests = {
        form: len(re.findall(r"^    (?:for |[A-Z_]+\()", region_text(HERE / form / f"{name}.c"), re.MULTILINE))
        for form in FORMS
    }
    assert nests["arrays"] == nests["flat"] == STAGES[name]


def region_text(file: Path) -> str:
    text = file.read_text()
    return text[text.index("#pragma scop") : text.index("#pragma endscop")]


def test_every_pipeline_is_in_the_table() -> None:
    for form in FORMS:
        assert {file.stem for file in (HERE / form).glob("*.c")} == set(NAMES) == set(STAGES)


@pytest.mark.slow
def test_the_driver_compares_and_times(tmp_path: Path) -> None:
    words = ["unsharp", "--form", "arrays", "--dataset", "MINI", "--rounds", "1", "--threads", "1,2"]
    done = CliRunner().invoke(main, [*words, "--out", str(tmp_path)])
    assert done.exit_code == 0, done.output
    (pipeline,) = json.loads((tmp_path / "pipelines-MINI.json").read_text())["pipelines"]
    entries = [entry for entry in pipeline["entries"] if not entry["status"].startswith("blank")]
    assert {(entry["contestant"], entry["threads"]) for entry in entries} >= {("gcc", 1), ("polyc", 1), ("polyc", 2)}
    for entry in entries:
        assert entry["status"] == "ok"
        assert entry["bits"] or entry["contestant"].startswith("halide")
        assert set(entry["seconds"]) == {"kept", "fresh"}
