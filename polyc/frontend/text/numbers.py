"""Numbers that macros give a region, and that another build of the file may change: `-DN=100`, or below `#ifdef`.

What is printed has them in the place of the macros.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping

_WORD = re.compile(r"\b[A-Za-z_]\w*")
_LINE = re.compile(r"^[ \t]*#[ \t]*(if|endif|define)\w*(?:[ \t]+(\w+))?", re.MULTILINE)
_SUFFIX = re.compile(r"(?<=\d)[uUlL]+\b")


def chosen_numbers(
    code: str, region: str, macros: Mapping[str, str], flags: Iterable[str]
) -> tuple[tuple[str, int], ...]:
    """The macros that a region's text needs of which another build may have another number, with their numbers.

    code: the user's file without comments; macros: what each is defined as; flags: the compiler's
    """
    given = {name[1] for flag in flags if (name := re.match(r"-D\s*(\w+)", flag))}
    open_to_others = given | _below_conditions(code)
    needed, left = set[str](), _WORD.findall(region)
    while left:
        name = left.pop()
        if name in macros and name not in needed:
            needed.add(name)
            left += _WORD.findall(macros[name])
    numbers = ((name, number_of(name, macros)) for name in sorted(needed & open_to_others))
    return tuple((name, number) for name, number in numbers if number is not None)


def _below_conditions(code: str) -> set[str]:
    """The macros that a file defines below `#if`."""
    depth, found = 0, set[str]()
    for directive, name in _LINE.findall(code):
        depth += {"if": 1, "endif": -1}.get(directive, 0)
        if directive == "define" and depth > 0:
            found.add(name)
    return found


def number_of(name: str, macros: Mapping[str, str]) -> int | None:
    """The whole number that a macro stands for; None for anything else."""

    def expanded(text: str, around: frozenset[str] = frozenset()) -> str:
        """A text with its macros in parentheses; as in C, none stands for something inside of itself."""

        def one(word: re.Match[str]) -> str:
            inside = word[0] in macros and word[0] not in around
            return f"({expanded(macros[word[0]], around | {word[0]})})" if inside else word[0]

        return _WORD.sub(one, text)

    try:
        return _value(ast.parse(_SUFFIX.sub("", expanded(name)).strip(), mode="eval").body)
    except (SyntaxError, ValueError, ZeroDivisionError):
        return None


def _value(node: ast.expr) -> int:
    """The value of a constant expression as C has it. Raises ValueError, ZeroDivisionError."""
    match node:
        case ast.Constant(value=int() as value) if not isinstance(value, bool):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand)
        case ast.BinOp(left=left, op=op, right=right):
            one, other = _value(left), _value(right)
            match op:
                case ast.Add():
                    return one + other
                case ast.Sub():
                    return one - other
                case ast.Mult():
                    return one * other
                case ast.Div() if one >= 0 and other > 0:
                    return one // other
    raise ValueError
