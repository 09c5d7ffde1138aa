"""Subscripts as the user wrote them, where that says more shortly what isl says."""

from __future__ import annotations

from collections.abc import Mapping, Set

from polyc.analysis.expressions.facts import constant
from polyc.model import ctree as c
from polyc.model.scop import CType

BITS = ("&", ">>")
_CHOOSE = (*c.COMPARISONS, "&&", "||")


def as_written(
    written: c.Expr,
    printed: c.Expr,
    values: Mapping[str, c.Expr],
    types: Mapping[str, CType],
    spelled: Mapping[c.Expr, str],
) -> tuple[c.Expr, dict[c.Expr, str]]:
    """A subscript in the shorter one of two forms, and what stands in it for names of the user's.

    isl makes `(i + 1) / 2 - 1` of `i / 2` where i is odd, and a choice of its own for each sum of a choice. Remainders
    are better as choices, `i == n - 1 ? 0 : i + 1`, but by powers of two, and where the choice is one of remainders.

    printed: the form that isl has; values: what stands for the statement's loops; types: those of loops and sizes;
    spelled: what has a name, which is the shorter form of it
    """
    parts = list(c.walk(written))
    remainders = [constant(part.right) for part in parts if isinstance(part, c.Binary) and part.op == "%"]
    choices = [part for part in c.walk(printed) if isinstance(part, c.Ternary)]
    if remainders:
        masks = all(size is not None and size.bit_count() == 1 for size in remainders)
        divided = any(isinstance(part, c.Binary) and part.op == "%" for choice in choices for part in c.walk(choice))
        if not (choices and (masks or divided)):
            return printed, {}
    if len(choices) < sum(isinstance(part, c.Ternary) for part in parts):  # isl knows more of them here
        return printed, {printed: spelled[written]} if choices and written in spelled else {}
    bits = any(isinstance(part, c.Binary) and part.op in BITS for part in parts)
    if not bits and not any(isinstance(part, c.Ternary) or _is_quotient(part) for part in parts):
        return printed, {}
    found = in_loops(written, values, types)
    if found is None:
        return printed, {}
    named = (part for part in parts if isinstance(part, c.Ternary) and part in spelled)
    names: dict[c.Expr, str] = {_with(part, values): spelled[part] for part in named}
    shorter = _length(found, names.keys()) < _length(printed, frozenset()) + bits
    return (found, names) if shorter else (printed, {})


def in_loops(written: c.Expr, values: Mapping[str, c.Expr], types: Mapping[str, CType]) -> c.Expr | None:
    """An expression with the values of loops, in 64 bits, in their places; None where its value may be another one."""
    return _with(written, values) if all(_is_known(part, values, types) for part in c.walk(written)) else None


def _with(written: c.Expr, values: Mapping[str, c.Expr]) -> c.Expr:
    """An expression with values in the places of names, and numbers in those of what they make: `x & (256 - 1)`."""

    def change(node: c.Node) -> c.Node | None:
        match node:
            case c.Name(name=name):
                return values.get(name)
            case c.Binary() if (number := constant(node)) is not None and number >= 0:
                return c.Literal(str(number))
        return None

    return c.rewrite(written, change)


def _is_quotient(part: c.Node) -> bool:
    return isinstance(part, c.Binary) and part.op in "/%"


def _length(expr: c.Node, names: Set[c.Node]) -> int:
    """How many operands and operations an expression has, with names for some of its parts."""
    return 1 if expr in names else 1 + sum(_length(part, names) for part in c.children(expr))


def _is_known(part: c.Node, values: Mapping[str, c.Expr], types: Mapping[str, CType]) -> bool:
    """Whether a part of a subscript has the same value with the values of loops in 64 bits."""
    match part:
        case c.Name(name=name):  # unsigned ones may wrap
            return name in types and types[name].signed and _is_sum(values.get(name, part))
        case c.Binary(op="/" | "%" | "&" | ">>", right=right):  # a quotient of sizes is a parameter
            return constant(right) is not None
        case c.Binary(op="*", left=left, right=right):
            return isinstance(left, c.Literal) or isinstance(right, c.Literal)
        case c.Binary(op=op):
            return op in ("+", "-") or op in _CHOOSE
        case c.Literal(text=text):
            return "u" not in text.lower()
    return isinstance(part, c.Ternary)


def _is_sum(value: c.Expr) -> bool:
    terms = (part for part in c.walk(value) if not isinstance(part, c.Name | c.Literal))
    return all(isinstance(part, c.Binary) and part.op in ("+", "-") for part in terms)


__all__ = ["as_written", "in_loops"]
