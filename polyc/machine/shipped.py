"""The machines that polyc ships, by their names, and the ones that files describe."""

from __future__ import annotations

import os
from functools import cache, lru_cache
from pathlib import Path

from polyc.errors import UserError
from polyc.machine.description import CODE, Machine, diagnostic, read

FOLDERS = {kind: Path(__file__).parent / f"{kind}s" for kind in ("gpu", "cpu")}
GENERIC = "generic"
"""The machine of either kind that stands for no particular one. Of CPUs it is GENERIC_CPU, by its own name."""
GENERIC_CPU = "x86-64-v3"
HOST = "host"
"""The machine that polyc runs on: a CPU."""
DEFAULTS = {"gpu": GENERIC, "cpu": GENERIC}
"""What the command line takes for a target of either kind without `--machine`. For CPUs `HOST` would do as well: then
the same input gives another text on another machine."""
LONGEST_BYTES = 100_000
"""Of a description that is read; a shipped one has 2000."""


def shipped(kind: str | None = None) -> list[str]:
    """The names of the machines that polyc knows, of one kind (`gpu`, `cpu`) or of both, sorted."""
    return sorted(path.stem for folder in _folders(kind) for path in folder.glob("*.toml"))


def _folders(kind: str | None) -> list[Path]:
    return list(FOLDERS.values()) if kind is None else [FOLDERS[kind]]


def unknown(name: str, kind: str | None) -> tuple[str, None, str]:
    """What is said of a name that polyc does not know: message, no place, hint."""
    return f"there is no machine '{name}'", None, f"there are {', '.join(known(kind))}; a file's name ends in .toml"


def known(kind: str | None) -> list[str]:
    """All names that `load` takes for a machine of this kind, sorted."""
    return sorted({*shipped(kind), GENERIC, *(() if kind == "gpu" else (HOST,))})


def spelled(name: str) -> str:
    """A machine's name as polyc has it: `H200` is `h200`."""
    return name.lower() if not is_file(name) and name.lower() in known(None) else name


def is_file(name: str) -> bool:
    """Whether the user means a file: a name that polyc ships has no dot and no slash."""
    return name.endswith(".toml") or "/" in name or "\\" in name


@cache
def names_in(folder: Path) -> frozenset[str]:
    return frozenset(path.stem for path in folder.glob("*.toml"))


def from_file(file: str) -> Machine:
    """What a file describes. It is read once, and again when it changes."""
    try:
        of = os.stat(file)
    except (OSError, ValueError):  # the text says what is wrong
        return read(described_by(file), file)
    return _read_once(file, os.path.abspath(file), (of.st_ino, of.st_size, of.st_mtime_ns, of.st_ctime_ns))


@lru_cache(maxsize=64)
def _read_once(file: str, path: str, version: tuple[int, ...]) -> Machine:
    """`path` and `version` are what the answer depends on, besides the name that problems are told with."""
    return read(described_by(file), file)


def described_by(file: str) -> str:
    """The text of a file. Raises UserError."""
    try:
        if not Path(file).is_file() and Path(file).exists():
            raise OSError(0, "this is no regular file")
        with open(file, "rb") as opened:
            found = opened.read(LONGEST_BYTES + 1)
        if len(found) > LONGEST_BYTES:
            raise OSError(0, "this is too long for a machine")
        return found.decode("utf-8")
    except UnicodeDecodeError:
        raise UserError([diagnostic(file, 1, "this is not text in UTF-8", "a machine is described in TOML")]) from None
    except (OSError, ValueError) as problem:
        reason = problem.strerror if isinstance(problem, OSError) else str(problem)
        hint = f"name a TOML file, or one of {', '.join(known(None))}"
        raise UserError.of(CODE, f"cannot read '{file}': {reason}", None, hint) from None


def named(name: str) -> Machine:
    """The shipped machine with this name. Raises UserError."""
    for folder in FOLDERS.values():
        if name in names_in(folder):
            return from_file(str(folder / f"{name}.toml"))
    raise UserError.of(CODE, *unknown(name, None))
