"""From a character of the preprocessed text to its line and column in the user's file.

`cc -E` keeps lines but squeezes white space and expands macros. The tokens of an output line are matched with the
tokens of the user's line; one that comes out of a macro points to the macro's use.
"""

from __future__ import annotations

import bisect
import re
from difflib import SequenceMatcher

from polyc.errors import Span
from polyc.frontend.text.preprocess import Preprocessed
from polyc.frontend.text.source import TOKEN, UserFile
from polyc.records import dataclass

_Token = tuple[str, int, int, int]
"""File and line, and start and end in the user's text."""
_Part = tuple[str, int, int]
"""A token, and its start and end in its own text."""
_SPACE = re.compile(r"(?:\\\r?\n|\s)+")


@dataclass(frozen=True, slots=True)
class Stretch:
    """A piece of the user's file: its first and last line, and its offsets. It is whole lines but where others share
    them with it."""

    first: int
    last: int
    start: int
    end: int
    """Just after the newline of its last line, or before what follows it there."""


class Places:
    """Lazy: a line is matched when somebody asks for a place in it."""

    def __init__(self, user: UserFile, pre: Preprocessed) -> None:
        self.user = user
        self.pre = pre
        self._segments: dict[int, list[tuple[int, int]]] | None = None
        self._lines: dict[int, tuple[list[int], list[tuple[int, int]]]] = {}
        self._tokens: dict[int, _Token] = {}
        self._itself = pre.text is user.text

    def span(self, start: int, end: int) -> Span:
        """The place of the characters `start` to `end` of the preprocessed text."""
        if self._itself:
            return self._as_it_is(start, end)
        name, line, first, _ = self._token(start)
        if not self._is_own(name, line):
            return Span(name, line)
        last = max(self._token(max(start, end - 1))[3], first + 1)
        first_line_end = self.user.line_starts[line] - 1 if line < len(self.user.line_starts) else len(self.user.text)
        column = first - self.user.line_starts[line - 1] + 1
        return Span(*self.user.place(line), column, max(1, min(last, first_line_end) - first))

    def _as_it_is(self, start: int, end: int) -> Span:
        """The same in a text that needs no preprocessor."""
        starts = self.user.line_starts
        line = bisect.bisect_right(starts, start)
        line_end = starts[line] - 1 if line < len(starts) else len(self.user.text)
        return Span(self.user.path, line, start - starts[line - 1] + 1, max(1, min(end, line_end) - start))

    def source(self, start: int, end: int) -> str:
        """The user's own text for a piece of the preprocessed text, comments dropped, on one line; "" where the piece
        begins or ends inside of what a macro stands for."""
        _, _, first, to = self._token(start)
        _, _, since, last = self._token(max(start, end - 1))
        code, made = self.user.code, self.pre.text
        begins = made.startswith(code[first:to], start) or self._range_of(len(made[:start].rstrip()) - 1)[1] <= first
        ends = made.endswith(code[since:last], start, end) or self._range_of(_after(made, end))[0] >= last
        text = _SPACE.sub(" ", code[first:last]).strip()
        return text if begins and ends and first < last and balance(text) == 0 else ""

    def _range_of(self, offset: int) -> tuple[int, int]:
        """Where the token before or behind a piece stands in the user's file: nowhere near, if there is none."""
        if not 0 <= offset < len(self.pre.text):
            return len(self.user.text), 0
        return self._token(offset)[2:]

    def outside(self, offset: int, line: int) -> tuple[int, int] | None:
        """Where a token outside of brackets stands in a line of the user's file; None where a macro may have made it.

        Macros take away nothing but what stands in the brackets of their calls. Where they add none that looks like it,
        the line has as many of these tokens as the preprocessor left, in the same order. Before the first macro, and
        behind the last one, all tokens of both are the same.
        """
        whole = self._both(line)
        made, own = map(_outside, whole)
        text = next((text for text, at, _ in made if at == offset), None)
        left, found = ([one for one in tokens if one[0] == text] for tokens in (made, own))
        if not left:
            return None
        if len(left) == len(found):
            _, start, end = found[[at for _, at, _ in left].index(offset)]
            return start, end
        for tokens, others in (whole, [side[::-1] for side in whole]):
            for one, other in zip(tokens, others, strict=False):
                if one[0] != other[0]:
                    break
                if one[1] == offset and other in own:
                    return other[1], other[2]
        return None

    def pieces(self, line: int) -> list[tuple[int, int]]:
        """The pieces of the preprocessed text, from and to, that come from a line of the user's file."""
        return self._pieces().get(line, [])

    def _is_own(self, name: str, line: int) -> bool:
        return name == self.user.path and 0 < line <= len(self.user.line_starts)

    def _token(self, offset: int) -> _Token:
        """The token at an offset of the preprocessed text, kept: expressions that begin together ask for the same."""
        found = self._tokens.get(offset)
        if found is None:
            name, line = self.pre.place(offset)
            found = self._tokens[offset] = name, line, *self._range(name, line, offset)
        return found

    def _range(self, name: str, line: int, offset: int) -> tuple[int, int]:
        if not self._is_own(name, line):
            return 0, 1
        offsets, ranges = self._matched(line)
        position = bisect.bisect_right(offsets, offset) - 1
        if position < 0:
            start = self.user.line_starts[line - 1]
            return start, start + 1
        return ranges[position]

    def _matched(self, line: int) -> tuple[list[int], list[tuple[int, int]]]:
        if line not in self._lines:
            self._lines[line] = self._match(line)
        return self._lines[line]

    def _match(self, line: int) -> tuple[list[int], list[tuple[int, int]]]:
        base = self.user.line_starts[line - 1]
        made, original = self._both(line)
        offsets = [offset for _, offset, _ in made]
        left, right = [t for t, _, _ in original], [t for t, _, _ in made]
        if left == right:
            return offsets, [(start, end) for _, start, end in original]
        if not original:
            return offsets, [(base, base + 1)] * len(offsets)
        ranges: list[tuple[int, int]] = []
        for _, i1, i2, j1, j2 in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
            if i2 - i1 == j2 - j1 and left[i1:i2] == right[j1:j2]:
                ranges += [(start, end) for _, start, end in original[i1:i2]]
            elif j2 > j1:
                first = original[min(i1, len(original) - 1)]
                last = original[max(min(i2, len(original)) - 1, min(i1, len(original) - 1))]
                ranges += [(first[1], last[2])] * (j2 - j1)
        return offsets, ranges

    def _both(self, line: int) -> tuple[list[_Part], list[_Part]]:
        """The tokens of a line's pieces of the preprocessed text, and those of the user's line."""
        base = self.user.line_starts[line - 1]
        own = [(m.group(), base + m.start(), base + m.end()) for m in TOKEN.finditer(self.user.line(line))]
        pieces = [TOKEN.finditer(self.pre.text, start, end) for start, end in self.pieces(line)]
        return [(m.group(), m.start(), m.end()) for piece in pieces for m in piece], own

    def _pieces(self) -> dict[int, list[tuple[int, int]]]:
        """Line of the user's file -> its pieces of the preprocessed text."""
        if self._segments is None:
            self._segments = {}
            for start, end, first in self.pre.own_runs():
                position, line = start, first
                while position < end:
                    stop = self.pre.text.find("\n", position, end)
                    stop = end if stop < 0 else stop
                    if stop > position and self.pre.text[position] != "#":
                        self._segments.setdefault(line, []).append((position, stop))
                    position, line = stop + 1, line + 1
        return self._segments


def _after(text: str, position: int) -> int:
    """The next character that is no space."""
    found = re.compile(r"\S").search(text, position)
    return found.start() if found is not None else len(text)


def balance(text: str) -> int | None:
    """How many brackets are open at the end; None where one closes that was not opened."""
    depth = 0
    for character in text:
        if character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
            if depth < 0:
                return None
    return depth


def _outside(tokens: list[_Part]) -> list[_Part]:
    """Those that stand in no brackets."""
    found, depth = list[_Part](), 0
    for token in tokens:
        depth -= token[0] in (")", "]")
        if depth == 0:
            found.append(token)
        depth += token[0] in ("(", "[")
    return found
