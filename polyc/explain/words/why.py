"""`polyc explain FILE --why LINE`: what became of one nest, what did not and why, and what to do about it.

For a person who knows no isl, and one screen long: of a line inside of a nest, only what that line runs is told of.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator

from polyc.errors import visible
from polyc.explain.codes import Code, refusal
from polyc.explain.facts.loops import Loop, Written, nest_at, written
from polyc.explain.facts.nests import Nest, Reasons, nests
from polyc.explain.facts.remark_records import Record, records
from polyc.explain.facts.values import figures
from polyc.explain.words.report import WIDTH, in_order, part_text, ranges, refused
from polyc.model.program import Compiled
from polyc.model.witness import Witness
from polyc.records import dataclass, replace

REFUSALS = (
    *("not-", "no-", "sequential-", "small-region", "verification-"),
    *("budget", "schedule-budget", "isl-failed", "pass-failed"),
)
FIRST = ("not-parallel", "sequential-scatter", "small-region", "pragma-not-honoured", "not-tiled", "not-fused")
"""Refusals in the order in which people ask for them; others follow."""
FOUND_IN_PASSING = ("text-not-checked", "not-time-tiled", "not-inlined")
"""What is told only where a dependence is the reason, or nothing else is told."""
MOST = 4
"""Decisions of a kind that are told; --all-passes has all."""
MOST_LOOPS, MOST_LINES = 5, 10
SAID = ("reason", "into", "array", "m", "n", "left_out")
"""Numbers that the messages have."""
IN_WORDS = {
    "the dependences between them are quasi-identity relations (Definition 4.1)": (
        "each iteration of one needs only the same iteration of the others"
    ),
    " (m > n in Algorithm 2)": "",
    " (neither (21) nor (22) holds)": "",
}
"""What messages name after the paper, for those who have not read it."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a line stands for."""

    place: Written
    statements: frozenset[str]
    loops: tuple[Loop, ...]
    line: int

    @staticmethod
    def of(compiled: Compiled, place: Written, line: int) -> _Asked:
        """A statement, a loop with all that it runs, or the nest."""
        own = compiled.initial.scop.statements
        here = frozenset(name for name in place.statements if own[name].span.line == line)
        heads = [loop for loop in place.loops if loop.line == line]
        if heads:
            here = frozenset(name for loop in heads for name in loop.statements)
        chosen = here or frozenset(place.statements)
        loops = tuple(loop for loop in place.loops if loop.statements & chosen)
        return _Asked(place, chosen, loops, line)

    @property
    def whole(self) -> bool:
        return self.statements == frozenset(self.place.statements)


def why(compiled: list[Compiled], line: int, source: list[str], width: int = WIDTH) -> str | None:
    """The answer for a line of the file; None where no nest is there.

    source: the lines of the file
    """
    for one in compiled:
        place = nest_at(one, line)
        if place is not None:
            return "\n".join(_answer(one, _Asked.of(one, place, line), source, width)) + "\n"
    return None


def nest_lines(compiled: list[Compiled]) -> str:
    """`the nests are at lines 5-9, 12-14`."""
    every = [place.lines.partition(" ")[2] for one in compiled for place in written(one) if place.loops]
    return f"the nests are at lines {', '.join(every)}" if every else "the file has no nest in a region"


def _answer(compiled: Compiled, asked: _Asked, source: list[str], width: int) -> Iterator[str]:
    scop, place = compiled.initial.scop, asked.place
    about = "" if asked.whole else f", line {asked.line}: {ranges(_ordered(asked))}"
    yield f"{scop.span.file}:{place.first_line}: the nest at {place.lines} in {scop.function}(){about}"
    yield from _listing(compiled, asked, source)
    found = _found(compiled, asked)
    told = [one for one in records(compiled) if _is_about(one, asked.statements)]
    if found is not None:
        told = [one for one in told if not _found_later(one, found)]
    yield ""
    yield "  What was done"
    done = [one for one in told if not one.code.startswith((*REFUSALS, *FOUND_IN_PASSING))]
    if found is not None:
        for text, names in _fates(found, compiled).items():
            written = "runs as it was written" if len(names) == 1 else "run as they were written"
            yield from _wrapped(f"{ranges(in_order(names))}: {written if text == 'as it was' else text}.", width)
    elif not done:
        yield from _wrapped("Nothing of it is left: nobody needs its values.", width)
    yield from _sentences(done, width, False)
    missing = list(_missing(compiled, found, asked, told, width))
    refusals = _important([one for one in told if one.code.startswith((*REFUSALS, *FOUND_IN_PASSING))])
    if missing or refusals:
        yield ""
        yield "  What was not done, and why"
        yield from missing
        yield from _sentences(refusals, width, True)
    yield ""
    yield "  Its loops" if asked.whole else "  The loops around"
    for loop in asked.loops[:MOST_LOOPS]:
        yield from _wrapped(_loop_text(loop), width)
    if len(asked.loops) > MOST_LOOPS:
        yield f"    and {len(asked.loops) - MOST_LOOPS} more: ask for their lines"
    yield ""
    yield f"  Its label in a polyc.toml: {scop.function}:{place.first_line}"


def _ordered(asked: _Asked) -> list[str]:
    return [name for name in asked.place.statements if name in asked.statements]


# --- the source ------------------------------------------------------------------------------------------------------


def _listing(compiled: Compiled, asked: _Asked, source: list[str]) -> Iterator[str]:
    """The nest with the names of its statements; of a long one the beginning, and what is around the line."""
    begin: dict[int, list[str]] = {}
    for name in asked.place.statements:
        begin.setdefault(compiled.initial.scop.statements[name].span.line, []).append(name)
    first, last = asked.place.first_line, min(asked.place.last_line, len(source))
    lines = list(range(first, last + 1))
    if len(lines) > MOST_LINES + 1:
        start = min(max(asked.line - 3, first), last - MOST_LINES + 3)
        lines = [*range(first, min(first + 2, start)), *range(start, min(start + MOST_LINES - 2, last + 1))]
    names = {number: ranges(begin.get(number, ())) for number in lines}
    wide = max(map(len, names.values()))
    before = first - 1
    for number in lines:
        if number != before + 1:
            yield f"{'...':>5}"
        before = number
        text = visible(source[number - 1].expandtabs(4).rstrip())
        yield f"{number:>5} {names[number]:<{wide}} | {text}".rstrip()


# --- what was done ---------------------------------------------------------------------------------------------------


def _found(compiled: Compiled, asked: _Asked) -> Nest | None:
    """What became of the statements; None where nothing of them is left."""
    nest = next((n for n in nests(compiled) if set(n.statements) & asked.statements), None)
    if nest is None:
        return None
    here = [replace(p, statements=tuple(s for s in p.statements if s in asked.statements)) for p in nest.parts]
    own = tuple(name for name in nest.statements if name in asked.statements)
    return replace(nest, statements=own, parts=tuple(part for part in here if part.statements))


def _fates(found: Nest, compiled: Compiled) -> dict[str, list[str]]:
    fates: dict[str, list[str]] = {}
    for part in found.parts:
        fates.setdefault(part_text(part, compiled.program), []).extend(part.statements)
    return fates


def _is_about(record: Record, own: frozenset[str]) -> bool:
    """Whether a decision is about these statements, or about all of its region."""
    about = set(record.about.statements) or own
    return bool(about & own) or (record.other is not None and bool(set(record.other.statements) & own))


def _found_later(record: Record, found: Nest) -> bool:
    """Whether a later pass found a way: all statements that were refused have it in the end."""
    own = set(record.about.statements) & set(found.statements)
    if record.code == "not-tiled":
        return bool(own) and own <= {name for part in found.parts if part.tiled for name in part.statements}
    if record.code in ("not-parallel", "small-region"):
        return bool(own) and own <= {name for part in found.parts if part.parallel for name in part.statements}
    return False


def _sentences(told: list[Record], width: int, advice: bool) -> Iterator[str]:
    """Decisions in sentences, those with one code together, and what to do about them."""
    groups: dict[tuple[str, str], list[Record]] = {}
    for one in told:
        groups.setdefault((one.code, one.reason), []).append(one)
    left = MOST
    for (code, reason), members in groups.items():
        shown = _joined(members)
        if left <= 0:
            continue
        for message, one in list(shown.items())[:left]:
            what = f"{code}, {reason}" if reason else code
            told_of = _in_words(message)
            if message.partition(" ")[0] not in map(str, one.remark.data.values()):  # an array keeps its name
                told_of = _sentence(told_of)
            yield from _wrapped(f"{told_of} [{what}]", width)
            yield from _since(one.witness, width)
            if advice and (numbers := figures(_unsaid(one).remark)):
                yield from _wrapped(f"Numbers: {numbers}.", width, "      ", "      ")
        left -= len(shown)
        yield from _advice(members[0].entry, width) if advice else ()
    hidden = sum(len(_joined(members)) for members in groups.values()) - MOST
    if hidden > 0:
        yield f"    and {hidden} more: ask for a line inside of the nest, or --all-passes"


def _joined(members: list[Record]) -> dict[str, Record]:
    """Messages that differ in nothing but the names of statements as one, with the first of their records."""
    alike: dict[str, list[Record]] = {}
    for one in members:
        alike.setdefault(re.sub(r"\bS\d+(, S\d+)*\b", "S", one.remark.message), []).append(one)
    found = {}
    for some in alike.values():
        message = some[0].remark.message
        others = [ranges(in_order(one.remark.statements)) for one in some[1:]]
        others = [one for one in dict.fromkeys(others) if one != ranges(some[0].remark.statements)]
        if others:
            message += f" (the same for {', '.join(others)})"
        found[message] = some[0]
    return found


def _unsaid(record: Record) -> Record:
    """The record with the numbers that its message does not have."""
    data = {
        key: value
        for key, value in record.remark.data.items()
        if key not in SAID and not isinstance(value, (list, tuple, dict)) and not _said(value, record.remark.message)
    }
    return replace(record, remark=replace(record.remark, data=data))


def _said(value: object, message: str) -> bool:
    texts = [str(value)]
    if isinstance(value, (int, float)):
        texts += [f"{value:.{digits}f}" for digits in range(3)]
    return any(re.search(rf"(?<![\d.]){re.escape(text)}(?![\d.]*\d)", message) for text in texts)


# --- what was not done -----------------------------------------------------------------------------------------------


def _important(refusals: list[Record]) -> list[Record]:
    """What people ask for first; what was tried in passing only where a dependence is the reason, or it is all."""

    def order(one: Record) -> tuple[int, int]:
        known = FIRST.index(one.code) if one.code in FIRST else len(FIRST)
        return int(one.code in FOUND_IN_PASSING), known

    told = [one for one in refusals if one.code not in FOUND_IN_PASSING or one.witness is not None]
    return sorted(told or refusals, key=order)


def _missing(compiled: Compiled, found: Nest | None, asked: _Asked, told: list[Record], width: int) -> Iterator[str]:
    """The reasons of the report that no pass told."""
    said = {one.code for one in told} | {(one.code, one.reason) for one in told}
    for what, reason in refused(found, Reasons(compiled.program)) if found is not None else ():
        if reason.code not in said and (f"not-{what}", reason.code) not in said:
            message = reason.message if f"not {what}" in reason.message else f"not {what}: {reason.message}"
            yield from _wrapped(f"{_sentence(message)} [{reason.code}]", width)
            witness = asked.place.shows(reason.code)
            yield from _since(witness, width)
            if witness is not None or not reason.code.startswith("no-"):
                yield from _advice(refusal(what, reason.code), width)


def _since(witness: Witness | None, width: int) -> list[str]:
    return [] if witness is None else _wrapped(f"Since {witness.text}.", width, "      ", "      ")


def _advice(entry: Code | None, width: int) -> list[str]:
    """What to do, where there is something."""
    if entry is None or entry.advice.startswith(("Nothing:", "Nothing;")):
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


def _in_words(message: str) -> str:
    for told, words in IN_WORDS.items():
        message = message.replace(told, words)
    return re.sub(r"\bS\d+(?:, S\d+)+\b", lambda names: ranges(names[0].split(", ")), message)


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
