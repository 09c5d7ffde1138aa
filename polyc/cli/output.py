"""Writing files: whole or not at all, never over the input; and Makefile dependencies as gcc writes them."""

from __future__ import annotations

import contextlib
import os
import re
import stat
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

import click

from polyc.errors import UserError

STDOUT = "-"
LINE = 76


def default_output(path: str) -> str:
    """`STEM.polyc.c` in the current folder."""
    return f"{Path(path).stem}.polyc.c"


def refuse_input(target: str, inputs: Iterable[str]) -> None:
    """Wrong usage where the output would overwrite what it is made from."""
    if target == STDOUT:
        return
    for path in inputs:
        with contextlib.suppress(OSError, ValueError):
            if os.path.samefile(target, path):
                raise click.UsageError(f"'{target}' is an input: give another name with -o")


def write(target: str, text: str) -> None:
    """Write the text, as the bytes that it was read from, to the file `target` or to standard output."""
    data = text.encode("utf-8", "surrogateescape")
    if target == STDOUT:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    try:
        replace_file(target, data)
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or str(problem)
        raise UserError.of("cannot-write", f"'{target}' cannot be written: {reason}") from None


def replace_file(target: str, data: bytes) -> None:
    """Put a file with these bytes in the place of `target`, in one step; devices and pipes are written to."""
    try:
        mode = os.stat(target).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(21, "it is a directory")
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        mode = stat.S_IFREG | (0o666 & ~mask)
    if not stat.S_ISREG(mode):
        with open(target, "wb") as file:
            file.write(data)
        return
    place = os.path.realpath(target)  # a link stays, and what it names is replaced
    handle, temporary = tempfile.mkstemp(prefix=".polyc-", dir=os.path.dirname(place))
    try:
        with open(handle, "wb") as file:
            file.write(data)
            os.fchmod(file.fileno(), stat.S_IMODE(mode))
        os.replace(temporary, place)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def dependency_file(target: str, dependencies: Iterable[str]) -> str:
    """The rule `target: dependencies`, wrapped and quoted as gcc does."""
    lines = [quoted(target) + ":"]
    for path in dict.fromkeys(dependencies):
        word = quoted(path)
        if len(lines[-1]) + len(word) + 1 > LINE and lines[-1].strip():
            lines[-1] += " \\"
            lines.append("")
        lines[-1] += " " + word
    return "\n".join(lines) + "\n"


def quoted(path: str) -> str:
    """A file name as a word of a Makefile: `a b$#` is `a\\ b$$\\#`."""
    spaces = re.sub(r"(\\*)([ \t])", lambda m: m.group(1) * 2 + "\\" + m.group(2), path)
    return spaces.replace("$", "$$").replace("#", "\\#")
