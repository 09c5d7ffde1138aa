"""The user's file as text, or the reason why it is none."""

from __future__ import annotations

import bisect
import contextlib
import os
import re
import stat
from difflib import get_close_matches

from polyc.errors import Span, UserError
from polyc.model.scop import Expansion
from polyc.records import dataclass, field

COMMENT_OR_STRING = re.compile(
    r"""//(?:[^\\\n]|\\.|\\\n)*|/\*.*?(?:\*/|\Z)|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'""", re.DOTALL
)
TOKEN = re.compile(
    r"""[A-Za-z_$][\w$]*|\.?\d(?:[eEpP][+-]|[\w.])*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'"""
    r"""|<<=|>>=|\.\.\.|->|\+\+|--|&&|\|\||[-+*/%&|^<>=!]=|<<|>>|[^\s\w]"""
)


@dataclass(slots=True)
class UserFile:
    """A file's text, with offsets of its lines."""

    path: str
    text: str
    expansion: Expansion | None = None
    """Where its lines come from, if some stand in the place of an `#include`."""
    line_starts: list[int] = field(init=False)
    _code: str | None = None

    def __post_init__(self) -> None:
        self.line_starts = [0, *(m.end() for m in re.finditer("\n", self.text))]

    @property
    def code(self) -> str:
        """The text with its comments blanked, offset for offset."""
        if self._code is None:
            self._code = COMMENT_OR_STRING.sub(_blank_comment, self.text)
        return self._code

    def line(self, number: int) -> str:
        """The line of that 1-based number, without its newline, comments blanked."""
        start = self.line_starts[number - 1]
        end = self.line_starts[number] if number < len(self.line_starts) else len(self.text)
        return self.code[start:end].rstrip("\r\n")

    def offset(self, line: int, column: int) -> int:
        return self.line_starts[line - 1] + column - 1

    def span(self, offset: int, length: int = 1) -> Span:
        line = bisect.bisect_right(self.line_starts, offset)
        return Span(*self.place(line), offset - self.line_starts[line - 1] + 1, length)

    def place(self, line: int) -> tuple[str, int]:
        """The file and the line that people know a line by."""
        return self.expansion.place(line) if self.expansion is not None else (self.path, line)


def _blank_comment(match: re.Match[str]) -> str:
    found = match.group()
    return found if found[0] in "\"'" else re.sub(r"[^\n]", " ", found)


def load(path: str) -> UserFile:
    """Read the file. Every byte but a byte order mark comes out again: decoded as UTF-8 with surrogateescape."""
    if os.path.isdir(path):
        raise UserError.of("is-directory", f"'{path}' is a directory", hint="give the name of a C file")
    try:
        data = read_bytes(path)
    except FileNotFoundError:
        raise UserError.of("file-not-found", f"'{path}': no such file", hint=meant(path)) from None
    except (OSError, ValueError) as problem:
        raise unreadable(path, getattr(problem, "strerror", None) or str(problem)) from None
    return as_file(path, data)


def meant(path: str) -> str:
    """A hint at the file of the same folder that has nearly this name, if there is one."""
    folder, name = os.path.split(path)
    with contextlib.suppress(OSError, ValueError):
        near = get_close_matches(name, [n for n in os.listdir(folder or ".") if n.endswith((".c", ".h"))], 1, 0.7)
        return f"did you mean '{os.path.join(folder, near[0])}'?" if near else ""
    return ""


def as_file(path: str, data: bytes) -> UserFile:
    """The bytes of a file, where they are C text."""
    if b"\0" in data:
        line = data.count(b"\n", 0, data.index(b"\0")) + 1
        raise UserError.of("binary-file", "the file holds NUL bytes: it is no C text", Span(path, line))
    text = decoded(data)
    if not text.strip():
        raise UserError.of("empty-file", "the file is empty", Span(path, 1))
    return UserFile(path, text)


def decoded(data: bytes) -> str:
    """The text, without a byte order mark, which C compilers skip at the start of a file and nowhere else."""
    return data.decode("utf-8", "surrogateescape").removeprefix("\ufeff")


def read_bytes(path: str) -> bytes:
    """All of a plain file. A pipe or a device would not give the same text to the preprocessor again."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise unreadable(path, "it is no plain file")
    with open(path, "rb") as file:
        return file.read()


def unreadable(path: str, reason: str) -> UserError:
    return UserError.of("unreadable", f"'{path}' cannot be read: {reason}")


def assert_unchanged(user: UserFile) -> None:
    """The preprocessor reads the file for itself: both have to have seen the same text."""
    try:
        same = decoded(read_bytes(user.path)) == user.text
    except OSError:
        same = False
    if not same:
        hint = "run polyc again when nothing writes it any more"
        raise UserError.of("changed-file", "the file changed while it was read", Span(user.path, 1), hint)
