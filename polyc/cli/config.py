"""`polyc.toml`: options for all files of a folder, for single files, and for single kernels.

    [defaults]                      options as on the command line, without their dashes
    machine = "host"
    [files."conv.c"]                for one file, by its path from the folder of polyc.toml
    param = { N = 1024 }
    [kernels."convolve"]            for all regions of a function
    fuse = "min"
    [kernels."convolve:18"]         for one nest, by the label that `polyc explain` prints
    tile-sizes = [32, 64]

The command line beats a kernel, a kernel beats a file, a file beats the defaults.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from polyc.errors import Diagnostic, Span, UserError
from polyc.records import dataclass, field

NAME = "polyc.toml"
CODE = "bad-config"
LONGEST_BYTES = 1_000_000
TABLES = ("defaults", "files", "kernels")
OF_REGIONS = ("tile-sizes", "sizes", "time-tile", "threads", "stores", "strips", "max-recompute", "no-inline",
              "reassociate", "fuse", "budget")  # fmt: skip
"""Options that a function may have for itself."""
OF_NESTS = ("tile-sizes", "sizes", "fuse", "parallel")
"""What a single nest may have: `fuse` and `parallel` are false, or left out."""
_KEY = r"""(?:[A-Za-z0-9_-]+|"(?:[^"\\]|\\.)*"|'[^']*')"""
_DOTTED = rf"{_KEY}(?:\s*\.\s*{_KEY})*"
_HEADER = re.compile(rf"[ \t]*\[\s*({_DOTTED})\s*\]")
_SETTING = re.compile(rf"[ \t]*({_DOTTED})\s*=")
_FUNCTION = re.compile(r"[A-Za-z_]\w*(?::[1-9]\d*)?")

Keys = tuple[str, ...]


@dataclass(slots=True)
class Kernel:
    """What is asked for a function, or for a nest of it."""

    function: str
    line: int | None
    values: dict[str, Any]
    """By option, as the command line would give it; for a nest also `parallel`, and `fuse` as a truth value."""
    span: Span


@dataclass(slots=True)
class Config:
    """What a polyc.toml says for one file."""

    path: str
    kernels: list[Kernel] = field(default_factory=list)


def find(source: str) -> str | None:
    """The nearest polyc.toml from the folder of a file upwards: up to a repository's root, or the user's home."""
    folder = os.path.dirname(os.path.abspath(source))
    home = os.path.expanduser("~")
    while True:
        candidate = os.path.join(folder, NAME)
        if os.path.isfile(candidate):
            shown = os.path.relpath(candidate)
            return shown if not shown.startswith(os.path.join(os.pardir, os.pardir, os.pardir)) else candidate
        parent = os.path.dirname(folder)
        if os.path.exists(os.path.join(folder, ".git")) or folder in (home, parent):
            return None
        folder = parent


def apply(context: click.Context, values: dict[str, Any], source: str) -> None:
    """Take the options of the nearest polyc.toml into the values of a command line, which beats it.

    Raises UserError with every mistake of the file.
    """
    values["config"] = None
    path = None if values["no_config"] else find(source)
    if path is None:
        return
    reader = _Reader(path, context)
    tables = reader.tables()
    given = {name for name in values if context.get_parameter_source(name) is ParameterSource.COMMANDLINE}
    place = os.path.relpath(os.path.abspath(source), os.path.dirname(os.path.abspath(path)))
    merged: dict[str, Any] = {}
    for keys, settings in tables.items():
        if keys == ("defaults",) or (keys[0] == "files" and os.path.normpath(keys[1]) == place):
            merged |= settings
    kernels = []
    for keys, settings in tables.items():
        if keys[0] == "kernels":
            function, _, line = keys[1].partition(":")
            wanted = {name: value for name, value in settings.items() if name not in given}
            kernels.append(Kernel(function, int(line) if line else None, wanted, reader.span(keys)))
    values.update({name: value for name, value in merged.items() if name not in given})
    values["config"] = Config(path, kernels)


class _Reader:
    """One polyc.toml."""

    def __init__(self, path: str, context: click.Context) -> None:
        self.path = path
        self.context = context
        self.problems: list[Diagnostic] = []
        self.text = self.read()
        self.places = dict(places(self.text))
        options = [p for p in context.command.params if isinstance(p, click.Option)]
        from polyc.cli import options as o

        shared = {p.name for p in click.Command("", params=parameters_of(o.TRANSFORM, o.INPUT)).params} | {"cc"}
        self.options = {_spelled(p): p for p in options if p.name in shared and p.name != "no_config"}

    def read(self) -> str:
        try:
            data = Path(self.path).read_bytes()
            if len(data) > LONGEST_BYTES:
                raise OSError(0, "it is too long")
            return data.decode("utf-8")
        except UnicodeDecodeError:
            raise UserError.of(CODE, "this is not text in UTF-8", Span(self.path, 1)) from None
        except OSError as problem:
            raise UserError.of(CODE, f"'{self.path}' cannot be read: {problem.strerror}") from None

    def span(self, keys: Keys) -> Span:
        """Where a table or a key stands; the nearest table around it where that is not found."""
        while keys and keys not in self.places:
            keys = keys[:-1]
        line, column = self.places.get(keys, (1, 1))
        return Span(self.path, line, column)

    def wrong(self, keys: Keys, message: str, hint: str) -> None:
        self.problems.append(Diagnostic(CODE, message, self.span(keys), hint))

    def tables(self) -> dict[Keys, dict[str, Any]]:
        """The tables, their values as click gives them, by the names of the parameters. Raises UserError."""
        import tomllib

        try:
            values = tomllib.loads(self.text)
        except tomllib.TOMLDecodeError as problem:
            place = re.search(r" \(at line (\d+), column (\d+)\)$", str(problem))
            line, column = (int(place[1]), int(place[2])) if place else (len(self.text.splitlines()) or 1, 1)
            said = re.sub(r" \(at [^()]*\)$", "", str(problem))
            hint = "a line is: key = value, and text stands in quotes"
            raise UserError.of(CODE, f"this is not TOML: {said}", Span(self.path, line, column), hint) from None
        except (RecursionError, ValueError) as problem:
            raise UserError.of(CODE, f"this is not TOML: {problem}", Span(self.path, 1)) from None
        found: dict[Keys, dict[str, Any]] = {}
        for name, value in values.items():
            if name not in TABLES:
                self.wrong((name,), f"unknown key '{name}'", f"the tables are {', '.join(f'[{t}]' for t in TABLES)}")
            elif not isinstance(value, dict):
                self.wrong((name,), f"'{name}' has to be a table", f"write: [{name}]")
            elif name == "defaults":
                found[name,] = self.settings((name,), value, tuple(self.options))
            else:
                for label, settings in value.items():
                    found[name, label] = self.labelled((name, label), settings)
        if self.problems:
            raise UserError(sorted(self.problems, key=lambda p: (p.span.line, p.span.column) if p.span else (0, 0)))
        return found

    def labelled(self, keys: Keys, settings: Any) -> dict[str, Any]:
        """The table of a file or a kernel."""
        kind, label = keys
        if not isinstance(settings, dict):
            self.wrong(keys, f"'{label}' has to be a table", f'write: [{kind}."{label}"]')
            return {}
        if kind == "files":
            return self.settings(keys, settings, tuple(self.options))
        if not _FUNCTION.fullmatch(label):
            hint = "write a function's name, or a label that 'polyc explain' prints, such as \"blur:12\""
            self.wrong(keys, f"'{label}' is no label of a kernel", hint)
            return {}
        if ":" not in label:
            return self.settings(keys, settings, OF_REGIONS)
        found = self.settings(keys, {k: v for k, v in settings.items() if k not in ("fuse", "parallel")}, OF_NESTS)
        for name in ("fuse", "parallel"):
            if name in settings and not isinstance(settings[name], bool):
                self.wrong((*keys, name), f"'{name}' of a nest has to be true or false", f"write: {name} = false")
            elif name in settings:
                found[name] = settings[name]
        return found

    def settings(self, keys: Keys, values: dict[str, Any], known: tuple[str, ...]) -> dict[str, Any]:
        """A table of options."""
        found: dict[str, Any] = {}
        for name, value in values.items():
            option = self.options.get(name) if name in known else None
            if option is None:
                close = get_close_matches(name, known, 1)
                hint = f"did you mean '{close[0]}'?" if close else f"the keys here are {', '.join(known)}"
                self.wrong((*keys, name), f"unknown key '{name}'", hint)
                continue
            try:
                found[str(option.name)] = self.converted(option, value)
            except click.BadParameter as problem:
                self.wrong(
                    (*keys, name),
                    f"'{name}': {problem.message}",
                    f"the values are those of {option.opts[0]} on the command line",
                )
            except ValueError as problem:
                self.wrong(
                    (*keys, name),
                    f"'{name}' {problem}",
                    f"the values are those of {option.opts[0]} on the command line",
                )
        return found

    def converted(self, option: click.Option, value: Any) -> Any:
        """A value as the command line would give it. Raises click.BadParameter and ValueError."""
        if option.is_flag:
            if not isinstance(value, bool):
                raise ValueError("has to be true or false")
            return value
        words = list(_words(value, option.multiple))
        if option.name == "include_dirs":
            words = [os.path.join(os.path.dirname(self.path), word) for word in words]
        if option.name == "machine" and words and ("/" in words[0] or words[0].endswith(".toml")):
            words = [os.path.join(os.path.dirname(self.path), words[0])]
        return option.type_cast_value(self.context, words if option.multiple else words[0])


def _words(value: Any, several: bool) -> Iterator[str]:
    """The words of the command line for a value: `[32, 64]` is `32,64`, `{ tiles = 32 }` is `tiles=32`.

    Raises ValueError.
    """
    if isinstance(value, dict) and several:
        for name, inside in value.items():
            yield f"{name}={next(_words(inside, False))}"
    elif isinstance(value, list) and several and all(isinstance(one, str) for one in value):
        yield from value
    elif isinstance(value, list) and value and all(isinstance(one, int | str) for one in value):
        yield ",".join(map(str, value))
    elif isinstance(value, int | float | str) and not isinstance(value, bool):
        yield str(value)
    else:
        raise ValueError("has to be a text, a number, or a list of them")


def parameters_of(*groups: tuple[Any, ...]) -> list[click.Parameter]:
    """The parameters that some decorators add."""

    def nothing() -> None: ...

    for group in groups:
        for option in group:
            nothing = option(nothing)
    return list(getattr(nothing, "__click_params__", []))


def _spelled(option: click.Option) -> str:
    """How an option is called without its dashes: the longest way to say it."""
    return max(option.opts, key=len).lstrip("-")


def places(text: str) -> Iterator[tuple[Keys, tuple[int, int]]]:
    """Where each table and each key of a TOML text starts, 1-based; the first place of each counts."""
    table: Keys = ()
    seen: set[Keys] = set()
    for number, line in enumerate(text.splitlines(), 1):
        header = _HEADER.match(line)
        setting = None if header is not None else _SETTING.match(line)
        match = header or setting
        if match is None:
            continue
        keys = _split(match.group(1))
        if header is not None:
            table = keys
        full = keys if header is not None else (*table, *keys)
        column = match.start(1) + 1 - (1 if header is not None else 0)
        for count in range(1, len(full) + 1):
            if full[:count] not in seen:
                seen.add(full[:count])
                yield full[:count], (number, column)


def _split(dotted: str) -> Keys:
    """`files."a.c"` as its keys."""
    return tuple(_plain(key) for key in re.findall(_KEY, dotted))


def _plain(key: str) -> str:
    if key.startswith("'"):
        return key[1:-1]
    return re.sub(r"\\(.)", r"\1", key[1:-1]) if key.startswith('"') else key
