"""Polynomials with whole coefficients: linearised subscripts, before anything is known of their values.

A monomial is a sorted tuple of numbers of atoms (`i * C` is `(0, 1)`), the constant one is `()`. The monomials are in
graded lexicographic order, where an atom with a smaller number is larger.
"""

from __future__ import annotations

from math import gcd
from typing import TypeAlias

Monomial: TypeAlias = tuple[int, ...]
Poly: TypeAlias = dict[Monomial, int]

ONE: Poly = {(): 1}


def rank_of(monomial: Monomial) -> tuple[int, Monomial]:
    """The place of a monomial in the order."""
    return len(monomial), tuple(-atom for atom in monomial)


def lead(poly: Poly) -> Monomial:
    return max(poly, key=rank_of)


def added(first: Poly, second: Poly, factor: int = 1) -> Poly:
    """`first + factor * second`."""
    total = dict(first)
    for monomial, value in second.items():
        total[monomial] = total.get(monomial, 0) + factor * value
    return {monomial: value for monomial, value in total.items() if value}


def multiplied(first: Poly, second: Poly) -> Poly:
    total: Poly = {}
    for one, a in first.items():
        for other, b in second.items():
            monomial = tuple(sorted(one + other))
            total[monomial] = total.get(monomial, 0) + a * b
    return {monomial: value for monomial, value in total.items() if value}


def divided(poly: Poly, by: Poly) -> tuple[Poly, Poly]:
    """Quotient and remainder: `poly = quotient * by + remainder`.

    No monomial of the remainder is the leading one of `by` times another, but with a coefficient below that one's.
    source: Cox, Little, O'Shea, Ideals, Varieties, and Algorithms, Section 2.3, for one divisor
    """
    first = lead(by)
    quotient: Poly = {}
    rest: Poly = {}
    left = dict(poly)
    while left:
        monomial = lead(left)
        other = without(monomial, first)
        count = times_in(left[monomial], by[first], not monomial) if other is not None else 0
        if other is None or not count:
            rest[monomial] = left.pop(monomial)
            continue
        kept = left[monomial] - count * by[first]
        quotient[other] = quotient.get(other, 0) + count
        left = added(left, multiplied({other: 1}, by), -count)
        if kept:
            rest[monomial] = left.pop(monomial)
    return quotient, rest


def times_in(value: int, by: int, down: bool) -> int:
    """The quotient: of constants rounded down, of coefficients toward 0, so that `1023 - j` stays as it is."""
    return value // by if down or (value < 0) == (by < 0) else -(-value // by)


def without(monomial: Monomial, part: Monomial) -> Monomial | None:
    """The monomial divided by another; None where that does not divide it."""
    left = list(monomial)
    for atom in part:
        if atom not in left:
            return None
        left.remove(atom)
    return tuple(left)


def primitive(poly: Poly) -> Poly:
    """The polynomial without a common divisor of its coefficients, and with a positive lead."""
    content = gcd(*poly.values())
    sign = 1 if poly[lead(poly)] > 0 else -1
    return {monomial: value // (sign * content) for monomial, value in poly.items()}


def is_number(poly: Poly) -> bool:
    return all(not monomial for monomial in poly)
