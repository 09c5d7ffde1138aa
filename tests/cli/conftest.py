"""The command line in this process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from polyc.cli.main import cli

INPUTS = Path(__file__).parent / "inputs"
Polyc = Callable[..., Result]


@pytest.fixture
def inputs() -> Path:
    return INPUTS


@pytest.fixture
def polyc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Polyc:
    """Run a command in an empty folder. An exception that comes out of it fails the test."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.delenv("COLUMNS", raising=False)

    def run(*words: object) -> Result:
        return CliRunner().invoke(cli, [str(word) for word in words], prog_name="polyc", catch_exceptions=False)

    return run
