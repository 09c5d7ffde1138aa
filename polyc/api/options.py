"""Options as keywords: each is turned into the words of a command line, and read by the command's own parser."""

from __future__ import annotations

import os
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from numbers import Integral, Real
from typing import Literal, TypeAlias, TypedDict

import click

from polyc.cli import options as o
from polyc.errors import UserError

ONE_AT_A_TIME = threading.RLock()
"""isl's context may be used by one thread at a time: whoever compiles, or shows what was compiled, holds this."""

Sizes: TypeAlias = str | int | Sequence[int]
File: TypeAlias = str | os.PathLike[str]


class CompileOptions(TypedDict, total=False):
    """The options of `polyc compile`, `explain` and `verify` (docs/cli.md), by their long names with underscores.

    None is the default of each. What the command line repeats is a list here, or one value; what it takes as
    `NAME=VALUE` may be a mapping. An option takes the words of the command line as well.
    """

    include_dirs: File | Sequence[File]
    """`-I`"""
    defines: Mapping[str, object] | str | Sequence[str]
    """`-D`; True or None as a value defines the name alone: `{"N": 100, "FAST": True}`."""
    undefines: str | Sequence[str]
    """`-U`"""
    param: Mapping[str, int] | str | Sequence[str]
    assume: str | Sequence[str]
    live_out: str | Sequence[str]
    """An empty list is no array; None: found out."""
    allow_no_scop: bool
    detect: bool
    no_alias: bool
    openmp: Literal["keep", "replace"]
    no_config: bool
    cc: str
    target: Literal["openmp", "c", "cuda", "opencl"]
    fuse: Literal["basteln", "min", "smart", "max"]
    tile_sizes: Sizes
    """`(32, 8)`, `"auto"`, `"none"`"""
    sizes: Mapping[str, Sizes] | str | Sequence[str]
    """`{"register-tiles": (128, 1152, 256)}`"""
    time_tile: str | tuple[str, Sizes]
    """`("skewed", (16, 32))`, `"skewed:16,32"`, `"auto"`, `"none"`"""
    threads: Literal["auto", "always"]
    stores: Literal["auto", "nontemporal", "plain"]
    strips: int | Literal["auto", "none"]
    max_recompute: float
    machine: File
    grid: Sizes
    block: Sizes
    no_inline: bool
    no_verify: bool
    allow_tf32: bool
    reassociate: bool
    budget: int


class ShowOptions(TypedDict, total=False):
    """What `polyc explain` has for what is shown. `pass_` is `--pass`, which is a word of Python."""

    format: str
    what: str
    """With `svg` and `dot`: `tree`, `graph` or `all`."""
    pass_: str
    """Show the tree after this pass."""
    all_passes: bool
    """Show all that is known, with the tree after every pass."""
    why: int
    """Answer for the nest at this line."""


COMPILING, SHOWING = frozenset(CompileOptions.__annotations__), frozenset(ShowOptions.__annotations__)


class ExplainOptions(CompileOptions, ShowOptions, total=False):
    """The options of `polyc explain`."""


@click.command("compile")
@o.options(o.TRANSFORM, o.INPUT, (o.compiler_option("cc"),))
def shared() -> None:
    """The options that `compile`, `explain` and `verify` share."""


def keyword(option: click.Option) -> str:
    """The name of an option as a keyword: its long spelling, or the name of what it sets."""
    long = [spelling for spelling in option.opts if spelling.startswith("--")]
    return long[0].removeprefix("--").replace("-", "_") if long else str(option.name)


def parsed(
    function: str, command: click.Command, options: Mapping[str, object], allowed: Collection[str]
) -> click.Context:
    """What the parser of a command makes of the keywords: `params` has their values and the defaults.

    Raises TypeError for a name that is not allowed and for a type that it does not know, UserError for a value that it
    does not take.
    """
    known = {keyword(one): one for one in command.params if isinstance(one, click.Option)}
    words: list[str] = []
    for name, value in options.items():
        if name not in allowed:
            near = get_close_matches(name, allowed, 1)
            hint = f"; did you mean '{near[0]}'?" if near else ""
            raise TypeError(f"{function}() got an unexpected keyword argument '{name}'{hint}")
        if value is not None:
            words += given(known[name.removesuffix("_")], name, value)
    with told():
        only = click.Command(command.name, params=[one for one in command.params if isinstance(one, click.Option)])
        return only.make_context(function, words)


@contextmanager
def told() -> Iterator[None]:
    """Wrong usage inside is a UserError with the code `usage`, and the words of the command line."""
    try:
        yield
    except click.UsageError as problem:
        raise UserError.of("usage", problem.format_message()) from None


def given(option: click.Option, name: str, value: object) -> list[str]:
    """An option's words for a value other than None. Raises TypeError."""
    spelling = option.opts[0]
    if option.is_flag:
        if not isinstance(value, bool):
            raise TypeError(f"{name} is True or False, not {value!r}")
        return [spelling] if value else []
    if not option.multiple:
        return [spelling, word(name, value)]
    if isinstance(value, Mapping):
        items = [bound(name, key, item) for key, item in value.items()]
    elif isinstance(value, (str, os.PathLike)):
        items = [word(name, value)]
    elif isinstance(value, Sequence):
        items = [word(name, item) for item in value]
        if not items and name == "live_out":
            items = [""]
    else:
        raise TypeError(f"{name} takes no {type(value).__name__}: {value!r}")
    return [one for item in items for one in (spelling, item)]


def bound(name: str, key: object, value: object) -> str:
    """`NAME=VALUE`, or the name alone for a macro without a value."""
    if not isinstance(key, str):
        raise TypeError(f"{name} has names as keys, not {key!r}")
    if name == "defines" and (value is None or value is True):
        return key
    return f"{key}={word(f'{name}[{key!r}]', value)}"


def word(name: str, value: object) -> str:
    """A value as the command line has it. Raises TypeError."""
    match value:
        case str():
            return value
        case os.PathLike():
            return str(os.fspath(value))
        case bool():
            pass
        case Integral():
            return str(int(value))
        case Real():
            return repr(float(value))
        case (str() as kind, sizes):
            return f"{kind}:{word(name, sizes)}"
        case Sequence() if all(isinstance(one, Integral) and not isinstance(one, bool) for one in value):
            return ",".join(map(str, value))
        case _:
            pass
    raise TypeError(f"{name} takes no {type(value).__name__}: {value!r}")
