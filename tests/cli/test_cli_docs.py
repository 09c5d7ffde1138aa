"""docs/cli.md names every option; doctor."""

from __future__ import annotations

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
