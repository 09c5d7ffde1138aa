"""The entry point: `polyc COMMAND …`. A command's module is imported when the command is asked for."""

from __future__ import annotations

import gc
import importlib
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from polyc import __version__

COMMANDS = ("compile", "explain", "verify", "profile", "cc", "report", "machine", "doctor", "completion", "man")


AGAIN_SECONDS = 2
"""From being told to end until this process ends whatever it is doing: time for what it takes away."""


class Commands(click.Group):
    """The commands, each found in `polyc.cli.commands.NAME` under the name `command`."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:  # while a command is looked up, or reads its options; click would say "Aborted!"
            raise click.exceptions.Exit(130) from None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from difflib import get_close_matches

            near = get_close_matches(args[0], COMMANDS, 1)
            meant = f" Did you mean '{near[0]}'?" if near else ""
            if not near and os.path.isfile(args[0]):
                meant = f" Did you mean 'polyc compile {args[0]}'?"
            ctx.fail(f"No such command '{args[0]}'.{meant}")
        return super().resolve_command(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        found = importlib.import_module(f"polyc.cli.commands.{name}").command
        assert isinstance(found, click.Command)
        return found


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="polyc", message="%(prog)s %(version)s")
def cli() -> None:
    """A polyhedral compiler for C: the loop nests of a file come back tiled, fused and parallel.

    Regions stand between '#pragma scop' and '#pragma endscop'; the rest of the file stays as it is. Every
    output is checked before it is printed.

    \b
    polyc compile blur.c -o blur.polyc.c     write the transformed file
    polyc explain blur.c                     what was done, what was not, and why
    polyc verify blur.c                      run the original against the result
    polyc profile blur.c --target cuda       what the kernels ask of a GPU's memory
    make CC="polyc cc"                       build a project with polyc before its C compiler
    polyc machine list                       the machines that code can be made for
    polyc machine detect                     measure this machine
    polyc doctor                             what polyc finds on this machine
    polyc completion bash                    what a shell needs to complete these words
    polyc man                                the manual page, in roff

    Exit codes: 0 done, 1 the input cannot be compiled or verified, 2 wrong usage.
    """


def main() -> None:
    """Run the command line of this process, and end it. Ctrl-C and being told to end leave nothing half done."""
    signal.signal(signal.SIGTERM, ended)
    # A compile is short, and makes few cycles: looking for them is 7 % of its time, and 4 % when the process ends.
    gc.set_threshold(500_000, 20, 20)
    try:
        cli(prog_name="polyc")
    except KeyboardInterrupt:
        sys.exit(130)
    finally:
        end_children()
        gc.freeze()


def end_children() -> None:
    """Kill what this process has started and not waited for: a signal can come before a child is known by its object.

    Where the system lists no children they run to their ends.
    """
    for listed in Path("/proc/self/task").glob("*/children"):
        with suppress(OSError):
            for child in map(int, listed.read_text().split()):
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)


def ended(_: int, __: object) -> None:
    """End as after an exception: temporary files go, children are ended.

    The exception is lost where the signal came in the middle of a callback: it is raised again until it is not.
    """
    signal.signal(signal.SIGALRM, ended)
    signal.setitimer(signal.ITIMER_REAL, AGAIN_SECONDS)
    sys.exit(128 + signal.SIGTERM)
