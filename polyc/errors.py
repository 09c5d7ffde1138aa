"""What can go wrong, as values: located diagnostics for the user, and one exception that carries them."""

from __future__ import annotations

from enum import Enum

from polyc.records import dataclass

LONGEST_LINE = 120
"""Characters of a source line that a diagnostic shows."""


@dataclass(frozen=True, slots=True)
class Span:
    """A place in the user's source: 1-based line and column, and how many characters to underline."""

    file: str
    line: int
    column: int = 1
    length: int = 1


class Severity(Enum):
    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One message in gcc's form. `code` is stable and is listed in docs/language.md; `hint` says what to do."""

    code: str
    message: str
    span: Span | None = None
    hint: str = ""
    severity: Severity = Severity.ERROR
    related: tuple[tuple[Span, str], ...] = ()
    """Other places that belong to it, and what is there."""

    def render(self, source_line: str | None = None) -> str:
        """The text for a terminal; with the source line, a caret line points at the place.

        t.c:3:5: error: array index 'i*i' is not affine in the loop variables [non-affine-index]
            3 |     A[i*i] = B[i] + 1;
              |       ^~~
        """
        text = f"{self.severity.value}: {self.message} [{self.code}]"
        if self.span is None:
            head = f"polyc: {text}"
        else:
            head = f"{self.span.file}:{self.span.line}:{self.span.column}: {text}"
        lines = [head]
        if self.span is not None and source_line is not None:
            shown, column = window(visible(source_line.rstrip("\r\n")), self.span.column)
            length = max(1, min(self.span.length, len(shown) - column + 1))
            gutter = f"{self.span.line:>5} | "
            lines.append(gutter + shown)
            underline = "^" + "~" * (length - 1)
            lines.append(" " * 5 + " | " + " " * (column - 1) + underline)
        if self.hint:
            lines.append(f"    hint: {self.hint}")
        return "\n".join(lines)


def visible(line: str) -> str:
    """The line with a blank for each tab and control character: a terminal would obey them."""
    return "".join(character if character.isprintable() else " " for character in line)


def window(line: str, column: int) -> tuple[str, int]:
    """The part of a long line around a 1-based column, with the column in that part."""
    if len(line) <= LONGEST_LINE:
        return line, column
    start = max(0, min(column - 1 - LONGEST_LINE // 2, len(line) - LONGEST_LINE))
    end = start + LONGEST_LINE
    before, after = ("..." if start > 0 else ""), ("..." if end < len(line) else "")
    return before + line[start + len(before) : end - len(after)] + after, column - start


class UserError(Exception):
    """The input cannot be compiled. Carries every problem that was found, in source order."""

    def __init__(self, diagnostics: list[Diagnostic]) -> None:
        super().__init__("; ".join(d.message for d in diagnostics))
        self.diagnostics = diagnostics

    def __str__(self) -> str:
        """Every problem with its place, for a traceback; the command line shows the source lines as well."""
        return "\n".join(d.render() for d in self.diagnostics)

    @staticmethod
    def of(code: str, message: str, span: Span | None = None, hint: str = "") -> UserError:
        return UserError([Diagnostic(code, message, span, hint)])


class InternalError(Exception):
    """polyc itself is wrong. Never raised for bad input; the command line turns it into a report file."""
