"""The decisions of a run as records: what was decided about which nests, with the numbers, the witness and advice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from polyc.analysis.loop_facts import original_nests
from polyc.explain.codes import Code, lookup
from polyc.model.program import Compiled, Remark
from polyc.model.witness import Witness


@dataclass(frozen=True, slots=True)
class Place:
    """Statements of one decision, and where they are in the user's file."""

    statements: tuple[str, ...]
    lines: tuple[int, ...]
    """Of the statements, in order, each once."""
    nests: tuple[int, ...]
    """Lines of the nests that they belong to, as the report names them."""

    def data(self) -> dict[str, Any]:
        return {"statements": list(self.statements), "lines": list(self.lines), "nests": list(self.nests)}


@dataclass(frozen=True, slots=True)
class Record:
    """One decision."""

    remark: Remark
    about: Place
    other: Place | None
    """The second of a pair of nests: into whose tiles a producer was to go."""
    entry: Code | None
    """What the code, with its reason, means; None for one that polyc does not list."""

    @property
    def code(self) -> str:
        return self.remark.code

    @property
    def reason(self) -> str:
        return str(self.remark.data.get("reason", ""))

    @property
    def witness(self) -> Witness | None:
        """Two iterations that show the dependence which was the reason; looked for when it is asked for."""
        return self.remark.dependence() if self.remark.dependence is not None else None

    def data(self) -> dict[str, Any]:
        """What the JSON of a remark says beside the remark itself."""
        witness = self.witness
        return {
            "title": self.entry.title if self.entry else "",
            "advice": self.entry.advice if self.entry else "",
            "lines": list(self.about.lines),
            "nests": list(self.about.nests),
            "other": self.other.data() if self.other else None,
            "witness": witness.data() if witness else None,
        }


def records(compiled: Compiled) -> list[Record]:
    """The decisions of a region in the order in which they were made."""
    return [record(one, compiled) for one in compiled.program.remarks]


def record(remark: Remark, compiled: Compiled | None) -> Record:
    """A remark with its places, its meaning and its witness."""
    into = remark.data.get("into")
    other = tuple(str(name) for name in into) if isinstance(into, (list, tuple)) else ()
    reason = str(remark.data.get("reason", ""))
    return Record(
        remark,
        place(remark.statements, compiled),
        place(other, compiled) if other else None,
        lookup(remark.code, reason),
    )


def place(statements: tuple[str, ...], compiled: Compiled | None) -> Place:
    """Where statements of a region are; those that were inlined have their places too."""
    if compiled is None or not statements:
        return Place(statements, (), ())
    known = {**compiled.initial.statements, **compiled.program.statements}
    lines = {known[name].span.line for name in statements if name in known}
    nests = [line for line, names in original_nests(compiled.initial.scop) if set(names) & set(statements)]
    return Place(statements, tuple(sorted(lines)), tuple(dict.fromkeys(nests)))
