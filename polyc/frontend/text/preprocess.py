"""The C compiler's own preprocessor, and the way back from its output to the user's lines."""

from __future__ import annotations

import bisect
import os
import re
import subprocess

from polyc.errors import Diagnostic, Span, UserError
from polyc.model.program import InputOptions
from polyc.records import dataclass, field

MARKER = re.compile(r'^#(?:line)? (\d+) "((?:[^"\\]|\\.)*)"[^\n]*$', re.MULTILINE)
_DEFINE = re.compile(r"^#(?:define|undef) (\w+)([^\n]*)$", re.MULTILINE)
_ESCAPED = re.compile(rb"\\([0-7]{1,3}|[^0-7])", re.DOTALL)
_ESCAPES = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"a": b"\a", b"b": b"\b", b"f": b"\f", b"v": b"\v"}
_MESSAGE = re.compile(r"^(.*?):(\d+):(?:(\d+):)? (?:fatal )?error: (.*)$")


@dataclass(frozen=True, slots=True)
class OtherBuild:
    """The lines of the user's file that are others in a build with OpenMP, or without it where it was read with it."""

    constructs: dict[int, str] = field(default_factory=dict)
    """Directives that only that build has, each about the statement behind it."""
    code: frozenset[int] = frozenset()
    """Lines with other code in it."""

    def construct_in(self, first: int, last: int) -> str | None:
        """The first such directive in some lines."""
        return next((self.constructs[line] for line in range(first, last + 1) if line in self.constructs), None)


@dataclass(slots=True)
class Preprocessed:
    """The output of `cc -E`, with its line markers still in it."""

    path: str
    text: str
    starts: list[int] = field(default_factory=list)
    """Offsets where a run of lines of one file starts."""
    runs: list[tuple[str, int]] = field(default_factory=list)
    """File and line number of the first line of each run."""
    flags: list[list[str]] = field(default_factory=list)
    """Of each run's marker: 1 where a file begins, 2 where another one goes on, 3 in headers of the system."""
    macros: dict[str, str] = field(default_factory=dict)
    """What each stands for where the file ends; with its parameters before it if it has some."""
    system: frozenset[str] = frozenset()
    """The headers among the files that the compiler or its system brings with it."""
    dependencies: tuple[str, ...] = ()
    other: OtherBuild = field(default_factory=OtherBuild)
    """What the same file has in another build."""
    line_ends: list[int] | None = None
    """Offsets of the newlines, once somebody has asked: to count them for each place takes the square of the text."""

    def place(self, offset: int) -> tuple[str, int]:
        """File and 1-based line that the character came from."""
        run = bisect.bisect_right(self.starts, offset) - 1
        if run < 0:
            return self.path, 1
        name, line = self.runs[run]
        if self.line_ends is None:
            self.line_ends = [match.start() for match in re.finditer("\n", self.text)]
        above = bisect.bisect_left(self.line_ends, offset) - bisect.bisect_left(self.line_ends, self.starts[run])
        return name, line + above

    def own_runs(self) -> list[tuple[int, int, int]]:
        """(start, end, first line) of the runs of the user's own file."""
        ends = [*self.starts[1:], len(self.text)]
        return [
            (start, end, line)
            for start, end, (name, line) in zip(self.starts, ends, self.runs, strict=True)
            if name == self.path
        ]


STDIN = "<stdin>"
"""What compilers call the text that they read from standard input."""


PLAIN_CALLS = "-D__NO_CTYPE"
"""glibc's word for `isalpha(x)` as a call of a function, and not as a look into a table of the library's."""


def preprocess(path: str, options: InputOptions, text: str | None = None) -> Preprocessed:
    """Run `cc -E` on the file, or on a text in its place; its own errors become diagnostics."""
    given = as_word(path) if text is None else STDIN
    command = [*options.launcher, options.cc, *options.flags, "-E", "-dD", "-w", "-x", "c", PLAIN_CALLS]
    command += [f"-I{as_word(folder)}" for folder in options.include_dirs]
    command += [f"-D{name}" for name in options.defines] + [f"-U{name}" for name in options.undefines]
    environment = {**os.environ, "LC_ALL": "C"}
    try:
        if text is None:
            done = subprocess.run(
                [*command, given], capture_output=True, check=False, env=environment, stdin=subprocess.DEVNULL
            )
        else:
            data = text.encode("utf-8", "surrogateescape")
            done = subprocess.run([*command, "-"], capture_output=True, check=False, env=environment, input=data)
    except OSError as problem:
        hint = "install gcc or clang, or name another compiler"
        raise UserError.of("no-compiler", f"'{options.cc}' does not run: {problem.strerror}", hint=hint) from None
    output = done.stdout.decode("utf-8", "surrogateescape")
    if done.returncode != 0:
        raise UserError(_complaints(done.stderr.decode("utf-8", "surrogateescape"), path, given))
    return read_markers(output, path, given)


def as_word(path: str) -> str:
    """A path that compilers take for nothing else: no option, no file of options (`@x`), no place in a sysroot."""
    return f".{os.sep}{path}" if path.startswith(("-", "@", "=", "$")) else path


def unquoted(name: str) -> str:
    """The file name that a line marker means: `a\\"b\\303\\244` is `a"bä`."""

    def character(match: re.Match[bytes]) -> bytes:
        found = match.group(1)
        return bytes([int(found, 8) & 0xFF]) if found.isdigit() else _ESCAPES.get(found, found)

    if "\\" not in name:
        return name
    return _ESCAPED.sub(character, name.encode("utf-8", "surrogateescape")).decode("utf-8", "surrogateescape")


def _complaints(stderr: str, path: str, given: str) -> list[Diagnostic]:
    found: list[Diagnostic] = []
    stand_in = "<input>"  # for a name that may have colons and line ends in it
    for line in re.sub(rf"^{re.escape(given)}(?=:\d)", stand_in, stderr, flags=re.MULTILINE).splitlines():
        match = _MESSAGE.match(line)
        if match is None:
            continue
        name, row, column, message = match.groups()
        span = Span(path if name == stand_in else name, int(row), int(column or 1))
        hint = "give its folder with -I" if "No such file" in message else ""
        found.append(Diagnostic("preprocessor", message, span, hint))
    if not found:
        first = stderr.strip().splitlines()[0] if stderr.strip() else "it gave no reason"
        found.append(Diagnostic("preprocessor", f"the preprocessor failed: {first}"))
    return found


def read_markers(text: str, path: str, given: str) -> Preprocessed:
    """Index the line markers; the user's file gets the name that the user gave it."""
    macros = dict(_DEFINE.findall(text))
    text = _DEFINE.sub(lambda m: " " * len(m.group()), text)
    result = Preprocessed(path, text, macros=macros)
    seen: dict[str, None] = {} if given == STDIN else {path: None}
    system: set[str] = set()
    names: dict[str, str] = {}
    for match in MARKER.finditer(text):
        name = names.get(match.group(2))
        if name is None:
            name = unquoted(match.group(2))
            name = names.setdefault(match.group(2), path if name == given else name)
        result.starts.append(min(match.end() + 1, len(text)))
        result.runs.append((name, int(match.group(1))))
        result.flags.append(match.group()[match.end(2) - match.start() + 1 :].split())
        if match.group().endswith((" 1 3", " 1 3 4")):  # where a macro of a header stands in a file it has the 3, too
            system.add(name)
        if not name.startswith("<") and match.group(2) != STDIN:
            seen.setdefault(name)
    result.dependencies, result.system = tuple(seen), frozenset(system)
    return result
