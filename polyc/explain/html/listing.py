"""C text as lines of HTML, with its words told apart, and the links between the source and what was printed of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TypeVar

from markupsafe import Markup, escape

from polyc.records import dataclass

_WORDS = (
    "auto break case char const continue default do double else enum extern float for goto if inline int long register "
    "restrict return short signed sizeof static struct switch typedef union unsigned void volatile while"
)
_TOKEN = re.compile(
    r"(?P<comment>/\*.*?(?:\*/|\Z)|//[^\n]*)"
    r"|(?P<text>\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*')"
    r"|(?P<macro>^[ \t]*\#[^\n]*)"
    rf"|(?P<word>\b(?:{_WORDS.replace(' ', '|')})\b)",
    re.DOTALL | re.MULTILINE,
)


_CLASSES = {"comment": "c", "text": "t", "macro": "m", "word": "w"}
"""Short ones: a page has thousands of them."""


@dataclass(frozen=True, slots=True)
class ListedLine:
    """A line of a listing."""

    number: int
    id: str
    """Unique in the page; "" where nothing leads to the line."""
    html: Markup
    to: str = ""
    """The id of the first line that it is linked with."""
    all: str = ""
    """Of a printed line that comes from several lines of the source: their numbers."""
    statements: str = ""
    """Those that begin there."""


def coloured(text: str) -> list[Markup]:
    """The lines of a C text as HTML, with a class for comments, strings, directives and keywords."""
    lines: list[list[Markup]] = [[]]
    for kind, piece in _tokens(text):
        for k, part in enumerate(piece.split("\n")):
            if k:
                lines.append([])
            if part:
                lines[-1].append(
                    Markup('<span class="{}">{}</span>').format(_CLASSES[kind], part) if kind else escape(part)
                )
    return [Markup("").join(line) for line in lines]


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    position = 0
    for match in _TOKEN.finditer(text):
        yield "", text[position : match.start()]
        yield match.lastgroup or "", match.group()
        position = match.end()
    yield "", text[position:]


def source_lines(
    text: str, first: int, region: str, links: dict[int, list[str]], statements: dict[int, str]
) -> list[ListedLine]:
    """The lines of a part of the source, of which the first one has the number `first`.

    links: the ids of the printed lines that a line became; statements: what begins at a line
    """
    return [
        ListedLine(n, f"{region}s{n}", html, (links.get(n) or [""])[0], "", statements.get(n, ""))
        for n, html in enumerate(coloured(readable(text)), first)
    ]


def printed_lines(text: str, ids: str, region: str, links: dict[int, list[int]]) -> list[ListedLine]:
    """The lines of a printed text; `links`: the lines of the source that a line runs."""
    found = []
    for n, html in enumerate(coloured(readable(text)), 1):
        back = links.get(n, [])
        every = " ".join(map(str, back)) if len(back) > 1 else ""
        found.append(ListedLine(n, f"{ids}{n}" if back else "", html, f"{region}s{back[0]}" if back else "", every))
    return found


def readable(text: str) -> str:
    """The text without characters that HTML cannot have: bytes that are no UTF-8, and control characters."""
    return "".join(
        c if c in "\n\t" or (c >= " " and not "\ud800" <= c <= "\udfff" and c != "\x7f") else "\ufffd" for c in text
    )


To = TypeVar("To")


def linked(pairs: Iterable[tuple[int, To]]) -> dict[int, list[To]]:
    """All that belongs to a line, in order, each once."""
    found: dict[int, dict[To, None]] = {}
    for number, target in pairs:
        found.setdefault(number, {})[target] = None
    return {number: list(targets) for number, targets in found.items()}


__all__ = ["ListedLine", "coloured", "linked", "printed_lines", "readable", "source_lines"]
