"""What became of each loop of a file that a search for regions went through: a row of the report of a project."""

from __future__ import annotations

import re
from collections.abc import Sequence
from os.path import commonpath, dirname
from pathlib import Path
from typing import Any

from polyc.explain.facts.nests import nests
from polyc.explain.facts.source_loops import SourceLoop, source_loops
from polyc.frontend.included import NOT_CALLED
from polyc.model.program import Compiled
from polyc.model.scop import Source
from polyc.model.tree import Band, walk
from polyc.records import dataclass, field, replace

_STAYS = re.compile(r"^this loop(?: of \w+\(\))? stays as it is: ")
_CODE = re.compile(r" \[([a-z-]+)\]$")
_LOOPS_OF = re.compile(r"^the loops of (\w+)\(\) stay as they are: ")
_NAME = re.compile(r"'[^']*'")
_NUMBER = re.compile(r"\b\d+\b")
UNSEEN = "polyc did not look at it"
LEFT_OUT = "the preprocessor leaves it out"


@dataclass(frozen=True, slots=True)
class LoopRecord:
    """A loop of the source, and what became of it."""

    loop: SourceLoop
    compiled: bool
    """Whether it is a loop of a nest that polyc printed anew."""
    done: tuple[str, ...] = ()
    """Of its nest: `tiled`, `fused`, `parallel`."""
    reason: str = ""
    """Why it stays as it was written."""

    @property
    def is_left(self) -> bool:
        """Whether it is a `for` loop of no compiled nest."""
        return not self.compiled and self.loop.kind == "for" and self.reason != LEFT_OUT


@dataclass(frozen=True, slots=True)
class UnitRecord:
    """A file of a project."""

    path: str
    loops: tuple[LoopRecord, ...] = ()
    untouched: str = ""
    """Why all of it is compiled as it is."""
    seconds: float = 0.0
    source: str = field(default="", kw_only=True)
    included: bool = field(default=False, kw_only=True)
    """Whether it is a file that others include: each compiles those of its functions that it uses."""

    @property
    def counted(self) -> tuple[LoopRecord, ...]:
        """Its `for` loops that there are for the compiler, which are those that shares are of."""
        return tuple(one for one in self.loops if one.loop.kind == "for" and one.reason != LEFT_OUT)


def unit_records(source: Source, compiled: Sequence[Compiled], seconds: float) -> list[UnitRecord]:
    """The records of a file that went through the compiler, and of the files with loops that it includes."""
    names = {note.span.file: None for note in source.left if note.span is not None}
    if source.expansion is not None:
        names |= dict.fromkeys(one.file for one in source.expansion.origins)
    others = [_record(source, name, _text_of(source, name), compiled, 0.0) for name in names if name != source.path]
    return [_record(source, source.path, source.written, compiled, seconds), *(one for one in others if one.loops)]


def _text_of(source: Source, name: str) -> str:
    """The text of an included file."""
    if source.expansion is not None and name in source.expansion.files:
        return source.expansion.files[name]
    try:
        return Path(name).read_bytes().decode("utf-8", "surrogateescape")
    except OSError:
        return ""


def _record(source: Source, path: str, text: str, compiled: Sequence[Compiled], seconds: float) -> UnitRecord:
    """The record of one of a file and those that it includes. Of a loop that stands in it several times, as in a
    template, the best counts."""
    here = [one for one in compiled if one.initial.scop.span.file == path]
    found = _in_nests(here)
    told = {line: reason for one in here for line, reason in _kept_whole(one)}
    kept = dict(told)
    whole: dict[str, str] = {}
    for note in source.left:
        if note.span is not None and note.span.file == path:
            told[note.span.line] = _STAYS.sub("", note.message)
            if (name := _LOOPS_OF.match(note.message)) is not None:
                told[note.span.line] = whole[name[1]] = note.message[name.end() :]
    absent = absent_lines(source, path)
    rows: list[LoopRecord] = []
    around: list[tuple[int, int, str]] = []
    for loop in source_loops(text):
        while around and around[-1][1] < loop.line:
            around.pop()
        first, _, reason = around[-1] if around else (loop.line, 0, whole.get(loop.function, UNSEEN))
        nearest = max((line for line in kept if first <= line <= loop.line), default=0)
        reason = told.get(loop.line) or kept.get(nearest, reason)
        if reason.startswith("its function "):
            whole[loop.function] = reason
        if loop.line in absent:
            reason = LEFT_OUT
        around.append((loop.line, loop.last, reason))
        done = found.get(loop.line)
        rows.append(LoopRecord(loop, True, done) if done is not None else LoopRecord(loop, False, (), reason))
    return UnitRecord(path, tuple(rows), "", seconds, source=text, included=path != source.path)


def absent_lines(source: Source, path: str) -> set[int]:
    """The lines of a file with loops that the preprocessor leaves out wherever the file stands."""
    if source.expansion is None:
        return set(source.absent) if path == source.path else set()
    lines = range(1, source.text.count("\n") + 2)
    places = [(line in source.absent, *source.expansion.place(line)) for line in lines]
    there = {line for absent, name, line in places if name == path and not absent}
    return {line for absent, name, line in places if name == path and absent} - there


def merged(one: UnitRecord, other: UnitRecord) -> UnitRecord:
    """The record of an included file from those of two files that include it."""
    if one.source != other.source or len(one.loops) != len(other.loops):
        return one

    def rank(record: LoopRecord) -> tuple[bool, int, bool]:
        return record.compiled, len(record.done), record.reason not in (LEFT_OUT, UNSEEN, NOT_CALLED)

    rows = tuple(max(pair, key=rank) for pair in zip(one.loops, other.loops, strict=True))
    return replace(one, loops=rows, included=one.included and other.included)


def untouched_record(path: str, text: str, reason: str) -> UnitRecord:
    """The record of a file that polyc cannot compile."""
    return UnitRecord(path, tuple(LoopRecord(loop, False, (), reason) for loop in source_loops(text)), reason,
                      source=text)  # fmt: skip


def _in_nests(compiled: Sequence[Compiled]) -> dict[int, tuple[str, ...]]:
    """The lines of the loops that the model has, and what was done with the nest around each."""
    found: dict[int, tuple[str, ...]] = {}
    for one in compiled:
        lines = sorted(
            {
                member.line
                for node in walk(one.initial.scop.tree.child)
                if isinstance(node, Band)
                for member in node.members
            }
        )
        parts = nests(one)
        for line in lines:
            inside = [nest for nest in parts if nest.line <= line] or parts[:1]
            done = tuple(what for what in ("tiled", "fused", "parallel") if inside and getattr(inside[-1], what))
            found[line] = done
    return found


def _kept_whole(compiled: Compiled) -> list[tuple[int, str]]:
    """The statements of a region whose loops are no loops of the model: the line, and the reason."""
    notes = [(note.span, note.message) for note in compiled.initial.scop.notes]
    return [(span.line, message) for span, message in notes if span is not None and "kept whole" in message]


def kind_of(reason: str) -> str:
    """A reason without the names and numbers of one loop, by which loops are counted: `'…' is called, which …`."""
    return _NUMBER.sub("…", _NAME.sub("'…'", _CODE.sub("", reason)))


def home_of(units: Sequence[UnitRecord]) -> str:
    """The folder that all files are in, which their names leave out."""
    folders = {dirname(unit.path) for unit in units}
    try:
        return commonpath(sorted(folders)) if folders else ""
    except ValueError:  # relative and absolute paths
        return ""


def short(path: str, home: str) -> str:
    """A path without the folder of the project."""
    return path.removeprefix(home).lstrip("/") if home else path


def as_data(record: UnitRecord) -> dict[str, Any]:
    """A record as JSON has it."""
    rows = [
        {
            "kind": one.loop.kind,
            "function": one.loop.function,
            "line": one.loop.line,
            "last": one.loop.last,
            "depth": one.loop.depth,
            "compiled": one.compiled,
            "done": list(one.done),
            "reason": one.reason,
        }
        for one in record.loops
    ]
    return {
        "path": record.path,
        "untouched": record.untouched,
        "seconds": round(record.seconds, 3),
        "loops": rows,
        "source": record.source,
        "included": record.included,
    }


def from_data(data: dict[str, Any]) -> UnitRecord:
    """The record that JSON holds."""
    rows = tuple(
        LoopRecord(
            SourceLoop(row["kind"], row["function"], row["line"], row["last"], row["depth"]),
            row["compiled"],
            tuple(row["done"]),
            row["reason"],
        )
        for row in data["loops"]
    )
    return UnitRecord(
        data["path"],
        rows,
        data["untouched"],
        data["seconds"],
        source=data["source"],
        included=data.get("included", False),
    )
