"""The regions of a file, and polyc's own pragmas."""

from __future__ import annotations

import re

from pycparser import c_ast

from polyc.errors import Diagnostic, Span
from polyc.frontend.text.chunks import Chunks
from polyc.frontend.text.places import Places, Stretch
from polyc.records import dataclass, field

_PRAGMA = re.compile(r"^#pragma[ \t]+(scop|endscop|polyc)\b([^\n]*)$", re.MULTILINE)
_CLAUSE = re.compile(r"\s*([A-Za-z][\w-]*)\s*\(([^()]*)\)")
_NAMES = re.compile(r"[\s\w,]*")
_REST = re.compile(r"(?:\s+|#[^\n]*\n)*")
KNOWN = "pure(f, g), live-out(A, B), tile(32, 64) or tile(no), fuse(no), parallel(no)"
LARGEST_TILE = 1 << 20
_ON_ITS_LINE = re.compile(r"[ \t]*#[ \t]*pragma[ \t]+(?:end)?scop\b")


@dataclass(slots=True)
class Asked:
    """What a pragma asks for the region or the nest that follows it."""

    offset: int
    """Of the pragma in the preprocessed text."""
    span: Span
    tile: tuple[int, ...] | str | None = "auto"
    fuse: bool = True
    parallel: bool = True


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
    stretch: Stretch | None = None
    """Of such a region: its place in the user's file."""
    begins: tuple[int, ...] = ()
    """Where its statements begin, the first one left out."""
    bare: bool = False
    """It is the body of a loop, or a branch, without braces around it."""
    promised: bool = False
    """Such a region is a part of one that somebody marked, and so has its promises."""
    asked: list[Asked] = field(default_factory=list)
    """What pragmas ask for the whole region."""
    asked_inside: list[Asked] = field(default_factory=list)
    """What they ask for single nests of it."""


@dataclass(slots=True)
class Pragmas:
    regions: list[Marked] = field(default_factory=list)
    pure: set[str] = field(default_factory=set)
    live_out: list[tuple[int, tuple[tuple[str, Span], ...]]] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)
    problems: list[Diagnostic] = field(default_factory=list)


def find_pragmas(text: str, places: Places) -> Pragmas:
    """Every pragma of the user's own file that survived the preprocessor."""
    found = Pragmas()
    open_at: re.Match[str] | None = None
    broken = False
    for match in _PRAGMA.finditer(text):
        name, line = places.pre.place(match.start())
        if name != places.user.path:
            continue
        word, span = match.group(1), pragma_span(match, places)
        if word == "polyc":
            _polyc_pragma(found, match, span)
        elif not _ON_ITS_LINE.match(places.user.line(line)):
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
    line = places.pre.place(match.start())[1]
    text = places.user.line(line)
    column = len(text) - len(text.lstrip()) + 1
    return Span(*places.user.place(line), column, max(1, len(text.strip())))


def _polyc_pragma(found: Pragmas, match: re.Match[str], span: Span) -> None:
    """One or several clauses: `tile(32, 64) parallel(no)`."""
    text = match.group(2).rstrip()
    asked = Asked(match.start(), span)
    position = 0
    while position < len(text) or position == 0:
        clause = _CLAUSE.match(text, position)
        wrong = f"unknown '#pragma polyc{text}'" if clause is None else _clause(found, match, asked, clause)
        if clause is None or wrong:
            hint = f"known are {KNOWN}"
            found.problems.append(Diagnostic("bad-pragma", wrong, span, hint))
            return
        position = clause.end()
    if (asked.tile, asked.fuse, asked.parallel) != ("auto", True, True):
        found.asked.append(asked)


def _clause(found: Pragmas, match: re.Match[str], asked: Asked, clause: re.Match[str]) -> str:
    """Take up one clause; answers what is wrong with it."""
    word, value = clause.group(1), clause.group(2).strip()
    if word in ("pure", "live-out"):
        if not _NAMES.fullmatch(value):
            return f"'{word}({value})' takes names"
        names = tuple(name.strip() for name in value.split(",") if name.strip())
        if word == "pure":
            found.pure |= set(names)
        else:
            found.live_out.append((match.start(), tuple((name, asked.span) for name in names)))
        return ""
    if word in ("fuse", "parallel"):
        if value != "no":
            return f"'{word}({value})': '{word}(no)' is all that can be asked"
        asked.fuse, asked.parallel = asked.fuse and word != "fuse", asked.parallel and word != "parallel"
        return ""
    if word != "tile":
        return f"unknown clause '{word}'"
    sizes = value.split(",")
    if value != "no" and not all(re.fullmatch(r"\s*[1-9]\d{0,8}\s*", size) for size in sizes):
        return f"'tile({value})' takes sizes such as 'tile(32, 64)', or 'no'"
    asked.tile = None if value == "no" else tuple(int(size) for size in sizes)
    if asked.tile is not None and max(asked.tile) > LARGEST_TILE:
        return f"'tile({value})': a tile size has to be from 1 to {LARGEST_TILE}"
    return ""


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
    rest: list[Asked] = []
    for asked in found.asked:
        around = next((region for region in placed if region.start < asked.offset < region.end), None)
        after = next((region for region in placed if asked.offset < region.start), None)
        if around is not None:
            around.asked_inside.append(asked)
        elif after is not None and _function_at(chunks, asked.offset) == after.chunk:
            after.asked.append(asked)
        else:
            rest.append(asked)
    found.asked = rest


def _function_at(chunks: Chunks, offset: int) -> int | None:
    """The function in whose body a pragma stands."""
    index = chunks.at(offset)
    if index is None or not chunks.items[index].is_function:
        return None
    return index if "{" in chunks.text[chunks.items[index].start : offset] else None


def tell_unplaced(found: Pragmas, chunks: Chunks, searched: bool) -> None:
    """Errors for pragmas before no region; with `--detect` loops of functions without one may have them."""
    marked = {region.chunk for region in found.regions}
    for asked in found.asked:
        index = _function_at(chunks, asked.offset)
        if index is None or index in marked or not searched:
            hint = "put it before '#pragma scop', or in a region before one of its loops"
            found.problems.append(Diagnostic("bad-pragma", "no region follows it in its function", asked.span, hint))


def following(text: str, offset: int) -> int:
    """Where the statement after a pragma starts."""
    match = _REST.match(text, text.find("\n", offset) + 1)
    assert match is not None
    return match.end()
