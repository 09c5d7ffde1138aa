"""Statement expressions of GNU C that only give their operands names, as the expressions that they are.

rewrite:  ({ typeof(a) x = (a); typeof(b) y = (b); (void)(&x == &y); x < y ? x : y; })  ->  ((a) < (b) ? (a) : (b))
requires: each name has the type of what it is given; nothing in that has an effect, since it is computed several times
ensures:  the text is as long as before
"""

from __future__ import annotations

import re

from polyc.frontend.text.chunks import close_paren

_OPEN = re.compile(r"(?:__extension__\s*)?\(\s*\{")
_NAMED = re.compile(r"(?:const\s+)?(?:(?:__typeof__|__typeof|typeof)\s*(?=\()|__auto_type\b)")
_GIVEN = re.compile(r"\s*(?:const\s+)?([A-Za-z_]\w*)\s*=(?!=)\s*")
_SAME_TYPE = re.compile(r"\(\s*void\s*\)\s*\(\s*&\s*\w+\s*==\s*&\s*\w+\s*\)")
_EFFECT = re.compile(r"\+\+|--|(?<![=<>!])=(?!=)|[A-Za-z_]\w*\s*\(|\{|\"|'|&\s*[A-Za-z_]")


def with_plain_extrema(text: str) -> str:
    """The text with such expressions in the place of the statements; the inner ones first."""
    if "typeof" not in text and "__auto_type" not in text:
        return text
    for start in reversed(list(_OPEN.finditer(text))):
        first = text.index("(", start.start())
        end = close_paren(text, first)
        found = _expression(text[start.end() : end - 1].rstrip())
        if found is not None and len(found) <= end - start.start() and "\n" not in text[start.start() : end]:
            text = text[: start.start()] + found.ljust(end - start.start()) + text[end:]
    return text


def _expression(block: str) -> str | None:
    """The value of a block, `… }`; None where it is another one."""
    if not block.endswith("}"):
        return None
    *declared, value, rest = [part.strip() for part in _statements(block[:-1])] or [""]
    if rest or not declared:
        return None
    names: dict[str, str] = {}
    for item in declared:
        if _SAME_TYPE.fullmatch(item):
            continue
        kind = _NAMED.match(item)
        if kind is None:
            return None
        stop = kind.end() if item[kind.end() :][:1] != "(" else close_paren(item, kind.end())
        given = _GIVEN.match(item, stop)
        if given is None or given[1] in names:
            return None
        init, told = item[given.end() :].strip(), item[kind.end() : stop]
        if _EFFECT.search(init) or (told and _bare(told) != _bare(init)):
            return None
        names[given[1]] = _put(init, names)
    if not names or _EFFECT.search(value):
        return None
    return f"({_put(value, names)})"


def _put(text: str, names: dict[str, str]) -> str:
    return re.sub(
        r"(?<![\w.])(?<!->)[A-Za-z_]\w*",
        lambda word: f"({_bare(names[word[0]])})" if word[0] in names else word[0],
        text,
    )


def _bare(text: str) -> str:
    """The text without parentheses around all of it."""
    text = text.strip()
    while text.startswith("(") and close_paren(text, 0) == len(text):
        text = text[1:-1].strip()
    return text


def _statements(block: str) -> list[str]:
    """What stands between the semicolons of a block, but for those in parentheses."""
    found, depth, last = [], 0, 0
    for place, sign in enumerate(block):
        depth += (sign in "({[") - (sign in ")}]")
        if sign == ";" and not depth:
            found.append(block[last:place])
            last = place + 1
    return [*found, block[last:]]
