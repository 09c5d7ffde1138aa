"""How a diagnostic looks."""

from __future__ import annotations

import pytest

from polyc.errors import LONGEST_LINE, Diagnostic, Span, window


def shown(line: str, column: int, length: int) -> list[str]:
    return Diagnostic("code", "wrong", Span("t.c", 3, column, length)).render(line).splitlines()[1:]


def test_a_short_line_is_shown_as_it_is() -> None:
    assert shown("\ta = b;\r\n", 6, 1) == ["    3 |  a = b;", "      |      ^"]


def test_control_characters_reach_no_terminal() -> None:
    assert shown("a\x1b[31m\0b", 8, 9) == ["    3 | a [31m b", "      |        ^"]


@pytest.mark.parametrize("column", [1, 5, 60, 61, 500, 941, 990, 1000])
def test_a_long_line_is_cut_around_the_place(column: int) -> None:
    line = "".join(chr(ord("a") + k % 26) for k in range(1000))
    text, place = window(line, column)
    assert len(text) == LONGEST_LINE
    assert text[place - 1] == line[column - 1]
    assert text.startswith("...") == (column > 61)
    assert text.endswith("...") == (column < 940)
    caret = shown(line, column, 2000)[1]
    assert caret.index("^") - len("      | ") == place - 1
    assert len(caret) <= len("      | ") + LONGEST_LINE
