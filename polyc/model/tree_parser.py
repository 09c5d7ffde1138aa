"""The text of a schedule tree, read again: `parse_tree(render_tree(tree, exact=True))` is the tree.

A line is a node or a buffer: its kind, words, and `{ … }` over as many lines as it takes, in isl's notation.

    line = indentation kind word* [ `[n, m] ->` ] [ `{` piece (`;` piece)* `}` ]
    word = name [ `(` … `)` ]

What is known from further up need not be said: a filter, and an extension of statements of the root, are restricted to
it. Lines that begin with `#` are comments. What `polyc explain` prints is read too, as far as it says what there is.
"""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn, TypeVar

import islpy as isl

from polyc.model import relations as r
from polyc.model.program import Buffer
from polyc.model.tree import (
    LEAF,
    Band,
    Domain,
    Extension,
    Filter,
    Lookups,
    Mark,
    Member,
    Node,
    PastCaches,
    Role,
    Sequence,
    Worth,
)
from polyc.model.tree_text import BUFFER, FLAGS, MARK, ROLES, VALUES
from polyc.poly import names
from polyc.records import dataclass

NODES = ("band", "mark", "extension", "sequence")
KIND = re.compile(r"band\[[c-]+\]|\w+")
NAME = re.compile(r"[\w-]+")
QUOTED = re.compile(r'"\w+"')
PARAMETERS = re.compile(r"\[[^\]\n]*\] ->")
OF_EXPLAIN = re.compile(r' "(group|allocate)" (?!\w+\()(.+)')
PIECE = re.compile(r"((\w+)\[[^\]]*\]\s*->\s*)\[(.*)\]", re.DOTALL)
BRACKETS = re.compile(r'"(?:\\.|[^"\\])*"|[(\[{}\])]')
CLOSING = {"(": ")", "[": "]", "{": "}"}
ROLE_OF = {text: role for role, text in ROLES.items()}
PER_MEMBER = {"for": "name", "tile": "size", "mapped": "mapped"}
"""Words of a band with a value for each member, and the field that it is; `VALUES` are called as their fields."""
T = TypeVar("T")


class TreeSyntaxError(ValueError):
    """A text that is no schedule tree: the line and column, both from 1, and what was expected there."""

    def __init__(self, text: str, place: int, message: str) -> None:
        before = text[:place]
        self.line, self.column = before.count("\n") + 1, place - before.rfind("\n")
        shown = text.split("\n")[self.line - 1]
        super().__init__(f"{self.line}:{self.column}: {message}\n    {shown}\n    {' ' * (self.column - 1)}^")


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the text, where it begins, and what the brackets behind it hold, if there are some."""

    text: str
    place: int
    inside: Part | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """A node or a buffer as it is written."""

    level: int
    kind: Part
    words: tuple[Part, ...]
    pieces: Part | None
    """`{ … }`, with the parameters before it."""


def parse_tree(text: str, domain: isl.UnionSet | None = None) -> Domain:
    """The tree of a text. `domain`: what the line `domain` stands for where it says nothing.

    Raises TreeSyntaxError.
    """
    return parse_state(text, domain)[1]


def parse_state(text: str, domain: isl.UnionSet | None = None) -> tuple[dict[str, Buffer], Domain]:
    """Buffers by their keys, and the tree below them, as `parse_tree`. Raises TreeSyntaxError."""
    return _Parser(text, domain).state()


class _Parser:
    def __init__(self, text: str, domain: isl.UnionSet | None) -> None:
        self.text, self.at = text, 0
        self.lines, self.next = list[Line](), 0
        self.domain, self.parameters = domain, ""

    def fail(self, place: int, expected: str, found: str = "") -> NoReturn:
        raise TreeSyntaxError(self.text, place, f"expected {expected}" + f"; found `{found}`" * bool(found))

    # --- lines -------------------------------------------------------------------------------------------------------

    def scanned(self) -> list[Line]:
        found = []
        for begins in re.finditer(r"^( *)(?=[^\s#])", self.text, re.MULTILINE):
            if begins.start() >= self.at:  # else inside of the braces of the line before
                self.at = begins.end()
                found.append(self.line(len(begins[1])))
        return found

    def line(self, blanks: int) -> Line:
        if blanks % 2:
            self.fail(self.at, "an even number of blanks")
        kind = self.taken(KIND) or self.fail(self.at, "a node or a buffer")
        words = []
        if kind.text == "mark" and (told := OF_EXPLAIN.match(self.text, self.at)):
            self.at = told.end()
            name, value = "text", json.dumps(told[2].replace("; ", "\n"))
            if told[1] == "allocate":
                name, value = "names", ", ".join(told[2].split())
            words = [Part(told[1], told.start(1)), Part(name, told.start(2), Part(value, told.start(2)))]
        elif kind.text == "mark":
            quoted = self.taken(QUOTED) or self.fail(self.at, "the kind of the mark in quotes")
            words = [Part(quoted.text[1:-1], quoted.place)]
        while (word := self.taken(NAME)) is not None:
            bracketed = self.balanced() if self.text.startswith("(", self.at) else None
            inside = Part(bracketed.text[1:-1], bracketed.place + 1) if bracketed else None
            words.append(Part(word.text, word.place, inside))
        space = self.taken(PARAMETERS)
        pieces = self.balanced() if self.taken(re.compile(r"(?=\{)")) else None
        if rest := self.text[self.at :].partition("\n")[0].strip():
            self.fail(self.at, "a word, `{` or the end of the line", rest)
        if space is not None and pieces is not None:
            pieces = Part(f"{space.text} {pieces.text}", space.place)
        return Line(blanks // 2, kind, tuple(words), pieces)

    def taken(self, pattern: re.Pattern[str]) -> Part | None:
        """What the pattern has behind the blanks here."""
        found = pattern.match(self.text, re.compile(" *").match(self.text, self.at).end())  # type: ignore[union-attr]
        if found is None:
            return None
        self.at = found.end()
        return Part(found[0], found.start())

    def balanced(self) -> Part:
        """The text from the bracket here to the one that closes it."""
        start, opened = self.at, list[re.Match[str]]()
        for token in BRACKETS.finditer(self.text, start):
            if token[0] in CLOSING:
                opened.append(token)
            elif token[0][0] != '"' and token[0] != (wanted := CLOSING[opened.pop()[0]]):
                self.fail(token.start(), f"`{wanted}`", token[0])
            elif not opened:
                self.at = token.end()
                return Part(self.text[start : self.at], start)
        return self.fail(opened[-1].start(), f"`{CLOSING[opened[-1][0]]}` somewhere behind this one")

    # --- nodes -------------------------------------------------------------------------------------------------------

    def state(self) -> tuple[dict[str, Buffer], Domain]:
        self.lines = self.scanned()
        buffers = [line for line in self.lines if line.kind.text == "buffer"]
        self.next = len(buffers) + 1
        root = self.lines[len(buffers)] if len(buffers) < len(self.lines) else None
        if root is None or root.level or root.kind.text != "domain":
            self.fail(root.kind.place if root else len(self.text), "`domain`, behind all buffers")
        if root.pieces is not None:
            self.domain = self.value(isl.UnionSet, root.pieces, "the instances of the statements")
        if self.domain is None:
            self.fail(root.kind.place, "`domain { … }`: no region is given whose instances these could be")
        self.parameters = r.parameters(self.domain, in_order=True)
        tree = Domain(self.domain, self.below(1, self.domain))
        if self.next < len(self.lines):
            self.fail(self.lines[self.next].kind.place, "the end of the text, or more blanks")
        return {b.key: b for b in map(self.buffer, buffers)}, tree

    def below(self, level: int, known: isl.UnionSet) -> Node:
        """The node at a level; a leaf where there is none. `known`: what reaches it."""
        line = self.lines[self.next] if self.next < len(self.lines) else None
        if line is None or line.level < level:
            return LEAF
        self.next += 1
        kind = line.kind.text.partition("[")[0]
        if line.level > level or kind not in NODES:
            self.fail(line.kind.place, f"{', '.join(NODES)} behind {2 * level} blanks", kind)
        node: Node = getattr(self, kind)(line, known)
        if self.next < len(self.lines) and self.lines[self.next].level == level:
            self.fail(self.lines[self.next].kind.place, "one node here: several are in filters of a sequence")
        return node

    def band(self, line: Line, known: isl.UnionSet) -> Band:
        flags = line.kind.text[len("band[") : -1]
        functions = self.functions(self.pieces(line), len(flags), known)
        members, band = [dict[str, Any](coincident=flag == "c") for flag in flags], dict[str, Any]()
        for word in line.words:
            self.tell(word, members, band)
        told = tuple(Member(function, **member) for function, member in zip(functions, members, strict=True))
        return Band(told, "permutable" in band, self.below(line.level + 1, known), band.get("whole"))

    def functions(self, pieces: Part, count: int, known: isl.UnionSet) -> list[isl.UnionPwAff]:
        """The functions of a band's members, from `{ S[i, j] -> [i, (j : n > 2; 0 : n <= 2)]; … }`."""
        found = [self.value(isl.UnionPwAff, Part("{ }", 0), "")] * count
        reaching, missing = names(known), set(names(known))
        for piece in split(Part(pieces.text[1:-1], pieces.place + 1), ";"):
            parsed = PIECE.fullmatch(piece.text) or self.fail(piece.place, "`S[…] -> […]`", piece.text)
            if parsed[2] not in missing:
                self.fail(piece.place, f"one of {', '.join(reaching)}, each once", parsed[2])
            missing.remove(parsed[2])
            values = self.counted(Part(parsed[3], piece.place + parsed.start(3)), count)
            found = [f.union_add(self.function(parsed[1], v)) for f, v in zip(found, values, strict=True)]
        if missing:
            self.fail(pieces.place, f"the values of {', '.join(sorted(missing))} as well, which run below")
        return [function.intersect_domain(known) for function in found]

    def function(self, head: str, value: Part) -> isl.UnionPwAff:
        """`i + j`, or `(i : n > 2; j : n <= 2)`, of the instances of a statement."""
        inside = Part(value.text[1:-1], value.place + 1)
        cases = split(inside, ";") if value.text.startswith("(") and ":" in value.text else [value]
        parts = [case.text.partition(" : ") for case in cases]
        text = "; ".join(f"{head}[({expression})]{colon}{condition}" for expression, colon, condition in parts)
        return self.value(isl.UnionPwAff, Part(f"{{ {text} }}", value.place), "affine functions of loops")

    def tell(self, word: Part, members: list[dict[str, Any]], band: dict[str, Any]) -> None:
        """Put what a word says into the fields of the members, or into those of the band."""
        name, free = word.text, [k for k, m in enumerate(members) if m.get("role") is not Role.TILE]
        if name in (*PER_MEMBER, *VALUES):
            for member, value in zip(members, self.counted(self.inside(word), len(members)), strict=True):
                if value.text != "-":
                    member[PER_MEMBER.get(name, name)] = self.read(name, value)
                    member.update({"role": Role.TILE} if name == "tile" else {})
        elif name in ROLE_OF or name in FLAGS:
            implied = free if name in ROLE_OF else [-1]
            for k in self.numbers(word.inside, below=len(members)) if word.inside else implied:
                members[k].update({"role": ROLE_OF[name]} if name in ROLE_OF else {name: True})
        elif name in ("lookups", "past_caches"):
            members[-1][name] = self.read(name, self.inside(word))
        elif name in ("permutable", "whole"):
            band[name] = name == "permutable" or self.read(name, self.inside(word))
        else:
            known = (*PER_MEMBER, *VALUES, *ROLE_OF, *FLAGS, "lookups", "past_caches", "permutable", "whole")
            self.fail(word.place, "one of " + ", ".join(sorted(known)), name)

    def mark(self, line: Line, known: isl.UnionSet) -> Mark:
        fields = self.fields(line.words[1:], MARK)
        return Mark(line.words[0].text, self.below(line.level + 1, known), **fields)

    def extension(self, line: Line, known: isl.UnionSet) -> Extension:
        words = self.flags(line, "whole", "beyond")
        relation = self.value(isl.UnionMap, self.pieces(line), "a relation of loops to instances")
        if "beyond" not in words:
            assert self.domain is not None
            relation = relation.intersect_range(r.or_anything(self.domain, relation.range()))
        return Extension(relation, self.below(line.level + 1, known.union(relation.range())), "whole" in words)

    def sequence(self, line: Line, known: isl.UnionSet) -> Sequence:
        steps = []
        while self.next < len(self.lines) and (step := self.lines[self.next]).level > line.level:
            if step.level > line.level + 1 or step.kind.text != "filter":
                self.fail(step.kind.place, f"`filter` behind {2 * line.level + 2} blanks", step.kind.text)
            self.next += 1
            here = known.intersect(self.value(isl.UnionSet, self.pieces(step), "instances of statements"))
            steps.append(Filter(here, self.below(step.level + 1, here), "barrier" in self.flags(step, "barrier")))
        return Sequence(tuple(steps))

    def buffer(self, line: Line) -> Buffer:
        """`buffer A_tile tile array(A) extents(34, 66) corner({ [t, i] -> A[t, i] }) accesses(S0.r1)`."""
        fields = self.fields(line.words[2:], BUFFER)
        if not {"array", "extents", "accesses"} <= fields.keys() or not {"corner", "depth"} & fields.keys():
            self.fail(line.kind.place, "a key, a storage, array(…), extents(…), accesses(…), corner(…) or depth(…)")
        key, storage = (word.text for word in line.words[:2])
        corner = fields.pop("corner", None)
        depth = fields.pop("depth", 0) if corner is None else corner.dim(isl.dim_type.in_)
        return Buffer(key, fields.pop("name", key), corner=corner, depth=depth, storage=storage, **fields)

    # --- values ------------------------------------------------------------------------------------------------------

    def read(self, name: str, part: Part) -> Any:
        """What `told` of `tree_text.py` writes of a field."""
        match name:
            case "text":
                try:
                    return str(json.loads(part.text))
                except json.JSONDecodeError:
                    self.fail(part.place, "a text in quotes", part.text)
            case "for" | "mapped" | "array" | "name" | "until":
                return part.text
            case "names":
                return tuple(one.text for one in split(part, ","))
            case "sizes" | "registers" | "order":
                return self.numbers(part)
            case "digit":
                return tuple(self.number(Part(one.strip(), part.place)) for one in self.pair(part, " "))
            case "reductions" | "atomics" | "owned":
                words = part.text.split()
                if len(words) % 2:
                    self.fail(part.place, "operators, each with its array behind it", part.text)
                return tuple(zip(words[::2], words[1::2], strict=True))
            case "region" | "whole":
                return self.value(isl.Set, part, "values of loops")
            case "corner":
                return self.value(isl.MultiAff, part, "a cell of the array")
            case "places":
                return self.value(isl.UnionMap, part, "places of instances")
            case "accesses":
                return frozenset(self.pair(one, ".") for one in split(part, ","))
            case "extents":
                return tuple(map(self.extent, split(part, ",")))
            case "worth":  # `n * { [(m)] : n > 0 } > 400 with n > 32 or m > 8`
                product, _, several = part.text.partition(" with ")
                tiles = [self.more(Part(one, part.place)) for one in several.split(" or ") if one]
                extents, least = self.more(Part(product, part.place))
                return Worth(extents, least, tuple((extent, size) for (extent,), size in tiles))
            case "past_caches":  # `A, B, n > 400`
                parts = split(part, ",")
                worth = (self.read("worth", one) for one in parts if ">" in one.text)
                return PastCaches(tuple(one.text for one in parts if ">" not in one.text), *worth)
            case "lookups":  # `8, S0.r1, table:512`
                width, *others = split(part, ",") or [part]
                references = frozenset(self.pair(one, ".") for one in others if ":" not in one.text)
                rows = (self.pair(one, ":") for one in others if ":" in one.text)
                counted = tuple((array, self.number(Part(count, part.place))) for array, count in rows)
                return Lookups(self.number(width), references, counted)
        return self.number(part)

    def value(self, kind: type[T], part: Part, what: str) -> T:
        """An object of isl."""
        try:
            return kind.read_from_str(isl.DEFAULT_CONTEXT, self.parameters + part.text)  # type: ignore[attr-defined, no-any-return]
        except isl.Error:
            parameters = f", and of {self.parameters.removesuffix(' -> ')}" if self.parameters else ""
            self.fail(part.place, f"{what}{parameters}, as isl writes them", part.text)

    def pieces(self, line: Line) -> Part:
        return line.pieces or self.fail(line.kind.place, f"`{line.kind.text} … {{ … }}`")

    def inside(self, word: Part) -> Part:
        return word.inside or self.fail(word.place, f"`{word.text}(…)`")

    def fields(self, words: tuple[Part, ...], known: tuple[str, ...]) -> dict[str, Any]:
        """The values of words that stand for fields, by their names."""
        for word in words:
            if word.text not in known:
                self.fail(word.place, "one of " + ", ".join(known), word.text)
        return {word.text: self.read(word.text, self.inside(word)) for word in words}

    def flags(self, line: Line, *known: str) -> set[str]:
        """The words of a line that have no more than these."""
        for word in line.words:
            if word.text not in known:
                self.fail(word.place, " or ".join([*known, "`{`"]), word.text)
        return {word.text for word in line.words}

    def counted(self, inside: Part, count: int) -> list[Part]:
        """As many values as a band has members."""
        values = split(inside, ",")
        if len(values) != count:
            self.fail(inside.place, f"a value for each of {count} members of the band", inside.text)
        return values

    def numbers(self, part: Part, below: int = 1 << 31) -> tuple[int, ...]:
        return tuple(self.number(one, below) for one in split(part, ","))

    def number(self, part: Part, below: int = 1 << 31) -> int:
        if not part.text.isdecimal() or int(part.text) >= below:
            self.fail(part.place, "a number" if below == 1 << 31 else f"a number below {below}", part.text)
        return int(part.text)

    def pair(self, part: Part, between: str) -> tuple[str, str]:
        one, found, other = part.text.partition(between)
        return (one, other) if found else self.fail(part.place, f"two names with `{between}` between them", part.text)

    def more(self, part: Part) -> tuple[tuple[isl.PwAff, ...], int]:
        """`n * m > 400`."""
        product, _, least = part.text.rpartition(">")
        extents = tuple(map(self.extent, split(Part(product, part.place), "*")))
        return extents, self.number(Part(least.strip(), part.place))

    def extent(self, part: Part) -> isl.PwAff:
        """`34`, `n + 2` or `{ [(n)] : n > 0 }`."""
        text = part.text if part.text.startswith("{") else f"{{ [({part.text})] }}"
        return self.value(isl.PwAff, Part(text, part.place), "a size")


def split(part: Part, separator: str) -> list[Part]:
    """The parts between separators that stand in no bracket, without blanks around them; none of a blank text."""
    found, depth, start = [], 0, 0
    for position, character in enumerate(part.text + separator):
        depth += (character in "([{") - (character in ")]}")
        if character == separator and (depth == 0 or position == len(part.text)):
            piece = part.text[start:position]
            found.append(Part(piece.strip(), part.place + start + len(piece) - len(piece.lstrip())))
            start = position + 1
    return found if len(found) > 1 or found[0].text else []
