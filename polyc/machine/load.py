"""Find a machine: by its name where polyc ships one, from a TOML file otherwise."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path

from polyc.errors import UserError
from polyc.machine.cpu import Cpu
from polyc.machine.description import CODE, Machine, diagnostic, kind_line, read
from polyc.machine.gpu import Gpu

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


def load(name_or_file: str) -> Machine:
    """The machine with this name, or that a file describes: what has a slash or ends in `.toml` is a file.

    Raises UserError with every problem of the file, in its order.
    """
    if name_or_file == HOST:
        return load_host()
    if is_file(name_or_file):
        return _from_file(name_or_file)
    for folder in FOLDERS.values():
        if name_or_file in _names(folder):
            return _from_file(str(folder / f"{name_or_file}.toml"))
    raise UserError.of(CODE, *unknown(name_or_file, None))


def text_of(name_or_file: str) -> str:
    """The TOML text of a machine: of one that polyc ships, of this one, or of a file. Raises as `load`."""
    machine = load(name_or_file)
    for folder in FOLDERS.values():
        if not is_file(name_or_file) and name_or_file in _names(folder):
            return (folder / f"{name_or_file}.toml").read_text(encoding="utf-8")
    if is_file(name_or_file):
        return _text_of(name_or_file)
    from polyc.machine.host import as_toml

    assert isinstance(machine, Cpu)
    return as_toml(machine)


def unknown(name: str, kind: str | None) -> tuple[str, None, str]:
    """What is said of a name that polyc does not know: message, no place, hint."""
    return f"there is no machine '{name}'", None, f"there are {', '.join(known(kind))}; a file's name ends in .toml"


def known(kind: str | None) -> list[str]:
    """All names that `load` takes for a machine of this kind, sorted."""
    return sorted({*shipped(kind), GENERIC, *(() if kind == "gpu" else (HOST,))})


def load_host() -> Cpu:
    """This machine, as it was measured or as the system describes it. Raises UserError for a broken file."""
    from polyc.machine.host import host_file, quick_host

    file = host_file()
    if not file.exists():
        return quick_host()
    try:
        found = _from_file(str(file))
    except UserError as error:
        anew = "'polyc machine detect' writes this file anew"
        raise UserError([replace(problem, hint=anew) for problem in error.diagnostics]) from None
    if isinstance(found, Cpu):
        return found
    raise _other_kind(str(file), "GPU", "CPU", "cpu", "'polyc machine detect', which writes this file anew")


def load_gpu(name_or_file: str) -> Gpu:
    """The GPU with this name, or that a file describes. Raises UserError, also where it is a CPU."""
    found = load(name_or_file)
    if isinstance(found, Gpu):
        return found
    raise _other_kind(name_or_file, "CPU", "GPU", "gpu", "--target openmp or c")


def load_cpu(name_or_file: str) -> Cpu:
    """The CPU with this name, or that a file describes. Raises UserError, also where it is a GPU."""
    found = load(GENERIC_CPU if name_or_file == GENERIC else name_or_file)
    if isinstance(found, Cpu):
        return found
    raise _other_kind(name_or_file, "GPU", "CPU", "cpu", "--target cuda or opencl")


def _other_kind(name: str, is_one: str, wanted: str, kind: str, targets: str) -> UserError:
    message = f"'{name}' is a {is_one}, and the target runs on a {wanted}"
    hint = f"name one of {', '.join(known(kind))}, or choose {targets}"
    if is_file(name):
        return UserError([diagnostic(name, kind_line(_text_of(name)), message, hint)])
    return UserError.of(CODE, message, None, hint)


def is_file(name: str) -> bool:
    """Whether the user means a file: a name that polyc ships has no dot and no slash."""
    return name.endswith(".toml") or "/" in name or "\\" in name


@cache
def _names(folder: Path) -> frozenset[str]:
    return frozenset(path.stem for path in folder.glob("*.toml"))


def _from_file(file: str) -> Machine:
    """What a file describes. It is read once, and again when it changes."""
    try:
        of = os.stat(file)
    except (OSError, ValueError):  # the text says what is wrong
        return read(_text_of(file), file)
    return _read_once(file, os.path.abspath(file), (of.st_ino, of.st_size, of.st_mtime_ns, of.st_ctime_ns))


@lru_cache(maxsize=64)
def _read_once(file: str, path: str, version: tuple[int, ...]) -> Machine:
    """`path` and `version` are what the answer depends on, besides the name that problems are told with."""
    return read(_text_of(file), file)


def _text_of(file: str) -> str:
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
