"""`polyc verify`: run the original against the result on the same random input."""

from __future__ import annotations

from typing import Any

import click

from polyc.cli import options as o
from polyc.cli.failure import Command


@click.command("verify", cls=Command, short_help="Run the original against the result, and compare.")
@click.argument("file")
@click.option("--sizes", metavar="N,N,...", help="x")
@o.options(o.TRANSFORM, o.INPUT, (o.compiler_option("gcc"),))
def command(file: str, **values: Any) -> None:
    """Verify FILE."""
