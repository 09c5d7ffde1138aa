"""Writing files: whole or not at all, never over the input; and Makefile dependencies as gcc writes them."""

from __future__ import annotations

import contextlib
import errno
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


SOURCE = ".polyc.c"


def default_output(path: str) -> str:
    """`STEM.polyc.c` in the current folder."""
    return f"{Path(path).stem}{SOURCE}"


def placed(target: str | None, path: str, ending: str = SOURCE) -> str:
    """Where an output goes: to the target, and below the name of its source where that is a folder or nothing."""
    name = f"{Path(path).stem}{ending}"
    if target is None:
        return name
    return os.path.join(target, name) if target != STDOUT and os.path.isdir(target) else target


def refuse_input(target: str, inputs: Iterable[str]) -> None:
    """Wrong usage where the output would overwrite what it is made from."""
    if target == STDOUT:
        return
    for path in inputs:
        with contextlib.suppress(OSError, ValueError):
            if os.path.samefile(target, path):
                raise click.UsageError(f"'{target}' is an input: give another name with -o")


def same_file(one: str, two: str) -> bool:
    """Whether two names lead to one file, or would if it were there."""
    with contextlib.suppress(OSError, ValueError):
        return os.path.samefile(one, two)
    with contextlib.suppress(OSError, ValueError):
        return os.path.realpath(one) == os.path.realpath(two)
    return one == two


def write(target: str, text: str) -> None:
    """Write the text, as the bytes that it was read from, to the file `target` or to standard output."""
    write_all([(target, text)])


def write_all(texts: Iterable[tuple[str, str]]) -> None:
    """Write several files, or none: each is complete beside its place before the first one takes it."""
    ready: list[tuple[str, str, bytes]] = []
    target = STDOUT
    try:
        for target, text in texts:
            data = text.encode("utf-8", "surrogateescape")
            ready.append((target, "" if is_stream(target) else prepared(target, data), data))
        while ready:
            target, temporary, data = ready[0]
            if temporary:
                os.replace(temporary, os.path.realpath(target))
            else:
                write_stream(target, data)
            ready.pop(0)
    except BrokenPipeError:
        raise
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or str(problem)
        name = "standard output" if target == STDOUT else f"'{target}'"
        raise UserError.of("cannot-write", f"{name} cannot be written: {reason}") from None
    finally:
        for _, temporary, _ in ready:
            if temporary:
                with contextlib.suppress(OSError):
                    os.unlink(temporary)


def is_stream(target: str) -> bool:
    """Whether the target is standard output, or a device or pipe, which cannot be replaced."""
    if target == STDOUT:
        return True
    try:
        mode = os.stat(target).st_mode
    except FileNotFoundError:
        return False
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "it is a directory")
    return not stat.S_ISREG(mode)


def write_stream(target: str, data: bytes) -> None:
    if target != STDOUT:
        with open(target, "wb") as file:
            file.write(data)
        return
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def prepared(target: str, data: bytes) -> str:
    """A file with these bytes, on the disk, in the folder and with the mode of the one that it is to replace."""
    place = os.path.realpath(target)  # a link stays, and what it names is replaced
    try:
        mode = stat.S_IMODE(os.stat(place).st_mode)
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        mode = 0o666 & ~mask
    handle, temporary = tempfile.mkstemp(prefix=".polyc-", dir=os.path.dirname(place))
    try:
        with open(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    return temporary


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
    """A file name as a word of a Makefile: `a b$#` is `a\\ b$$\\#`. Nothing stands for a line end in it."""
    if "\n" in path:
        raise UserError.of("cannot-write", f"no rule for make can name {path!r}: it has a line end")
    spaces = re.sub(r"(\\*)([ \t])", lambda m: m.group(1) * 2 + "\\" + m.group(2), path)
    return spaces.replace("$", "$$").replace("#", "\\#")
