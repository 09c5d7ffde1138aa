"""Floating constants whose suffix names a width, `0.5f16`: pycparser reads them without the width."""

from __future__ import annotations

import re

_DIGITS = r"(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][-+]?\d+)?"
_HEX = r"0[xX][\da-fA-F]*\.?[\da-fA-F]*[pP][-+]?\d+"
_WIDE = re.compile(rf"(?<![\w.])((?:{_HEX}|{_DIGITS})[fF])(?:16|32|64|128)x?(?!\w)")
_WIDE_OR_STRING = re.compile(rf"""{_WIDE.pattern}|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'""")


def without_widths(text: str) -> str:
    """The text with `0.5f  ` for `0.5f16`, offset for offset."""
    return _WIDE_OR_STRING.sub(lambda m: m[1].ljust(len(m[0])) if m[1] else m[0], text)


def as_written(text: str, offset: int, read: str) -> str:
    """The constant at an offset of the preprocessed text, of which pycparser read `0.5f`: `0.5f16`."""
    found = _WIDE.match(text, offset)
    return found[0] if found is not None and found[1] == read else read
