"""benchmarks/ordinary, small: polyc takes each program and keeps its output; the driver compares and times."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks.ordinary import cli
from benchmarks.ordinary.cli import HERE, NAMES, main
from polyc.model.program import InputOptions, Options
from tests.differential.toolbox import ROUNDING, WARNINGS, assert_rest_unchanged, compiled_file, run

HARNESS = str(HERE / "harness")
GIVEN_UP = {"budget", "isl-failed", "pass-failed", "verification-failed"}


def built(text: Path, folder: Path) -> Path:
    program = folder / text.name.replace(".", "-")
    flags = (*WARNINGS, "-std=gnu11", "-Wno-unknown-pragmas", "-O2", ROUNDING, "-fopenmp", "-DSMALL", f"-I{HARNESS}")
    run("gcc", *flags, text, "-lm", "-o", program)
    return program


@pytest.mark.parametrize("name", NAMES)
def test_ordinary(name: str, tmp_path: Path) -> None:
    file = HERE / f"{name}.c"
    inputs = InputOptions(include_dirs=(HARNESS,), defines=("SMALL",))
    source, regions, text = compiled_file(file, inputs, Options(threads="always"))
    assert_rest_unchanged(source, regions, text)
    assert all(region.verified for region in regions)
    made = tmp_path / f"{name}.polyc.c"
    made.write_text(text)
    assert run(built(made, tmp_path)) == run(built(file, tmp_path))
    assert cli.LEFT not in text
    assert not {remark.code for region in regions for remark in region.program.remarks} & GIVEN_UP


def test_there_are_eighteen() -> None:
    assert len(NAMES) == 18


@pytest.mark.slow
def test_the_driver_compares_and_times(tmp_path: Path) -> None:
    words = ["blur", "--small", "--rounds", "2", "--threads", "1,2", "--out", str(tmp_path)]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 0, done.output
    assert "geometric mean" in done.output
    (row,) = json.loads((tmp_path / cli.RESULTS).read_text())["programs"]
    assert not row["told"]
    assert {column: len(times) for column, times in row["wall_ms"].items()} == {
        "plain@1": 2,
        "polyc@1": 2,
        "polyc@2": 2,
    }
    assert row["cpu_ms"].keys() == row["wall_ms"].keys()


@pytest.mark.slow
def test_wrong_output_is_told_and_not_timed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = tmp_path / "wrong.c"
    wrong.write_text((HERE / "blur.c").read_text().replace("sum * 31", "sum * 37"))
    argv = ("cp", str(wrong))
    monkeypatch.setattr(cli, "translated", lambda _, plan, folder: cli.Step("polyc", (*argv, str(cli.text_of(folder)))))
    done = CliRunner().invoke(main, ["blur", "--small", "--rounds", "1", "--threads", "1", "--out", str(tmp_path)])
    assert done.exit_code == 1
    assert "wrong output: blur" in done.output
    (row,) = json.loads((tmp_path / cli.RESULTS).read_text())["programs"]
    assert row["wall_ms"] == {}
