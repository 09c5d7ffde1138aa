"""Loops that a search for regions left alone: all of them, and the answer for one."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence

from polyc.errors import Diagnostic, Span
from polyc.explain.codes import refusal
from polyc.explain.words.report import WIDTH

WITNESS = "Look at the witness."
MARKED = "Between '#pragma scop' and '#pragma endscop', `explain --why` shows which iterations it is between."
"""What a region shows, and a loop in none does not."""


def left_lines(left: Sequence[Diagnostic], width: int = WIDTH) -> str:
    """The loops that are in no region, and why: for a file that was searched."""
    file = left[0].span.file if left[0].span is not None else ""
    lines = [f"{file}: loops in no region", ""]
    for one in left:
        lines += wrapped(f"  line {one.span.line if one.span is not None else 1}  {one.message} [{one.code}]", width)
    return "".join(line + "\n" for line in lines)


def why_left(left: Sequence[Diagnostic], line: int, source: list[str], width: int = WIDTH) -> str | None:
    """Why the loop at a line of the file is in no region; None where no such loop is there.

    source: the lines of the file
    """
    for one in reversed(left):
        if one.span is not None and reaches(one.span.line, line, source):
            return "\n".join(answer(one, one.span, source, width)) + "\n"
    return None


def reaches(first: int, line: int, source: list[str]) -> bool:
    """Whether the loop that begins at one line goes on at another: by its indentation, since it was not modelled."""
    begin = source[first - 1]
    depth = len(begin) - len(begin.lstrip())
    inside = [text for text in source[first:line] if text.strip() and not text.lstrip().startswith(("{", "}", "#"))]
    return first <= line and all(len(text) - len(text.lstrip()) > depth for text in inside)


def answer(one: Diagnostic, span: Span, source: list[str], width: int) -> Iterator[str]:
    yield f"{span.file}:{span.line}: a loop in no region"
    yield f"{span.line:>5} | {source[span.line - 1].rstrip()}"
    yield ""
    yield "  What was not done, and why"
    yield from wrapped(f"    {one.message[0].upper()}{one.message[1:]} [{one.code}]", width)
    code = re.search(r"\[([a-z-]+)\]$", one.message)
    entries = [refusal(what, code[1]) for what in ("parallel", "tiled")] if code is not None else []
    advice = next((entry.advice for entry in entries if entry is not None), "").replace(WITNESS, MARKED)
    yield from wrapped(f"      To do: {advice}", width) if advice else ()


def wrapped(line: str, width: int) -> list[str]:
    return textwrap.wrap(line, width, subsequent_indent="      ", break_long_words=False, break_on_hyphens=False)
