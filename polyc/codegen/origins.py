"""Which lines of a printed text come from where in the user's source."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from polyc.codegen.printer import Line
from polyc.errors import InternalError, Span
from polyc.model.program import Origins


def origins_in(text: str, pieces: Iterable[Sequence[Line]]) -> Origins:
    """The lines of a text, from 1, that have a place in the source, with it.

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
            if line.span is not None:
                yield number, line.span
        start += len(wanted)


__all__ = ["origins_in"]
