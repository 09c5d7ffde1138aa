"""Sums and products of whole numbers, as short as they can be written."""

from __future__ import annotations

from polyc.codegen.exprs import MAX
from polyc.model import ctree as c


def in_64_bits(value: c.Expr, sizes: set[str]) -> c.Expr:
    """A subscript in 64 bits: loop variables have them already, sizes need not."""
    match value:
        case c.Literal(text=text) if text.isdigit():
            return c.Literal(text if text == "0" else f"{text}L")
        case c.Name(name=name) | c.Binary(op="+" | "-", left=c.Name(name=name)) if name not in sizes:
            return value
        case _:
            return c.Cast("long", value)


def divided(value: c.Expr, count: c.Expr) -> c.Expr:
    return value if count == c.Literal("1") else c.Binary("/", value, count)


def product(left: c.Expr, right: c.Expr) -> c.Expr:
    return left if left == c.Literal("0") else c.Binary("*", left, right)


def plus(left: c.Expr, right: c.Expr) -> c.Expr:
    if left == c.Literal("0"):
        return right
    return left if right == c.Literal("0") else c.Binary("+", left, right)


def times(factor: int, value: c.Expr) -> c.Expr:
    if factor == 1:
        return value
    if isinstance(value, c.Literal):
        return c.Literal(str(factor * int(value.text)))
    return c.Binary("*", c.Literal(str(factor)), value)


def trips_of(start: c.Expr, end: c.Expr, step: int) -> c.Expr:
    """How many values there are from `start` below `end` in steps."""
    width = end if start == c.Literal("0") else c.Binary("-", c.Cast("long", end), start)
    if isinstance(width, c.Literal):
        return c.Literal(str(max(0, -(-int(width.text.rstrip("L")) // step))))
    if step == 1:
        return width
    return c.Binary("/", c.Binary("+", width, c.Literal(f"{step - 1}L")), c.Literal(str(step)))


def most_of(counts: list[c.Expr]) -> c.Expr:
    found = list(dict.fromkeys(counts))
    answer = found[0]
    for other in found[1:]:
        answer = c.Call(MAX, (answer, other))
    return answer
