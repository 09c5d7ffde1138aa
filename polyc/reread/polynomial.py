"""Whole-number expressions as polynomials: two subscripts are the same number whatever the way they are written."""

from __future__ import annotations

from collections.abc import Mapping

from polyc.analysis.expressions.reader import MOST_WHOLE
from polyc.model import ctree as c
from polyc.reread.literal import Form, expression_form

Monomial = tuple[Form, ...]
Polynomial = Mapping[Monomial, int]
"""Products of what is no sum or product, sorted, each with its coefficient, which is not 0."""


def polynomial(expr: c.Expr) -> Polynomial:
    """The polynomial of an expression; what is no sum or product of others stands for itself."""
    match expr:
        case c.Literal(text=text) if text.rstrip("uUlL").removeprefix("-").isdigit():  # codegen makes `-1L`
            return _kept({(): int(text.rstrip("uUlL"))})
        case c.Cast(type=kind, operand=operand) if set(kind.split()) <= MOST_WHOLE:
            return polynomial(operand)
        case c.Unary(op="-", operand=operand):
            return times(polynomial(operand), {(): -1})
        case c.Unary(op="+", operand=operand):
            return polynomial(operand)
        case c.Binary(op="+", left=left, right=right):
            return plus(polynomial(left), polynomial(right))
        case c.Binary(op="-", left=left, right=right):
            return plus(polynomial(left), times(polynomial(right), {(): -1}))
        case c.Binary(op="*", left=left, right=right):
            return times(polynomial(left), polynomial(right))
    return {(expression_form(expr),): 1}


def plus(one: Polynomial, other: Polynomial) -> Polynomial:
    """The sum."""
    return _kept({m: one.get(m, 0) + other.get(m, 0) for m in [*one, *other]})


def times(one: Polynomial, other: Polynomial) -> Polynomial:
    """The product."""
    found: dict[Monomial, int] = {}
    for a, x in one.items():
        for b, y in other.items():
            both = tuple(sorted((*a, *b), key=repr))
            found[both] = found.get(both, 0) + x * y
    return _kept(found)


def _kept(terms: Mapping[Monomial, int]) -> Polynomial:
    return {m: k for m, k in terms.items() if k}
