"""Read a machine's description: by its name where polyc ships one, from a TOML file otherwise."""

from __future__ import annotations

import re
from dataclasses import Field, fields
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from polyc.errors import Diagnostic, Span, UserError
from polyc.machine.gpu import Gpu

FOLDER = Path(__file__).parent / "gpus"
GENERIC = "generic"
CODE = "bad-machine"
Machine: TypeAlias = Gpu
"""One dataclass a kind."""
KINDS: dict[str, type[Machine]] = {"gpu": Gpu}
MAY_BE_ZERO = {"shared_bytes_reserved_per_block", "tensor_half_gflops", "tensor_tf32_gflops"}
LONGEST_BYTES = 100_000
"""Of a description that is read; a shipped one has 2000."""
LARGEST = 10**15
"""A larger number is a slip of the pen, or leads to numbers that are infinite."""


def shipped() -> list[str]:
    """The names of the machines that polyc knows, sorted."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def load(name_or_file: str) -> Machine:
    """The machine with this name, or that a file describes: what has a slash or ends in `.toml` is a file.

    Raises UserError with every problem of the file, in its order.
    """
    if not is_file(name_or_file):
        path = FOLDER / f"{name_or_file}.toml"
        if name_or_file not in shipped():
            known = ", ".join(shipped())
            raise UserError.of(
                CODE, f"there is no machine '{name_or_file}'", None, f"there are {known}; a file's name ends in .toml"
            )
        return _shipped(path)
    return read(_text_of(name_or_file), name_or_file)


@cache
def _shipped(path: Path) -> Machine:
    return read(path.read_text(encoding="utf-8"), str(path))


def _text_of(file: str) -> str:
    """The text of a file that a user names. Raises UserError."""
    try:
        if not Path(file).is_file() and Path(file).exists():
            raise OSError(0, "this is no regular file")
        with open(file, "rb") as opened:
            found = opened.read(LONGEST_BYTES + 1)
        if len(found) > LONGEST_BYTES:
            raise OSError(0, "this is too long for a machine")
        return found.decode("utf-8")
    except UnicodeDecodeError:
        raise _wrong(file, 1, "this is not text in UTF-8", "a machine is described in TOML") from None
    except (OSError, ValueError) as problem:
        reason = problem.strerror if isinstance(problem, OSError) else str(problem)
        hint = f"name a TOML file, or one of {', '.join(shipped())}"
        raise UserError.of(CODE, f"cannot read '{file}': {reason}", None, hint) from None


def is_file(name: str) -> bool:
    """Whether the user means a file: a name that polyc ships has no dot and no slash."""
    return name.endswith(".toml") or "/" in name or "\\" in name


def read(text: str, file: str) -> Machine:
    """The machine that a TOML text describes; `file` is where it stands. Raises UserError."""
    import tomllib

    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise _not_toml(text, file, str(problem)) from None
    except (RecursionError, ValueError) as problem:  # brackets in brackets, numbers with thousands of digits
        raise _not_toml(
            text, file, "it is nested too deeply" if isinstance(problem, RecursionError) else str(problem)
        ) from None
    kind = values.pop("kind", None)
    if not isinstance(kind, str) or kind not in KINDS:
        known = " or ".join(f'"{name}"' for name in KINDS)
        said = "'kind' is missing" if kind is None else f"'kind' is {kind!r}, which polyc does not know"
        raise _wrong(file, _line_of(text, "kind"), said, f"write: kind = {known}")
    wanted = {field.name: field for field in fields(KINDS[kind])}
    problems = list(_problems(values, wanted, text, file))
    if problems:
        raise UserError(sorted(problems, key=lambda p: (p.span.line if p.span else 0, p.message)))
    made: dict[str, Any] = {
        name: float(value) if wanted[name].type == "float" else value for name, value in values.items()
    }
    machine = KINDS[kind](**made)
    contradiction = _contradiction(machine)
    if contradiction is not None:
        key, said = contradiction
        raise _wrong(file, _line_of(text, key), said, "compare with the files that polyc ships")
    return machine


def _problems(values: dict[str, Any], wanted: dict[str, Field[Any]], text: str, file: str) -> list[Diagnostic]:
    found: list[Diagnostic] = []
    for name, value in values.items():
        line = _line_of(text, name)
        if name not in wanted:
            found.append(_diagnostic(file, line, f"unknown key '{name}'", _nearest(name, list(wanted))))
        elif (problem := _type_problem(wanted[name], value)) is not None:
            found.append(_diagnostic(file, line, f"'{name}' {problem[0]}", problem[1]))
    for name, field in wanted.items():
        if name not in values:
            example = '"…"' if field.type == "str" else "…"
            found.append(_diagnostic(file, 1, f"the key '{name}' is missing", f"write: {name} = {example}"))
    return found


def _type_problem(field: Field[Any], value: Any) -> tuple[str, str] | None:
    """What is wrong with a value, and what to do."""
    if field.type == "str":
        return None if isinstance(value, str) else ("has to be a text", f'write: {field.name} = "{value}"')
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or (field.type == "int" and not isinstance(value, int)):
        kind = "a whole number" if field.type == "int" else "a number"
        return f"has to be {kind}, and is {value!r}", "numbers stand without quotes"
    least = 0 if field.name in MAY_BE_ZERO else 1
    if not (value >= least if least == 0 else value > 0):  # also what is no number
        return f"has to be {'positive' if least else 'at least 0'}, and is {value}", "look at the data sheet"
    if value > LARGEST:
        return f"is too large: {value}", "the unit stands in the key's name"
    return None


def _contradiction(machine: Machine) -> tuple[str, str] | None:
    """A key whose value does not fit to another one, and what is wrong."""
    m = machine
    pairs = (
        ("threads_per_block", "threads_per_multiprocessor"),
        ("warp_size", "threads_per_block"),
        ("shared_bytes_per_block", "shared_bytes_per_block_optin"),
        ("shared_bytes_per_block_optin", "shared_bytes_per_multiprocessor"),
        ("registers_per_thread", "registers_per_multiprocessor"),
    )
    for small, large in pairs:
        if getattr(m, small) > getattr(m, large):
            return small, f"'{small}' is larger than '{large}'"
    if m.threads_per_block % m.warp_size:
        return "threads_per_block", "'threads_per_block' is no multiple of 'warp_size'"
    return None


def _nearest(name: str, known: list[str]) -> str:
    from difflib import get_close_matches

    close = get_close_matches(name, known, 1)
    return f"did you mean '{close[0]}'?" if close else f"the keys are kind, {', '.join(known)}"


def _not_toml(text: str, file: str, message: str) -> UserError:
    """tomllib says the place in words: `… (at line 3, column 7)`, or `(at end of document)`."""
    place = re.search(r" \(at line (\d+), column (\d+)\)$", message)
    line, column = (int(place.group(1)), int(place.group(2))) if place else (len(text.splitlines()) or 1, 1)
    said = re.sub(r" \(at [^()]*\)$", "", message)
    return _wrong(file, line, f"this is not TOML: {said}", "a line is: key = value, and text stands in quotes", column)


def _line_of(text: str, key: str) -> int:
    """The line on which a key stands, 1 where it does not."""
    for number, line in enumerate(text.splitlines(), 1):
        if re.match(rf"\s*\[*\s*[\"']?{re.escape(key)}\b", line):
            return number
    return 1


def _diagnostic(file: str, line: int, message: str, hint: str, column: int = 1) -> Diagnostic:
    return Diagnostic(CODE, message, Span(file, line, column), hint)


def _wrong(file: str, line: int, message: str, hint: str, column: int = 1) -> UserError:
    return UserError([_diagnostic(file, line, message, hint, column)])
