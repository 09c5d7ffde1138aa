"""The statements of a block as pieces of text: where each one starts and ends, and on which lines of the user's file.

pycparser tells where a statement's first name stands, not where the statement ends. The text of a region that nobody
marked is replaced, so that both have to be known exactly.
"""

from __future__ import annotations

import re

from pycparser import c_ast

from polyc.frontend.c.parse import Parsed
from polyc.frontend.text.foreign import Pragma, foreign
from polyc.frontend.text.places import Places, Stretch, balance
from polyc.records import dataclass, field

_TOKEN = re.compile(r""""(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|[A-Za-z_$][\w$]*|\d[\w.]*|\S""")
_HEAD = re.compile(r"(?:for|while|if|switch)\b")
_OPEN, _CLOSE = "([{", ")]}"
_DIRECTIVE = re.compile(r"[ \t]*(?:#[ \t]*(\w*)(?!\w)|%:)(?![ \t]+polyc\b)")
_OPENS, _TURNS, _CLOSES = (
    frozenset(["if", "ifdef", "ifndef"]),
    frozenset(["else", "elif", "elifdef", "elifndef"]),
    "endif",
)
_MAKES_PRAGMA = re.compile(r"""^[ \t]*#[ \t]*define[ \t]+(\w+).*\b_Pragma[ \t]*\([ \t]*"([^"\n]*)""", re.MULTILINE)
_QUOTED = re.compile(r"""'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*\"""")


class NotRead(Exception):
    """The text is none that this module follows."""


class NotWhole(Exception):
    """Why a piece of the text cannot be replaced, in words that follow "it stays as it is"."""


@dataclass(slots=True)
class Unit:
    """Neighbouring items of a block that one statement, or one declaration of several names, gives."""

    start: int
    """Of its first character in the preprocessed text."""
    end: int
    """Just after its last one."""
    first: int
    """Position of its first item in the block, of those that are no marks."""
    last: int
    """Just after its last one."""


class _Scanner:
    """Steps over statements, from a place in the text that pycparser read."""

    def __init__(self, text: str, position: int) -> None:
        self.text = text
        self.position = position

    def peek(self) -> tuple[str, int, int]:
        match = _TOKEN.search(self.text, self.position)
        while match is not None and match.group() == "#":  # marks of a region
            match = _TOKEN.search(self.text, self.text.find("\n", match.end()))
        if match is None:
            raise NotRead
        return match.group(), match.start(), match.end()

    def take(self, wanted: str = "") -> int:
        """Step over a token; answers where it starts."""
        word, start, end = self.peek()
        if wanted and word != wanted:
            raise NotRead
        self.position = end
        return start

    def group(self) -> None:
        """Step over a bracket and all up to its partner."""
        depth = 0
        while True:
            word = self.peek()[0]
            self.take()
            depth += (word in _OPEN) - (word in _CLOSE)
            if depth == 0:
                return

    def statement(self) -> None:
        """Step over one statement."""
        while True:
            word = self.peek()[0]
            if word == "{":
                return self.group()
            self.take()
            match word:
                case "for" | "while" | "switch":
                    self.group()
                case "if":
                    self.group()
                    self.statement()
                    if self.peek()[0] != "else":
                        return None
                    self.take()
                case "do":
                    self.statement()
                    self.take("while")
                    self.group()
                    self.take(";")
                    return None
                case ";":
                    return None
                case "case" | "default":
                    self.up_to(":")
                case _ if self.peek()[0] == ":" and word.isidentifier():
                    self.take()  # a label
                case _:
                    if word in _OPEN:
                        self.position -= 1
                        self.group()
                    return self.up_to(";")

    def empty_behind(self, start: int) -> None:
        """Step over the `;` behind the block of a loop or a branch, as in `for (…) MARK(w, i);` with braces in MARK:
        both are one statement for who wrote it."""
        word = self.text[start : start + 6]
        if self.text[self.position - 1] == "}" and _HEAD.match(word):
            while self.peek()[0] == ";" and "\n" not in self.text[self.position : self.peek()[1]]:
                self.take()

    def item(self, targets: frozenset[str]) -> None:
        """Step over one item of a block: a statement with the labels that only name it, or a label of `targets`."""
        word, _, end = self.peek()
        if word in ("case", "default"):
            return self.up_to(":")
        if word.isidentifier() and (match := _TOKEN.search(self.text, end)) is not None and match.group() == ":":
            self.position = match.end()
            return None if word in targets or self.peek()[0] == "}" else self.item(targets)
        return self.statement()

    def up_to(self, wanted: str) -> None:
        """Step over everything up to a token outside of brackets, and over it."""
        while True:
            word = self.peek()[0]
            if word in _OPEN:
                self.group()
                continue
            if word in _CLOSE:
                raise NotRead
            self.take()
            if word == wanted:
                return


def units(block: c_ast.Compound, parsed: Parsed, targets: frozenset[str]) -> list[Unit]:
    """The statements of a block, in order. Raises NotRead where text and tree do not go together.

    targets: labels that something jumps to
    """
    opening = parsed.offset(block.coord)
    if parsed.text[opening : opening + 1] != "{":
        raise NotRead
    scanner = _Scanner(parsed.text, opening + 1)
    read = [item for item in block.block_items or [] if not isinstance(item, c_ast.Pragma)]
    items = [parsed.offset(item.coord) for item in read if item.coord is not None]
    if len(items) != len(read):
        raise NotRead
    found: list[Unit] = []
    following = 0
    while scanner.peek()[0] != "}":
        start = scanner.peek()[1]
        scanner.item(targets)
        scanner.empty_behind(start)
        first = following
        while following < len(items) and items[following] < scanner.position:
            if items[following] < start:
                raise NotRead
            following += 1
        if following == first:
            raise NotRead
        end = parsed.original(scanner.position - 1) + 1
        found.append(Unit(parsed.original(start), end, first, following))
    if following != len(items):
        raise NotRead
    return found


def unit_of(statement: c_ast.Node, parsed: Parsed) -> Unit:
    """A loop that is the body of another one, or a branch. Raises NotRead."""
    start = parsed.offset(statement.coord)
    scanner = _Scanner(parsed.text, start)
    if scanner.peek()[0] not in ("for", "while", "do") or scanner.peek()[1] != start:
        raise NotRead
    scanner.statement()
    return Unit(parsed.original(start), parsed.original(scanner.position - 1) + 1, 0, 1)


def stretch(places: Places, start: int, end: int) -> Stretch:
    """The place in the user's file of a piece of the preprocessed text: whole lines, or a part of the first or of the
    last one.

    Raises NotWhole where it comes from a macro or an included file in part, or has directives in it that are more than
    whole conditions.
    """
    user, pre = places.user, places.pre
    name, first = pre.place(start)
    other, last = pre.place(end - 1)
    if name != user.path or other != user.path or not 0 < first <= last <= len(user.line_starts):
        raise NotWhole("it comes from another file in part")
    begin, until = user.line_starts[first - 1], None
    if _first_character(places, first) != start:
        begin, _ = _in_line(places, start, first)
    if _last_character(places, last) != end - 1:
        _, until = _in_line(places, end - 1, last)
    while True:  # a macro's arguments may go on for some lines
        text = chosen(places, first, last, (begin, until))
        if balance(text) == 0 and not text.rstrip("\n").endswith("\\"):
            break
        last += 1
        if until is not None or last > len(user.line_starts) or _pieces(places, last):
            raise NotWhole("macros with braces stand in it")
    if not pre.other.code.isdisjoint(range(first, last + 1)):
        raise NotWhole("it has other code in builds with OpenMP, or without ('_OPENMP')")
    before = user.line(first - 1) if first > 1 else ""
    behind = next((line for n in range(last + 1, len(user.line_starts) + 1) if (line := user.line(n).strip())), "")
    if before.rstrip().endswith("\\") or (behind.startswith("(") and not text.rstrip().endswith((";", "}"))):
        raise NotWhole("it begins or ends within a macro's arguments")
    whole = user.line_starts[last] if last < len(user.line_starts) else len(user.text)
    return Stretch(first, last, begin, whole if until is None else until)


def _in_line(places: Places, offset: int, line: int) -> tuple[int, int]:
    """A token's place in its line of the user's file."""
    found = places.outside(offset, line)
    if found is None:
        raise NotWhole("it shares lines with macros that have statements")
    return found


def chosen(
    places: Places,
    first: int,
    last: int,
    cut: tuple[int | None, int | None] = (None, None),
    *,
    marked: bool = False,
) -> str:
    """The code of some lines that the preprocessor chose, without what stands in quotes.

    cut: offsets in the user's file of where it begins on its first line and ends on its last one
    marked: the user has said that the lines are a region, with what they include

    Raises NotWhole where a directive is more than a condition that is whole within these lines: what follows would miss
    a `#define`, and half of an `#if` is no text.
    """
    kept: list[str] = []
    conditions: list[_Condition] = []
    pragma = False
    for number in range(first, last + 1):
        whole, origin = places.user.line(number), places.user.line_starts[number - 1]
        begins = cut[0] - origin if number == first and cut[0] is not None else 0
        line = _code(whole[begins : cut[1] - origin if number == last and cut[1] is not None else None])
        directive = _DIRECTIVE.match(line)
        if pragma or (directive is not None and directive[1] == "pragma"):
            pragma = line.rstrip().endswith("\\")  # what it is about was read in the preprocessed text
            continue
        if directive is None:
            kept.append(line + "\n")
            if _pieces(places, number):
                for one in conditions:
                    one.left = True
            continue
        word = directive[1] or ""
        if word == "error" or (marked and word == "include"):
            continue  # the first stands in a branch that was not chosen: there would be no preprocessed text
        if word not in (*_OPENS, *_TURNS, _CLOSES) or (line.rstrip().endswith("\\") and not marked):
            if not conditions or word in (*_OPENS, *_TURNS, _CLOSES):
                raise NotWhole(f"'#{word}' stands in it")
            conditions[-1].odd.append(word)
            continue
        if word in _OPENS:
            conditions.append(_Condition(len(kept)))
            continue
        if not conditions:
            raise NotWhole(f"an '#{word}' in it belongs to a condition that begins before it")
        conditions[-1].turn(kept)
        if word == _CLOSES and (odd := conditions.pop().unsure):
            if not conditions:
                raise NotWhole(f"'#{odd[0]}' stands in it")
            conditions[-1].odd += odd
    if conditions:
        raise NotWhole("a condition ('#if') that begins in it does not end in it")
    return "".join(kept)


@dataclass(slots=True)
class _Condition:
    """An `#if` up to its `#endif`."""

    begin: int
    """Where the code of its present branch begins."""
    left: bool = False
    """Whether the preprocessor left any of that."""
    odd: list[str] = field(default_factory=list)
    """Directives in that branch which are no conditions."""
    unsure: list[str] = field(default_factory=list)
    """Those of branches before, of which nothing is left: nobody knows whether one was chosen."""
    decided: bool = False
    """Whether one of the branches before was chosen, so that the others were not."""

    def turn(self, kept: list[str]) -> None:
        """End the present branch. Raises NotWhole where it was chosen and has other directives."""
        if self.left and self.odd:
            raise NotWhole(f"'#{self.odd[0]}' stands in it")
        if not self.left:
            del kept[self.begin :]
        self.decided |= self.left
        self.unsure = [] if self.decided else [*self.unsure, *self.odd]
        self.begin, self.left, self.odd = len(kept), False, []


def with_condition(places: Places, first: int, last: int) -> int:
    """The first of some lines, or the `#if` before them where a pragma on the first one stands under it.

    Raises NotWhole where the lines are still no whole.
    """
    while True:
        try:
            chosen(places, first, last)
            return first
        except NotWhole:
            first = next((n for n in range(first - 1, 0, -1) if places.user.line(n).strip()), 0)
            if not first or not _DIRECTIVE.match(places.user.line(first)):
                raise


def for_loops(places: Places, first: int) -> tuple[str, int] | None:
    """A pragma above a line, with nothing but directives between them, that wants a loop behind it in some build: what
    it is, and the line that it begins on, or the condition that it stands under, if that is whole; else 0."""
    made = {name for name, words in _MAKES_PRAGMA.findall(places.user.code) if Pragma(0, words).wants_loop}
    found, depth, top = "", 0, 0
    for number in range(first - 1, 0, -1):
        line = places.user.line(number)
        if number > 1 and places.user.line(number - 1).endswith("\\"):
            continue
        directive = _DIRECTIVE.match(line)
        word = directive[1] if directive is not None else ""
        macro = "" if directive is not None or _pieces(places, number) else line.strip()
        known = word in ("pragma", *_OPENS, *_TURNS, _CLOSES) or macro in made or not line.strip()
        depth += (word == _CLOSES) - (word in _OPENS)
        if not known or depth < 0 or (word in _TURNS and not depth):
            break
        wanting = [one.shown for one in foreign(line) if one.wants_loop] or [macro][: len(macro)]
        if wanting:
            found, top = wanting[0], 0
        if not depth and found and not top:
            top = number
    return (found, top) if found else None


def _code(line: str) -> str:
    """A line without what stands in quotes."""
    return _QUOTED.sub('""', line)


def has_code(places: Places, line: int) -> bool:
    """Whether a line of the user's file has anything that the preprocessor left, but for pragmas."""
    return bool(_pieces(places, line))


def _pieces(places: Places, line: int) -> list[tuple[int, int]]:
    """The pieces of the preprocessed text that come from a line and are not blank."""
    return [(a, b) for a, b in places.pieces(line) if places.pre.text[a:b].strip()]


def _first_character(places: Places, line: int) -> int:
    pieces = _pieces(places, line)
    if not pieces:
        return -1
    text = places.pre.text[pieces[0][0] : pieces[0][1]]
    return pieces[0][0] + len(text) - len(text.lstrip())


def _last_character(places: Places, line: int) -> int:
    pieces = _pieces(places, line)
    if not pieces:
        return -1
    return pieces[-1][0] + len(places.pre.text[pieces[-1][0] : pieces[-1][1]].rstrip()) - 1
