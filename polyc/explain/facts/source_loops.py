"""The loops of a C file as its text shows them: those that no parser has seen, too."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from polyc.frontend.text.source import COMMENT_OR_STRING
from polyc.records import dataclass

_DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\[\s\S])*", re.MULTILINE)
_WORD = re.compile(r"\b(?:for|while|do|if|else|switch)\b")
_HEAD = re.compile(r"\b([A-Za-z_]\w*)\s*\(")
_CLOSES = {"(": ")", "{": "}", "[": "]"}


@dataclass(frozen=True, slots=True)
class SourceLoop:
    """A loop of a function."""

    kind: str
    """`for`, `while` or `do`."""
    function: str
    line: int
    last: int
    """The line on which it ends."""
    depth: int
    """Loops around it."""


def source_loops(text: str) -> list[SourceLoop]:
    """The loops in a file's functions, in order. Bodies of macros are none."""
    return _Scan(text).loops()


def defined_functions(text: str) -> set[str]:
    """The names of the functions that a file defines."""
    return {name for name, _, _ in _Scan(text).functions()}


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match.group())


class _Scan:
    """A text with blanks in the place of comments, strings and directives."""

    def __init__(self, text: str) -> None:
        self.text = _DIRECTIVE.sub(_blank, COMMENT_OR_STRING.sub(_blank, text))
        self.starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def loops(self) -> list[SourceLoop]:
        found: list[tuple[int, int, str, str]] = []
        for name, begin, end in self.functions():
            tails: set[int] = set()
            for match in _WORD.finditer(self.text, begin, end):
                word = match.group()
                if word not in ("for", "while", "do") or match.start() in tails:
                    continue
                after = self.statement_end(match.start(), end)
                if word == "do" and self.text.startswith("while", after):
                    tails.add(after)
                    after = self.statement_end(after, end)
                found.append((match.start(), after, word, name))
        answer: list[SourceLoop] = []
        around: list[int] = []
        for begin, end, word, name in found:
            while around and around[-1] <= begin:
                around.pop()
            last = begin + len(self.text[begin:end].rstrip())
            answer.append(SourceLoop(word, name, self.line(begin), self.line(last - 1), len(around)))
            around.append(end)
        return answer

    def line(self, position: int) -> int:
        return bisect_right(self.starts, position)

    def functions(self) -> Iterator[tuple[str, int, int]]:
        """Each function's name, and where its body begins and ends."""
        position = 0
        while (begin := self.text.find("{", position)) >= 0:
            end = self.closing(begin)
            head = self.text[max(position, self.text.rfind(";", position, begin)) : begin]
            if re.search(r"\bextern\s*$", head):  # `extern "C" {` around declarations for C++
                position = begin + 1
                continue
            names = _HEAD.findall(head)
            if not names and "=" not in head:  # of a K&R definition the last parameter stands before the brace
                names = _HEAD.findall(self.text[position:begin])
            if names and "=" not in head:
                yield names[0], begin, end
            position = end

    def closing(self, opening: int) -> int:
        """The place after the bracket that closes one; the text's end where none does."""
        first = self.text[opening]
        last, depth = _CLOSES[first], 0
        for match in re.compile(f"[{re.escape(first + last)}]").finditer(self.text, opening):
            depth += 1 if match.group() == first else -1
            if not depth:
                return match.end()
        return len(self.text)

    def statement_end(self, position: int, limit: int) -> int:
        """The place of what follows a statement."""
        position = self.skipped(position)
        match = _WORD.match(self.text, position)
        if position >= limit:
            return limit
        if self.text[position] == "{":
            return self.skipped(self.closing(position))
        if match is None:
            end = self.text.find(";", position, limit)
            return self.skipped(end + 1) if end >= 0 else limit
        position = self.skipped(match.end())
        if match.group() not in ("do", "else") and self.text.startswith("(", position):
            position = self.closing(position)
        end = self.statement_end(position, limit)
        if match.group() == "if" and re.compile(r"else\b").match(self.text, end):
            end = self.statement_end(end, limit)
        return end

    def skipped(self, position: int) -> int:
        """The next character that is no space."""
        found = re.compile(r"\S").search(self.text, position)
        return found.start() if found is not None else len(self.text)
