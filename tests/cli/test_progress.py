"""What long work shows of itself."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from polyc.cli.progress import Progress

Polyc = Callable[..., Result]


def steps(quiet: bool = False, lines: bool = True, total: int = 2) -> None:
    with Progress("measuring", total, quiet, lines) as progress:
        for name in "ab"[:total]:
            with progress.step(name):
                pass


def test_lines_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    steps()
    assert capsys.readouterr().err == "[1/2] measuring a\n[2/2] measuring b\n"


@pytest.mark.parametrize("wish", [{"quiet": True}, {"lines": False}, {"total": 1}])
def test_nothing_where_nobody_wants_it(wish: dict[str, bool], capsys: pytest.CaptureFixture[str]) -> None:
    steps(**wish)
    assert capsys.readouterr() == ("", "")


def test_a_bar_at_a_terminal() -> None:
    code = "import sys; sys.path.insert(0, 'tests/cli'); from test_progress import steps; steps()"
    master, slave = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "80"}
    subprocess.run(
        [sys.executable, "-c", code], stderr=slave, check=True, env=environment, cwd=Path(__file__).parents[2]
    )
    os.close(slave)
    shown = os.read(master, 1 << 16).decode()
    os.close(master)
    assert "measuring" in shown
    assert "2/2" in shown
    assert "[1/2]" not in shown


@pytest.mark.slow
def test_verify_can_be_quiet(polyc: Polyc, inputs: Path) -> None:
    result = polyc("verify", inputs / "conv.c", "-q")
    assert result.exit_code == 0
    assert result.stderr == ""
    assert "equal" in result.stdout
