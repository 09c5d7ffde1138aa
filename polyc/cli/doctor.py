"""`polyc doctor`: what polyc needs, and what of it is there."""

from __future__ import annotations

import click

from polyc.cli.failure import Command


@click.command("doctor", cls=Command, short_help="Show what polyc finds on this machine.")
def command() -> None:
    """Show versions."""
