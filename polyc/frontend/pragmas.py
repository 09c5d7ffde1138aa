"""The regions of a file, and polyc's own pragmas."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from pycparser import c_ast

from polyc.errors import Diagnostic, Span
from polyc.frontend.chunks import Chunks
from polyc.frontend.places import Places

_PRAGMA = re.compile(r"^#pragma[ \t]+(scop|endscop|polyc)\b([^\n]*)$", re.MULTILINE)
_POLYC = re.compile(r"^\s*(pure|live-out)\s*\(([\s\w,]*)\)\s*$")
_ON_ITS_LINE = re.compile(r"[ \t]*#[ \t]*pragma[ \t]+(?:end)?scop\b")


@dataclass(slots=True)
class Marked:
    """A region as its pragmas give it: offsets of the preprocessed text."""

    start: int
    """Of `#pragma scop`."""
    body: int
    """Just after that line."""
    end: int
    """Of `#pragma endscop`."""
    chunk: int = -1
    live_out: tuple[tuple[str, Span], ...] | None = None
    nodes: tuple[c_ast.Pragma, c_ast.Pragma] | None = None
    """Of a region that nobody marked: what stands for its pragmas in pycparser's tree. `start` is `body` then."""
    lines: tuple[int, int] = (0, 0)
    """Of such a region: its first and last line."""


@dataclass(slots=True)
class Pragmas:
    regions: list[Marked] = field(default_factory=list)
    pure: set[str] = field(default_factory=set)
    live_out: list[tuple[int, tuple[tuple[str, Span], ...]]] = field(default_factory=list)
    problems: list[Diagnostic] = field(default_factory=list)


def find_pragmas(text: str, places: Places) -> Pragmas:
    """Every pragma of the user's own file that survived the preprocessor."""
    found = Pragmas()
    open_at: re.Match[str] | None = None
    broken = False
    for match in _PRAGMA.finditer(text):
        name, _ = places.pre.place(match.start())
        if name != places.user.path:
            continue
        word, span = match.group(1), pragma_span(match, places)
        if word == "polyc":
            _polyc_pragma(found, match, span)
        elif not _ON_ITS_LINE.match(places.user.line(span.line)):
            message = f"'#pragma {word}' has to stand on a line of its own, not in a macro or _Pragma"
            found.problems.append(Diagnostic("pragma-from-macro", message, span))
            broken = word == "scop"
        elif word == "scop":
            if open_at is not None:
                message = "'#pragma scop' inside a region: close the one before with '#pragma endscop'"
                found.problems.append(Diagnostic("nested-pragma", message, span))
            else:
                open_at = match
        elif broken:
            broken = False
        elif open_at is None:
            found.problems.append(Diagnostic("unmatched-pragma", "'#pragma endscop' without '#pragma scop'", span))
        else:
            found.regions.append(Marked(open_at.start(), open_at.end() + 1, match.start()))
            open_at = None
    if open_at is not None:
        span = pragma_span(open_at, places)
        message = "'#pragma scop' without '#pragma endscop'"
        found.problems.append(Diagnostic("unmatched-pragma", message, span))
    return found


def pragma_span(match: re.Match[str], places: Places) -> Span:
    """The pragma's line in the user's file, from its `#` on."""
    name, line = places.pre.place(match.start())
    text = places.user.line(line)
    column = len(text) - len(text.lstrip()) + 1
    return Span(name, line, column, max(1, len(text.strip())))


def _polyc_pragma(found: Pragmas, match: re.Match[str], span: Span) -> None:
    parts = _POLYC.match(match.group(2))
    if parts is None:
        hint = "known are '#pragma polyc pure(f, g)' and '#pragma polyc live-out(A, B)'"
        found.problems.append(Diagnostic("bad-pragma", "unknown '#pragma polyc'", span, hint))
        return
    names = tuple(name.strip() for name in parts.group(2).split(",") if name.strip())
    if parts.group(1) == "pure":
        found.pure |= set(names)
    else:
        found.live_out.append((match.start(), tuple((name, span) for name in names)))


def place_regions(found: Pragmas, chunks: Chunks, places: Places) -> None:
    """Find the function of each region, and which live-out pragma counts for it."""
    placed: list[Marked] = []
    for region in found.regions:
        index = chunks.at(region.start)
        match = _PRAGMA.match(chunks.text, region.start)
        inside = index is not None and chunks.items[index].is_function and region.end < chunks.items[index].end
        if (
            index is None
            or match is None
            or not inside
            or "{" not in chunks.text[chunks.items[index].start : region.start]
        ):
            span = pragma_span(match, places) if match else None
            found.problems.append(
                Diagnostic("pragma-outside-function", "a region has to stand inside a function", span)
            )
            continue
        region.chunk = index
        placed.append(region)
    functions = sorted({region.chunk for region in placed})
    for offset, names in found.live_out:
        owner = next((f for f in functions if offset < chunks.items[f].end), None)
        for region in placed:
            if region.chunk == owner and offset < region.end:
                region.live_out = names
    found.regions = placed
