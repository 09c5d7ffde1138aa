"""Which lines of a printed text come from where in the user's source."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import islpy as isl

from polyc.codegen.text.printer import Line
from polyc.errors import InternalError, Span
from polyc.model.program import Origins
from polyc.model.scop import CType, Scop, Statement
from polyc.model.tree import Band, Member, walk

_IN = isl.dim_type.in_


def origins_in(text: str, pieces: Iterable[Sequence[Line]]) -> Origins:
    """The lines of a text, from 1, that have a place in the source, with it; a loop's line has one for each of the
    user's loops that it runs.

    pieces: printed lines, in the order in which they stand in the text; what stands between them is a template's, and
            so is the indentation.
    """
    return tuple(_found([line.strip() for line in text.split("\n")], pieces))


def _found(lines: list[str], pieces: Iterable[Sequence[Line]]) -> Iterator[tuple[int, Span]]:
    start = 0
    for piece in pieces:
        wanted = [line.text.strip() for line in piece]
        while lines[start : start + len(wanted)] != wanted:
            start += 1
            if start >= len(lines):
                raise InternalError("a template did not print all lines that it was given")
        for number, line in enumerate(piece, start + 1):
            for span in line.loops if line.span is None else (line.span, *line.loops):
                yield number, span
        start += len(wanted)


class LoopOrigins:
    """Which of the user's loops a printed loop runs."""

    def __init__(self, scop: Scop) -> None:
        self.file = scop.span.file
        self.known: dict[int, _Involved] = {}
        """By a member's identity."""
        self.lines: dict[str, dict[int, int]] = {}
        """By statement and dimension, the line of the user's loop."""
        for node in walk(scop.tree.child):
            for member in node.members if isinstance(node, Band) else ():
                involved = _Involved(member)
                for name in involved.functions if member.line else ():
                    for dimension in involved.dimensions(name):
                        self.lines.setdefault(name, {}).setdefault(dimension, member.line)

    def counts(self, member: Member | None, statements: Iterable[Statement]) -> str:
        """`int` where that is the type of all loops of some statements that a member's values depend on, or `long`."""
        involved = None if member is None else self.known.setdefault(id(member), _Involved(member))
        types: list[CType] = []
        for statement in statements:
            found = () if involved is None else involved.dimensions(statement.name)
            types += [statement.loop_types[d] for d in found] or statement.loop_types
        return "int" if types and all(t.kind == "int" and t.signed and t.size_bytes == 4 for t in types) else "long"

    def of(self, member: Member, statements: set[str]) -> tuple[Span, ...]:
        """The loops of some statements whose iterations a member's values depend on: of a skewed loop two."""
        involved = self.known.setdefault(id(member), _Involved(member))
        found = {self.lines[s].get(d, 0) for s in statements & set(self.lines) for d in involved.dimensions(s)}
        return tuple(Span(self.file, line) for line in sorted(found - {0}))


class _Involved:
    """The dimensions of statements that a member's value depends on."""

    def __init__(self, member: Member) -> None:
        self.member = member
        pieces = member.schedule.get_pw_aff_list()
        found = [pieces.get_at(k) for k in range(pieces.n_pw_aff())]
        self.functions = {str(f.get_domain_space().get_tuple_name(isl.dim_type.set)): f for f in found}
        self.known: dict[str, tuple[int, ...]] = {}

    def dimensions(self, statement: str) -> tuple[int, ...]:
        if statement not in self.known:
            function = self.functions.get(statement)
            if function is None:
                return ()
            function = function.gist(function.domain())  # its values, and not where it has one
            self.known[statement] = tuple(d for d in range(function.dim(_IN)) if function.involves_dims(_IN, d, 1))
        return self.known[statement]


__all__ = ["LoopOrigins", "origins_in"]
