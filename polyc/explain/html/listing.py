"""C text as lines of HTML, with its words told apart, and the links between the source and what was printed of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from markupsafe import Markup, escape

_WORDS = (
    "auto break case char const continue default do double else enum extern float for goto if inline int long register "
    "restrict return short signed sizeof static struct switch typedef union unsigned void volatile while"
)
_TOKEN = re.compile(
    r"(?P<comment>/\*.*?(?:\*/|\Z)|//[^\n]*)"
    r"|(?P<text>\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*')"
    r"|(?P<macro>^[ \t]*\#[^\n]*)"
    r"|(?P<number>\b\d[\w.]*)"
    rf"|(?P<word>\b(?:{_WORDS.replace(' ', '|')})\b)",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class ListedLine:
    """A line of a listing."""

    number: int
    id: str
    """Unique in the page."""
    html: Markup
    to: tuple[str, ...]
    """The ids of the lines that it is linked with."""


def coloured(text: str) -> list[Markup]:
    """The lines of a C text as HTML, with a class for comments, strings, directives, numbers and keywords."""
    lines: list[list[Markup]] = [[]]
    for kind, piece in _tokens(text):
        for k, part in enumerate(piece.split("\n")):
            if k:
                lines.append([])
            if part:
                lines[-1].append(Markup('<span class="{}">{}</span>').format(kind, part) if kind else escape(part))
    return [Markup("").join(line) for line in lines]


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    position = 0
    for match in _TOKEN.finditer(text):
        yield "", text[position : match.start()]
        yield match.lastgroup or "", match.group()
        position = match.end()
    yield "", text[position:]


def listed(text: str, first: int, ids: str, links: dict[int, list[str]]) -> list[ListedLine]:
    """The lines of a text, of which the first one has the number `first`.

    ids: what the ids of lines begin with; links: by a line's number.
    """
    found = coloured(readable(text))
    return [
        ListedLine(number, f"{ids}{number}", html, tuple(links.get(number, ())))
        for number, html in enumerate(found, first)
    ]


def readable(text: str) -> str:
    """The text without characters that HTML cannot have: bytes that are no UTF-8, and control characters."""
    return "".join(
        c if c in "\n\t" or (c >= " " and not "\ud800" <= c <= "\udfff" and c != "\x7f") else "\ufffd" for c in text
    )


def reversed_links(links: Iterable[tuple[int, str]]) -> dict[int, list[str]]:
    """All ids that belong to a line, in order."""
    found: dict[int, list[str]] = {}
    for number, target in links:
        found.setdefault(number, []).append(target)
    return found


__all__ = ["ListedLine", "coloured", "listed", "readable", "reversed_links"]
