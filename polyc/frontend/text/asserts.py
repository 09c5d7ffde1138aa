"""`assert` of the C library as a call that the frontend knows.

rewrite:  ((void) sizeof ((e) ? 1 : 0), __extension__ ({ if (e) ; else __assert_fail (…); }))   glibc, gnu11
          ((e) ? (void) (0) : __assert_fail (…))                                                glibc, c11
          ((void)((e) || (__assert_fail(…), 0)))                                                musl
          ->  polyc_asserted(e)
ensures:  the text is as long as before, line by line
"""

from __future__ import annotations

import re

from polyc.frontend.text.chunks import close_paren

ASSERTED = "polyc_asserted"
"""`polyc_asserted(e)` stands for `assert(e)`, and `polyc_asserted(e, v)` for v where e holds; else the program ends."""

_STARTS = re.compile(
    r"\(\s*\(\s*void\s*\)\s*sizeof\s*(?=\()|\(\s*\(\s*void\s*\)\s*\(\s*(?=\()|\(\s*(?=\()",
)
_STATEMENT = re.compile(r"\s*,\s*(?:__extension__\s*)?\(\s*\{\s*if\s*(?=\()")
_FAILS = re.compile(r"\s*;\s*else\s+__assert_fail\b|\s*\?\s*\(\s*void\s*\)\s*\(?\s*0\s*\)?\s*:\s*__assert_fail\b")
_OR_FAILS = re.compile(r"\s*\|\|\s*\(\s*__assert_fail\b")


def asserted(text: str) -> str:
    """The text with calls of `polyc_asserted`."""
    if "__assert_fail" not in text:
        return text
    pieces: list[str] = []
    done = 0
    for start in _STARTS.finditer(text):
        if start.start() < done:
            continue
        first = start.end()
        last = close_paren(text, first)
        if "sizeof" in start.group():
            inner = _STATEMENT.match(text, last)
            if inner is None:
                continue
            first = inner.end()
            last = close_paren(text, first)
        if not (_FAILS.match(text, last) or ("void" in start.group() and _OR_FAILS.match(text, last))):
            continue
        end = close_paren(text, start.start())
        head, tail = _blank(text[start.start() : first]), _blank(text[last:end])
        size = len(ASSERTED)
        moved = max(0, size - len(head))  # `((e) ? …`: there is no room before it
        if "\n" in head[-size:] + tail[:moved] or moved > len(tail):
            continue
        pieces += [text[done : start.start()], head[:-size], ASSERTED, text[first:last], tail[moved:]]
        done = end
    return "".join([*pieces, text[done:]])


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)
