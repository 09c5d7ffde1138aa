"""Integer expressions of a C tree as sums, so that two of them can be compared term by term."""

from __future__ import annotations

import re
from collections.abc import Collection

from polyc.model import ctree as c
from polyc.records import dataclass

_NUMBER = re.compile(r"-?\d+[lL]?")


@dataclass(frozen=True, slots=True)
class Linear:
    """`sum of factor * term + constant`, without terms whose factor is 0."""

    terms: tuple[tuple[c.Expr, int], ...]
    constant: int

    def factor(self, name: str) -> int:
        """Of a variable."""
        return dict(self.terms).get(c.Name(name), 0)

    def mentions(self, name: str) -> bool:
        """Whether a variable is anywhere in it, as a term or inside of one."""
        return any(n == c.Name(name) for term, _ in self.terms for n in c.walk(term))

    def plus(self, other: Linear, times: int = 1) -> Linear:
        """`self + times * other`."""
        found = dict(self.terms)
        for term, factor in other.terms:
            found[term] = found.get(term, 0) + times * factor
        left = tuple((term, factor) for term, factor in found.items() if factor)
        return Linear(left, self.constant + times * other.constant)

    def is_same(self, other: Linear) -> bool:
        """Whether both are the same number, whatever the terms are."""
        return self.plus(other, -1) == Linear((), 0)

    def expr(self, wide: Collection[str] = ()) -> c.Expr:
        """As C; `wide`: variables that have 64 bits, all others are multiplied as such."""
        found: c.Expr | None = None
        for term, factor in sorted(self.terms, key=lambda pair: pair[1] < 0):
            value, size = term, abs(factor)
            if size != 1:
                long = isinstance(term, c.Name) and term.name in wide
                value = c.Binary("*", c.Literal(f"{size}" if long else f"{size}L"), term)
            if found is None:
                found = value if factor > 0 else c.Unary("-", value)
            else:
                found = c.Binary("+" if factor > 0 else "-", found, value)
        if found is None or self.constant:
            number = c.Literal(str(abs(self.constant)))
            if found is None:
                return number if self.constant >= 0 else c.Unary("-", number)
            return c.Binary("+" if self.constant > 0 else "-", found, number)
        return found


def linear(expr: c.Expr) -> Linear:
    """The expression as a sum; what is none is a term of its own."""
    match expr:
        case c.Literal(text=text) if _NUMBER.fullmatch(text):
            return Linear((), int(text.rstrip("lL")))
        case c.Unary(op="-", operand=operand):
            return Linear((), 0).plus(linear(operand), -1)
        case c.Binary(op="+" | "-" as op, left=left, right=right):
            return linear(left).plus(linear(right), 1 if op == "+" else -1)
        case c.Binary(op="*", left=left, right=right):
            one, other = linear(left), linear(right)
            if not one.terms:
                return Linear((), 0).plus(other, one.constant)
            if not other.terms:
                return Linear((), 0).plus(one, other.constant)
    return Linear(((expr, 1),), 0)


def with_value(expr: c.Expr, name: str, value: c.Expr) -> c.Expr:
    """The expression where a variable has a value."""
    return c.rewrite(expr, lambda node: value if node == c.Name(name) else None)
