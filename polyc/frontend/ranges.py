"""Between which numbers an integer expression stays that depends on data: `k < 6 ? k : 6` is at most 6."""

from __future__ import annotations

from collections.abc import Callable

from polyc.frontend.facts import constant
from polyc.model import ctree as c

Bounds = tuple[int | None, int | None]
"""The least and the greatest value; None where nothing is known. No bound is negative: what an unsigned type makes of
negative numbers is not asked for."""
UNKNOWN: Bounds = (None, None)
LARGEST = 1 << 24
"""No larger bound is used: what is computed from such numbers fits every type from `int` up."""
MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def bounds_of(expr: c.Expr, known: Callable[[str], c.Expr | None]) -> Bounds:
    """The bounds of an expression's value, as a mathematical number.

    known: the only value that a variable of at least the size of `int` is ever given; None where it has others
    math:  of `a < b ? a : b` the value is at most b, whatever a is; a sum, product, quotient by a constant of numbers
           that are bounded on both sides is bounded. NaN is on the other side of each comparison, as is the branch
    """
    low, high = _bounds(expr, known)
    return (low if low is not None and 0 <= low <= LARGEST else None), (
        high if high is not None and 0 <= high <= LARGEST else None
    )


def _bounds(expr: c.Expr, known: Callable[[str], c.Expr | None]) -> Bounds:
    number = constant(expr)
    if number is not None:
        return number, number
    match expr:
        case c.Name(name=name):
            value = known(name)
            return UNKNOWN if value is None else _both(bounds_of(value, known))
        case c.Cast(type="int" | "long" | "unsigned" | "unsigned int" | "long long" | "size_t", operand=inner):
            return _both(bounds_of(inner, known))
        case c.Binary(op="+" | "*" as op, left=left, right=right):
            (a, b), (x, y) = _both(bounds_of(left, known)), _both(bounds_of(right, known))
            if a is None or b is None or x is None or y is None:
                return UNKNOWN
            return (a + x, b + y) if op == "+" else (a * x, b * y)
        case c.Ternary(condition=c.Binary(op="<" | "<=" | ">" | ">=" as op, left=left, right=right)):
            opposite = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}[op]
            first = _branch(expr.then, op, left, right, known)
            second = _branch(expr.otherwise, opposite, left, right, known)
            return _hull(first, second)
    return UNKNOWN


def _branch(expr: c.Expr, op: str, left: c.Expr, right: c.Expr, known: Callable[[str], c.Expr | None]) -> Bounds:
    """The bounds of an expression where `left op right`."""
    low, high = bounds_of(expr, known)
    for this, holds, other in ((left, op, right), (right, MIRRORED[op], left)):
        if this != expr:
            continue
        least, most = bounds_of(other, known)
        if holds in ("<", "<=") and most is not None:
            high = most if high is None else min(high, most)
        if holds in (">", ">=") and least is not None:
            low = least if low is None else max(low, least)
    return low, high


def _hull(first: Bounds, second: Bounds) -> Bounds:
    low = None if first[0] is None or second[0] is None else min(first[0], second[0])
    high = None if first[1] is None or second[1] is None else max(first[1], second[1])
    return low, high


def _both(bounds: Bounds) -> Bounds:
    """Bounds that survive a change of type: those of numbers that are small on both sides."""
    return bounds if None not in bounds else UNKNOWN
