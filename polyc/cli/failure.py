"""What a command does when something goes wrong: diagnostics for bad input, a report for its own faults."""

from __future__ import annotations

import contextlib
import errno
import os
import platform
import sys
import tempfile
import traceback
from importlib import metadata
from typing import Any

import click

from polyc import __version__
from polyc.cli.diagnostics import tell, tell_errors
from polyc.errors import Diagnostic, InternalError, Span, UserError

INPUT_LIMIT_BYTES = 1_000_000


class Command(click.Command):
    """A command that lets no exception reach the user: a message and exit code 1, or 130 after Ctrl-C."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, spelled_out(args))

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return self.carry_out(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except UserError as problem:
            tell_errors(problem, ctx.params.get("diagnostics_format", "text"))
        except KeyboardInterrupt:
            raise click.exceptions.Exit(130) from None
        except Exception as problem:
            if isinstance(problem, OSError) and problem.errno == errno.EPIPE:
                raise
            own_failure(problem, ctx.params.get("file"), ctx.params.get("diagnostics_format", "text"))
        raise click.exceptions.Exit(1)

    def carry_out(self, ctx: click.Context) -> Any:
        """Run the command, with the options of a polyc.toml near its file."""
        if "no_config" in ctx.params and "file" in ctx.params:
            from polyc.cli import config

            config.apply(ctx, ctx.params, ctx.params["file"])
        return super().invoke(ctx)


def spelled_out(args: list[str]) -> list[str]:
    """`--remarks` without a value gets its default; `-MFfile` is split, as gcc does."""
    answer: list[str] = []
    options = True
    for position, word in enumerate(args):
        options = options and word != "--"
        following = args[position + 1] if position + 1 < len(args) else ""
        if options and word == "--remarks" and following not in ("text", "json"):
            answer.append("--remarks=text")
        elif options and word.startswith("-MF") and len(word) > 3:
            answer += ["-MF", word[3:]]
        else:
            answer.append(word)
    return answer


def own_failure(problem: Exception, path: str | None, form: str = "text") -> None:
    """Say that polyc is to blame, and leave a report with all that is needed to find out why."""
    kind = "" if isinstance(problem, InternalError) else f"{type(problem).__name__}: "
    first = (str(problem).splitlines() or ["no message"])[0]
    details = "".join(traceback.format_exception(problem))
    if form != "text":
        with contextlib.suppress(OSError):
            details = f"a report with the details is in {write_report(details, path)}"
        message = f"internal error: {kind}{first}; this is polyc's fault, and nothing was written"
        tell([Diagnostic("internal-error", message, Span(path, 1) if path else None, details)], form)
        return
    click.echo(f"polyc: internal error: {kind}{first}", err=True)
    click.echo("This is polyc's fault, not your file's. Nothing was written.", err=True)
    try:
        click.echo(f"A report with the details is in {write_report(details, path)}", err=True)
    except OSError as full:
        click.echo(f"{details}No report could be written: {full.strerror}", err=True)


def write_report(details: str, path: str | None) -> str:
    """Write `polyc-report-XXXX.txt` in the folder for temporary files; answers where."""
    parts = [
        f"polyc {__version__}, Python {platform.python_version()}, {platform.platform()}",
        "  ".join(f"{name} {version_of(name)}" for name in ("islpy", "pycparser", "numpy", "click", "jinja2")),
        "command: " + " ".join(map(repr, sys.argv)),
        f"folder: {os.getcwd()}",
        "",
        details,
    ]
    if path is not None:
        parts += [f"--- {path} ---", input_text(path)]
    handle, name = tempfile.mkstemp(prefix="polyc-report-", suffix=".txt")
    with open(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
        file.write("\n".join(parts) + "\n")
    return name


def version_of(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return "not installed"


def input_text(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return file.read(INPUT_LIMIT_BYTES).decode("utf-8", "backslashreplace")
    except (OSError, ValueError) as problem:
        return f"(cannot be read: {problem})"
