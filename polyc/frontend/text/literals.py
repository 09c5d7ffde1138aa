"""Floating constants that pycparser does not know: `0.5f16`, whose suffix is a width, and imaginary ones, `1.0iF`."""

from __future__ import annotations

import re

_DIGITS = r"(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][-+]?\d+)?"
_HEX = r"0[xX][\da-fA-F]*\.?[\da-fA-F]*[pP][-+]?\d+"
_NUMBER = rf"(?<![\w.])(?:(?P<wide>(?:{_HEX}|{_DIGITS})[fF])(?:16|32|64|128)x?|(?P<imaginary>{_HEX}|{_DIGITS})"
_STRANGE = re.compile(rf"{_NUMBER}(?:[ijIJ][fFlL]?|[fFlL][ijIJ]))(?!\w)")
_STRANGE_OR_STRING = re.compile(rf"""{_STRANGE.pattern}|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'""")


def without_widths(text: str) -> str:
    """The text with `0.5f  ` for `0.5f16` and `1.0L ` for `1.0iF`, offset for offset."""
    return _STRANGE_OR_STRING.sub(lambda m: (_plain(m) or m[0]).ljust(len(m[0])), text)


def as_written(text: str, offset: int, read: str) -> str:
    """The constant at an offset of the preprocessed text, of which pycparser read `0.5f`: `0.5f16`."""
    found = _STRANGE.match(text, offset)
    return found[0] if found is not None and _plain(found) == read else read


def _plain(found: re.Match[str]) -> str | None:
    """What pycparser reads of such a constant; None of a string.

    An imaginary one becomes a long double, which nobody computes with: neither ranges nor the runs at small sizes.
    """
    return found["wide"] or (None if found["imaginary"] is None else f"{found['imaginary']}L")
