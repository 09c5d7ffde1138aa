"""docs/coming-from.md names options of polyc that exist, with values that they take."""

from __future__ import annotations

import re

import click

from polyc.cli.main import cli

from .pages import ROOT

PAGE = ROOT / "docs" / "coming-from.md"


def options() -> set[str]:
    context = click.Context(cli)
    found = set()
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        assert command is not None
        found |= {text for parameter in command.params for text in parameter.opts}
    return found


def test_every_option_of_ours_exists() -> None:
    """In tables ours stand in the second column."""
    named = set()
    for row in re.findall(r"^\| .* \| (.*) \|$", PAGE.read_text(), flags=re.MULTILINE):
        for code in re.findall(r"`([^`]*)`", row):
            named |= set(re.findall(r"--[a-z-]+", code))
    assert len(named) > 15
    assert named <= options()
