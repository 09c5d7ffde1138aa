"""docs/cli.md names every option; the example project builds and rebuilds; doctor."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from click.testing import Result

from polyc.cli.main import COMMANDS, cli

Polyc = Callable[..., Result]

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_documented(name: str) -> None:
    text = (DOCS / "cli.md").read_text()
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    inner = list(command.commands.values()) if isinstance(command, click.Group) else []
    for parameter in [parameter for one in (command, *inner) for parameter in one.params]:
        if isinstance(parameter, click.Option):
            for spelling in parameter.opts:
                assert f"`{spelling}" in text, f"{spelling} of polyc {name} is missing in docs/cli.md"
            if isinstance(parameter.type, click.Choice):
                for choice in parameter.type.choices:
                    assert choice in text


def test_the_example_rebuilds_what_changed(tmp_path: Path) -> None:
    folder = tmp_path / "example"
    shutil.copytree(DOCS / "example", folder, ignore=shutil.ignore_patterns("build"))

    def make(*words: str) -> str:
        command = ["make", f"POLYC={sys.executable} -m polyc", *words]
        environment = {**os.environ, "PYTHONPATH": str(DOCS.parent)}
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=environment)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def touch(name: str) -> None:
        newest = max(path.stat().st_mtime_ns for path in (folder / "build").iterdir())
        os.utime(folder / name, ns=(newest + 10**7, newest + 10**7))

    assert "cmp build/plain.txt build/polyc.txt" in make("check")
    assert "polyc compile" not in make()
    touch("main.c")
    assert "polyc compile" not in make()
    touch("blur.h")
    assert "polyc compile blur.c" in make("check")


def test_doctor(polyc: Polyc) -> None:
    result = polyc("doctor")
    assert result.exit_code == 0
    for name in ("polyc", "python", "islpy", "isl", "pycparser", "gcc", "OpenMP", "nvcc", "OpenCL"):
        assert f"\n  {name} " in f"\n{result.output}"


def test_doctor_tells_what_is_missing(polyc: Polyc, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    result = polyc("doctor")
    assert result.exit_code == 1
    assert "C compiler  MISSING" in result.output
    assert "apt install build-essential" in result.output
