"""Several files in one command."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from click.testing import Result

Polyc = Callable[..., Result]
SCALE = """void {name}(int n, double a[n])
{{
#pragma scop
    for (int i = 0; i < n; i++)
        a[i] = {value};
#pragma endscop
}}
"""


@pytest.fixture
def files(polyc: Polyc, tmp_path: Path) -> list[str]:
    """Two good files with one that is refused between them."""
    (tmp_path / "one.c").write_text(SCALE.format(name="one", value="2 * a[i]"))
    (tmp_path / "two.c").write_text(SCALE.format(name="two", value="k"))
    (tmp_path / "three.c").write_text(SCALE.format(name="three", value="a[i] + 1"))
    return ["one.c", "two.c", "three.c"]


def test_one_that_is_refused_leaves_the_others(polyc: Polyc, tmp_path: Path, files: list[str]) -> None:
    result = polyc("compile", *files)
    assert result.exit_code == 1
    lines = result.stderr.splitlines()
    assert lines[:2] == [
        "[1/3] compiling one.c",
        "polyc: one.c: 1 nest in 1 region: 0 tiled, 0 fused, 1 parallel; verified; 1 not tiled (line 5: no-reuse)",
    ]
    assert lines[2:4] == [
        "[2/3] compiling two.c",
        "two.c:5:16: error: 'k' is not declared [undeclared]",
    ]
    assert lines[-1] == "polyc: 1 of 3 files failed: two.c"
    assert sorted(p.name for p in tmp_path.glob("*.polyc.c")) == ["one.polyc.c", "three.polyc.c"]


def test_each_is_compiled_as_if_alone(polyc: Polyc, tmp_path: Path, files: list[str]) -> None:
    words = ["--target=c", "-D", "UNUSED=1", "-U", "N", "-I", ".", "--assume", "n >= 2", "--no-inline", "-MD", "-q"]
    (tmp_path / "out").mkdir()
    result = polyc("compile", *words, files[0], files[2], "-o", "out", "-j", 1)
    assert (result.exit_code, result.output) == (0, "")
    together = {path.name: path.read_text() for path in (tmp_path / "out").iterdir()}
    assert sorted(together) == ["one.polyc.c", "one.polyc.d", "three.polyc.c", "three.polyc.d"]
    for name in (files[0], files[2]):
        assert polyc("compile", *words, name, "-o", "out").exit_code == 0
    assert together == {path.name: path.read_text() for path in (tmp_path / "out").iterdir()}


def test_the_options_of_a_config_are_those_of_each_file(polyc: Polyc, tmp_path: Path, files: list[str]) -> None:
    (tmp_path / "polyc.toml").write_text('[files."one.c"]\ntarget = "c"\n')
    assert polyc("compile", files[0], files[2], "-q").exit_code == 0
    assert "omp parallel" not in (tmp_path / "one.polyc.c").read_text()
    assert "omp parallel" in (tmp_path / "three.polyc.c").read_text()


def test_the_diagnostics_are_one_document(polyc: Polyc, files: list[str]) -> None:
    told = polyc("compile", *files, "--diagnostics-format", "json")
    assert told.exit_code == 1
    found = json.loads(told.stderr)
    assert [one["option"] for one in found if one["kind"] == "error"] == ["undeclared"]
    assert {one["locations"][0]["caret"]["file"] for one in found} == set(files)
    told = polyc("compile", *files, "--diagnostics-format", "sarif")
    (run,) = json.loads(told.stderr)["runs"]
    assert run["invocations"] == [{"executionSuccessful": False}]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert len(rules) == len(set(rules))
    assert [rules[one["ruleIndex"]] for one in run["results"]] == [one["ruleId"] for one in run["results"]]


def test_reports_follow_each_other(polyc: Polyc, tmp_path: Path, files: list[str]) -> None:
    result = polyc("explain", files[0], files[2])
    assert result.exit_code == 0
    assert result.stderr == ""
    assert [line for line in result.stdout.splitlines() if ": region in" in line] == [
        "one.c:3: region in one(): 1 nest, verified",
        "three.c:3: region in three(): 1 nest, verified",
    ]
    assert "\n\nthree.c:3:" in result.stdout
    scops = json.loads(polyc("explain", files[0], files[2], "--format", "json").stdout)["scops"]
    assert [(scop["file"], scop["nests"][0]["label"]) for scop in scops] == [("one.c", "one:4"), ("three.c", "three:4")]
    assert polyc("explain", files[0], files[2], "--format", "svg", "-o", tmp_path).exit_code == 0
    assert (tmp_path / "one.svg").exists()
    assert (tmp_path / "three.svg").exists()


def test_trees_of_several(polyc: Polyc, files: list[str]) -> None:
    result = polyc("compile", files[0], files[2], "--emit", "tree", "-q")
    assert result.exit_code == 0
    assert result.stdout.count("domain [n]") == 2


@pytest.mark.slow
def test_verify(polyc: Polyc, files: list[str]) -> None:
    result = polyc("verify", *files)
    assert result.exit_code == 1
    assert result.stdout.count("static check passed") == 2
    assert "polyc: one.c: original and result agree\n" in result.stderr
    assert result.stderr.endswith("polyc: 1 of 3 files failed: two.c\n")


def test_wrong_usage_is_told_once(polyc: Polyc, tmp_path: Path, files: list[str]) -> None:
    result = polyc("compile", *files, "--machine", "nonsense")
    assert result.exit_code == 2
    assert result.stderr.count("there is no machine 'nonsense'") == 1
    assert not list(tmp_path.glob("*.polyc.c"))


def test_an_output_is_no_input(polyc: Polyc, tmp_path: Path, files: list[str]) -> None:
    shutil.copy(tmp_path / "one.c", tmp_path / "one.polyc.c")
    result = polyc("compile", "one.c", "one.polyc.c")
    assert result.exit_code == 2
    assert "'one.polyc.c' is an input" in result.stderr


@pytest.mark.parametrize("form", ["text", "json", "sarif"])
def test_one_that_crashes_leaves_a_word(
    polyc: Polyc, tmp_path: Path, files: list[str], form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """isl is C: it may end the process that runs it."""
    crash = tmp_path / "crash"
    crash.write_text(f'#!/bin/sh\ncase "$*" in *three.c) kill -SEGV $$;; esac\nexec {sys.executable} "$@"\n')
    crash.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(crash))
    result = polyc("compile", *files, "--diagnostics-format", form)
    assert result.exit_code == 1
    assert "polyc was ended by signal 11" in result.stderr
    assert "internal-error" in result.stderr
    assert (tmp_path / "one.polyc.c").exists()


def running(group: int) -> bool:
    """Whether a process of the group runs: one that has ended may wait for long until the system takes it away."""
    for found in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has ended since
            state, _, of = found.read_text().rpartition(")")[2].split()[:3]
            if int(of) == group and state != "Z":
                return True
    return False


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_nothing_runs_on_after_the_end(polyc: Polyc, tmp_path: Path, files: list[str], number: signal.Signals) -> None:
    slow = tmp_path / "slow"
    slow.write_text("#!/bin/sh\ntouch started\nexec sleep 60\n")
    slow.chmod(0o755)
    words = [sys.executable, "-m", "polyc", "compile", *files, "--cc", "./slow"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    with subprocess.Popen(words, env=environment, start_new_session=True, stderr=subprocess.PIPE) as process:
        for _ in range(400):
            if (tmp_path / "started").exists():
                break
            time.sleep(0.05)
        process.send_signal(number)
        assert process.wait(timeout=20) == 128 + number
        for _ in range(100):
            if not running(process.pid):
                break
            time.sleep(0.1)
        else:
            os.killpg(process.pid, signal.SIGKILL)
            pytest.fail("something still runs")
    assert not list(tmp_path.glob("*.polyc.c"))
