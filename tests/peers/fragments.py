"""Declarations for loops that have none.

Clan, the frontend of pluto, reads what stands between the pragmas and nothing else: neither a function nor declarations
nor the headers are needed. Such a fragment becomes C here; what stands between the pragmas stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from polyc.errors import UserError
from polyc.frontend.text.source import COMMENT_OR_STRING

MISSING = frozenset({"pragma-outside-function", "undeclared"})
EXTENTS = {1: 512, 2: 512, 3: 128, 4: 32}
"""Elements a dimension, by rank; FEWEST for more."""
FEWEST = 12
_REGION = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+scop\b.*?^[ \t]*#[ \t]*pragma[ \t]+endscop\b[^\n]*", re.M | re.S)
_HEAD = re.compile(r"^[ \t]*#[^\n]*", re.MULTILINE)
_NO_HEADER = re.compile(r"(\S+): No such file")
_FOR = re.compile(r"\bfor\s*\(\s*(\w+)\s*=")
_NAME = re.compile(r"[A-Za-z_]\w*")
_WORDS = "for if else while do int long double float char short unsigned signed const void sizeof"
_NO_NAMES = frozenset(_WORDS.split())


def complete(text: str, problem: UserError) -> str | None:
    """The text with what is missing declared, None where something else is wrong with it."""
    codes = {d.code for d in problem.diagnostics}
    headers = [match.group(1) for d in problem.diagnostics if (match := _NO_HEADER.match(d.message)) is not None]
    if codes == {"preprocessor"} and headers:
        include = rf'^[ \t]*#[ \t]*include[ \t]*[<"](?:{"|".join(map(re.escape, headers))})[>"][^\n]*'
        shorter = re.sub(include, "", text, flags=re.MULTILINE)
        return shorter if shorter != text else None
    if not codes <= MISSING:
        return None
    code = COMMENT_OR_STRING.sub(lambda m: m.group() if m.group()[0] in "\"'" else " ", text)
    regions = [m.group() for m in _REGION.finditer(code)]
    inside = "\n".join(_HEAD.sub("", region) for region in regions)
    if any(d.code == "pragma-outside-function" for d in problem.diagnostics):
        head = code[: code.index(regions[0])]
        head = "".join(f"{m.group().strip()}\n" for m in _HEAD.finditer(head) if "pragma" not in m.group())
        known = set(re.findall(r"^#\s*define\s+(\w+)", head, re.MULTILINE))
        counters = sorted(set(_FOR.findall(inside)) - known)
        names = set(_NAME.findall(inside)) - set(counters) - known
        return "".join(
            [
                head,
                *declarations(inside, names),
                "void fragment(void)\n{\n",
                *(f"    int {name};\n" for name in counters),
                *(f"{region}\n" for region in regions),
                "}\n",
            ]
        )
    found = {match.group(1) for d in problem.diagnostics if (match := re.match(r"'(\w+)'", d.message)) is not None}
    return "".join([*declarations(inside, found), text])


def declarations(code: str, names: set[str]) -> Iterator[str]:
    """One for each name, by how it is used: an array, a function, an integer in subscripts and loops, or a double."""
    whole = integers(code)
    for name in sorted(names - _NO_NAMES):
        uses = [m.end() for m in re.finditer(rf"\b{name}\b", code)]
        rank = max((subscripts(code, use) for use in uses), default=0)
        called = any(re.match(r"\s*\(", code[use:]) for use in uses)
        element = "int" if name in whole else "double"
        size = EXTENTS.get(rank, FEWEST)
        yield f"{element} {name}{'()' if called else f'[{size}]' * rank};\n"


def subscripts(code: str, position: int) -> int:
    """How many pairs of brackets follow."""
    count = 0
    while (match := re.match(r"\s*\[", code[position:])) is not None:
        position = closing(code, position + match.end() - 1, "[]")
        count += 1
    return count


def closing(code: str, position: int, pair: str) -> int:
    """The offset after the bracket that closes the one at `position`."""
    depth = 0
    for offset in range(position, len(code)):
        depth += (code[offset] == pair[0]) - (code[offset] == pair[1])
        if depth == 0:
            return offset + 1
    return len(code)


def integers(code: str) -> set[str]:
    """Names in subscripts, in heads of loops and in conditions on counters."""
    pieces = [code[m.start() : closing(code, m.start(), "[]")] for m in re.finditer(r"\[", code)]
    pieces += [code[m.end() - 1 : closing(code, m.end() - 1, "()")] for m in re.finditer(r"\b(?:for|if)\s*\(", code)]
    return {name for piece in pieces for name in _NAME.findall(piece)}
