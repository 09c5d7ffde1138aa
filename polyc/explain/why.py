"""`polyc explain FILE --why LINE`: what became of one nest, what did not and why, and what to do about it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from polyc.errors import visible
from polyc.explain.codes import Code, refusal
from polyc.explain.loops import Loop, Written, nest_at, written
from polyc.explain.nests import Nest, Reasons, nests
from polyc.explain.records import Record, records
from polyc.explain.report import WIDTH, part_text, ranges, refused
from polyc.explain.values import figures
from polyc.model.program import Compiled
from polyc.model.witness import Witness

REFUSALS = ("not-", "no-", "sequential-", "small-region", "budget", "schedule-budget", "isl-failed", "verification-")


def why(compiled: list[Compiled], line: int, source: list[str], width: int = WIDTH) -> str | None:
    """The answer for the nest at a line of the file; None where no nest is there.

    source: the lines of the file
    """
    for one in compiled:
        place = nest_at(one, line)
        if place is not None:
            return "\n".join(_answer(one, place, source, width)) + "\n"
    return None


def nest_lines(compiled: list[Compiled]) -> str:
    """`the nests are at lines 5-9, 12-14`."""
    every = [place.lines.partition(" ")[2] for one in compiled for place in written(one) if place.loops]
    return f"the nests are at lines {', '.join(every)}" if every else "the file has no nest in a region"


def _answer(compiled: Compiled, place: Written, source: list[str], width: int) -> Iterator[str]:
    scop = compiled.initial.scop
    yield f"{scop.span.file}:{place.first_line}: the nest at {place.lines} in {scop.function}()"
    yield from (f"{number:>5} | {text}" for number, text in _shown(source, place))
    found = next((n for n in nests(compiled) if set(n.statements) & set(place.statements)), None)
    told = [one for one in records(compiled) if _is_about(one, place)]
    yield ""
    yield "  What was done"
    done = [one for one in told if not one.code.startswith(REFUSALS)]
    if found is not None:
        for text, names in _fates(found, compiled).items():
            yield from _wrapped(f"{ranges(names)}: {'runs as it was written' if text == 'as it was' else text}.", width)
    elif not done:
        yield from _wrapped("Nothing of it is left: nobody needs its values.", width)
    yield from _grouped(done, width)
    missing = list(_missing(compiled, found, place, told, width))
    refusals = [one for one in told if one.code.startswith(REFUSALS)]
    if missing or refusals:
        yield ""
        yield "  What was not done, and why"
        yield from missing
        yield from _grouped(refusals, width)
    yield ""
    yield "  Its loops"
    for loop in place.loops:
        yield from _wrapped(_loop_text(loop), width)


def _shown(source: list[str], place: Written) -> Iterator[tuple[int, str]]:
    """The nest's lines, of a long one the first and the last."""
    lines = range(place.first_line, min(place.last_line, len(source)) + 1)
    for number in lines if len(lines) <= 12 else [*lines[:8], *lines[-3:]]:
        yield number, visible(source[number - 1].expandtabs(4).rstrip())


def _fates(found: Nest, compiled: Compiled) -> dict[str, list[str]]:
    fates: dict[str, list[str]] = {}
    for part in found.parts:
        fates.setdefault(part_text(part, compiled.program), []).extend(part.statements)
    return fates


def _is_about(record: Record, place: Written) -> bool:
    """Whether a decision is about statements of the nest, or about all of its region."""
    own = set(place.statements)
    about = set(record.about.statements) or own
    return bool(about & own) or (record.other is not None and bool(set(record.other.statements) & own))


def _missing(compiled: Compiled, found: Nest | None, place: Written, told: list[Record], width: int) -> Iterator[str]:
    """The reasons of the report that no pass told."""
    codes = {one.code for one in told} | {one.reason for one in told}
    for what, reason in refused(found, Reasons(compiled.program)) if found is not None else ():
        if reason.code not in codes:
            message = reason.message if f"not {what}" in reason.message else f"not {what}: {reason.message}"
            yield from _wrapped(f"{_sentence(message)} [{reason.code}]", width)
            witness = _shown_by(reason.code, place)
            yield from _since(witness, width)
            if witness is not None or not reason.code.startswith("no-"):
                yield from _advice(refusal(what, reason.code), width)


def _shown_by(code: str, place: Written) -> Witness | None:
    """What shows a reason of the report: a dependence that keeps two loops in their order, or that the nest carries."""
    if code == "no-band":
        return next((found for loop in place.loops if loop.depth and (found := loop.turned())), None)
    if code in ("carried-dependence", "vector-only"):
        return place.loops[0].carries() or place.loops[0].private()
    return None


def _grouped(told: list[Record], width: int) -> Iterator[str]:
    """Decisions in sentences, those with one code together, and what to do about them."""
    groups: dict[tuple[str, str], list[Record]] = {}
    for one in told:
        groups.setdefault((one.code, one.reason), []).append(one)
    for (code, reason), members in groups.items():
        for one in members:
            what = f"{code}, {reason}" if reason else code
            yield from _wrapped(f"{_sentence(one.remark.message)} [{what}]", width)
            yield from _since(one.witness, width)
            if numbers := figures(one.remark, but=("reason", "into", "array")):
                yield from _wrapped(f"Numbers: {numbers}.", width, "      ", "      ")
        yield from _advice(members[0].entry, width)


def _since(witness: Witness | None, width: int) -> list[str]:
    return [] if witness is None else _wrapped(f"Since {witness.text}.", width, "      ", "      ")


def _advice(entry: Code | None, width: int) -> list[str]:
    """What to do, where there is something."""
    if entry is None or entry.advice.startswith("Nothing:"):
        return []
    return _wrapped(f"To do: {entry.advice}", width, "      ", "      ")


def _loop_text(loop: Loop) -> str:
    """`loop i (line 7) carries a dependence: S0[i=0] writes s, and S0[i=1] reads it (n = 2).`"""
    name = f"loop {loop.name}" + (f" (line {loop.line})" if loop.line else "")
    shared = loop.carries()
    if shared is not None:
        return f"{name} carries a dependence: {shared.text}."
    private = loop.private()
    if private is not None:
        again = private.element
        return f"{name} carries none but for {again}, of which each thread can have a copy: {private.text}."
    return f"{name} carries no dependence: its iterations may run in any order."


def _sentence(message: str) -> str:
    return message[:1].upper() + message[1:]


def _wrapped(text: str, width: int, first: str = "    ", later: str = "      ") -> list[str]:
    fold = textwrap.TextWrapper(
        max(width, 40),
        initial_indent=first,
        subsequent_indent=later,
        break_long_words=False,
        break_on_hyphens=False,
    )
    together = text.replace(" = ", "\xa0=\xa0")
    return [line.replace("\xa0", " ") for line in fold.wrap(together)]
