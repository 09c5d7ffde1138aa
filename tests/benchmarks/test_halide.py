"""benchmarks/pipelines/halide: Halide's version of each pipeline gives the values of the C nests."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from benchmarks.cpu import tools
from benchmarks.pipelines import rounds
from benchmarks.pipelines.pipelines import HERE, PIPELINES, Job

PRESENT = sorted(file.stem for file in (HERE / "halide").glob("*.c"))


def entries(name: str, folder: Path, *contestants: str) -> list[rounds.Entry]:
    found = tools.find("gcc", "", ("clang", "polly", "pluto", "ppcg", "openblas"))
    job = Job(PIPELINES, name, "arrays", "MINI", folder, found)
    return rounds.run(job, rounds.Plan((2,), 1, 60.0, 600.0, contestants), print)


@pytest.mark.slow
@pytest.mark.parametrize("name", PRESENT)
def test_values_are_those_of_the_nests(name: str, tmp_path: Path) -> None:
    pytest.importorskip("halide", reason="the package halide is not installed")
    (entry,) = entries(name, tmp_path, "halide")
    assert entry.status == "ok"
    assert set(entry.seconds) == {"kept", "fresh"}


def test_without_halide_there_is_a_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    (entry,) = entries("unsharp", tmp_path, "halide")
    assert entry.status.startswith("blank: no module halide")


def test_every_version_is_of_a_pipeline() -> None:
    assert set(PRESENT) <= set(PIPELINES.names)
    for name in PRESENT:
        assert (HERE / "halide" / f"{name}.py").is_file()
