"""What is refused in a region as it is written, and what its calls and its pragmas mean."""

from __future__ import annotations

import re
from collections.abc import Collection

from polyc.errors import Diagnostic, UserError
from polyc.frontend.c.checks import Checker
from polyc.frontend.c.references import place_of
from polyc.frontend.c.state import Region
from polyc.frontend.idioms.pointers import TooMany, aliases
from polyc.frontend.memory.live_out import After
from polyc.frontend.region.surroundings import Surroundings
from polyc.frontend.statements.extract import ends_program
from polyc.frontend.text.chunks import MEANINGS
from polyc.frontend.text.pragmas import pragma_span
from polyc.model import ctree as c

_PRAGMA = re.compile(r"^#pragma (?!polyc\b|scop\b)[^\n]*$", re.MULTILINE)
_ASM = re.compile(r"\b(?:asm|__asm__|__asm)\b")


def check(at: Surroundings, region: Region, body: c.Block) -> None:
    """Refuse what cannot be modelled. Raises UserError where there is anything."""
    text = at.chunks.text
    for match in _ASM.finditer(text, at.marked.body, at.marked.end):
        hint = "end the region before it"
        span = at.places.span(match.start(), match.end())
        region.refuse("asm", "inline assembly cannot stand in a region", span, hint)
    for match in MEANINGS.finditer(text, at.chunks.items[at.marked.chunk].start, at.marked.end):
        hint = "declare it without, or move the region to a function of its own"
        message = f"the attribute '{match[1]}' gives a declaration another meaning, which polyc does not follow"
        region.refuse("unsupported-declaration", message, at.places.span(match.start(), match.end()), hint)
    Checker(region).statement(body)
    for item in c.walk(body) if at.chunks.of_threads else ():
        symbol = region.symbol(item.name) if isinstance(item, c.Name) else None
        if isinstance(item, c.Name) and symbol is not None and symbol.c_name in at.chunks.of_threads:
            message = f"'{symbol.c_name}' is another variable in each thread"
            hint = "copy what is needed of it to a local variable"
            region.refuse("unsupported-declaration", message, item.span, hint)
    ending = [item.then for item in c.walk(body) if isinstance(item, c.If) and ends_program(item.then)]
    check_calls(at, region, body, {id(node) for branch in ending for node in c.walk(branch)})
    check_used_after(at, region, body)
    check_aliases(at, region, body)
    if region.problems:
        raise UserError(unique(region.problems))


def check_calls(at: Surroundings, region: Region, body: c.Node, waits: Collection[int] = ()) -> None:
    """Refuse calls whose order matters in a region that nobody marked.

    waits: the calls of which it is not known yet whether they run, by identity
    """
    for call in c.walk(body) if at.marked.nodes is not None else ():
        if isinstance(call, c.Call) and not call.function.startswith("*") and id(call) not in waits:
            effect = region.effects(call.function)
            if effect.anything or effect.ordered:
                message = f"'{call.function}' is called, which may have side effects"
                region.refuse("unknown-call", message, call.span)


def note_calls(at: Surroundings, region: Region, body: c.Block) -> None:
    """What the calls of the region may read and write beside what is written in the region's own text."""
    calls = [item for item in c.walk(body) if isinstance(item, c.Call)]
    # Before a region that may print, or end the program, nothing is read that it might not read.
    effects = [region.effects(call.function) for call in calls]
    region.inspect = region.inspect and not any(effect.anything or effect.ordered for effect in effects)
    if any(region.effects(call.function).anything for call in calls):
        names = {item.name for item in c.walk(body) if isinstance(item, c.Name)}
        after = After(region, at.parsed.function, at.path, None, None)
        symbols = [s for name in names if (s := region.symbol(name)) is not None]
        symbols = [s for s in symbols if not s.shape.is_function]
        region.exposed = frozenset(s.key for s in symbols if after.is_exposed(s))
    given: set[str] = set()
    for call in calls:
        effect = region.effects(call.function)
        for position, argument in enumerate(call.arguments):
            place = place_of(region.scope, argument)
            if place is not None and effect.writes(position):
                given.add(place.symbol.key)
    region.hidden = region.exposed | given
    region.written |= region.hidden
    region.settled -= region.hidden


def check_used_after(at: Surroundings, region: Region, body: c.Block) -> None:
    """What the region declares is gone after it: its statements come back in a block of their own."""
    used = at.used_behind
    for item in body.body:
        symbol = region.symbol(item.name) if isinstance(item, c.Decl) else None
        if symbol is not None and symbol.c_name in used:
            message = f"'{symbol.c_name}' is declared in the region and used after it"
            region.refuse("unsupported-declaration", message, item.span, "declare it before '#pragma scop'")


def check_aliases(at: Surroundings, region: Region, body: c.Block) -> None:
    """Two pointers of the region that the function sets to one place, or one inside of the other's array."""
    used = {item.name for item in c.walk(body) if isinstance(item, c.Name)}
    symbols = {key: s for key in used if (s := region.symbol(key)) is not None}
    places = [(s, s.fixed) for s in symbols.values() if s.fixed is not None and not at.unasked]
    # A copy of a struct has the same pointers, and arrays of its own.
    roots = {f.root for s, f in places if f.follows or (s.rank and s.shape.dims[0].pointer)}
    symbols |= {key: region.scope.symbols[key] for key in roots}
    arrays = [s.c_name for key, s in sorted(symbols.items()) if s.rank or key in roots]
    try:
        found = aliases(at.parsed.function, arrays, at.is_mark)
    except TooMany:
        message = "polyc cannot follow which arrays the pointers of this function stand for"
        region.refuse("aliased-pointer", message, at.span_of(at.parsed.function), "assign fewer of them")
        return
    for alias in found:
        message = f"'{alias.name}' points into '{alias.other}', and the region uses both"
        span = at.span_of(alias.given)
        region.refuse("aliased-pointer", message, span, f"use '{alias.other}' alone in the region")


def note_pragmas(at: Surroundings, region: Region) -> None:
    for match in _PRAGMA.finditer(at.chunks.text, at.marked.body, at.marked.end):
        message = f"'{match.group().strip()}' inside the region is dropped"
        region.note("ignored-pragma", message, pragma_span(match, at.places))


def unique(items: list[Diagnostic]) -> list[Diagnostic]:
    """Each message once, in source order."""
    found = {(d.code, d.message, d.span): d for d in items}
    return sorted(found.values(), key=lambda d: (d.span.line, d.span.column) if d.span else (0, 0))
