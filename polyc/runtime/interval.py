"""Ranges of integer expressions, to know that a random index stays inside its array."""

from __future__ import annotations

from collections.abc import Mapping

from polyc.model import ctree as c
from polyc.records import dataclass


@dataclass(frozen=True, slots=True)
class Interval:
    """All integers from `low` to `high`; None is no bound."""

    low: int | None = None
    high: int | None = None

    @staticmethod
    def of(value: int) -> Interval:
        return Interval(value, value)

    @property
    def exact(self) -> int | None:
        return self.low if self.low == self.high else None

    def join(self, other: Interval) -> Interval:
        low = None if self.low is None or other.low is None else min(self.low, other.low)
        high = None if self.high is None or other.high is None else max(self.high, other.high)
        return Interval(low, high)

    def __add__(self, other: Interval) -> Interval:
        low = None if self.low is None or other.low is None else self.low + other.low
        high = None if self.high is None or other.high is None else self.high + other.high
        return Interval(low, high)

    def __neg__(self) -> Interval:
        return Interval(None if self.high is None else -self.high, None if self.low is None else -self.low)

    def __mul__(self, other: Interval) -> Interval:
        if self.low is None or self.high is None or other.low is None or other.high is None:
            bounded_below = self.low is not None and other.low is not None and self.low >= 0 and other.low >= 0
            return Interval(0) if bounded_below else ANY
        ends = [x * y for x in (self.low, self.high) for y in (other.low, other.high)]
        return Interval(min(ends), max(ends))

    def divided(self, by: int) -> Interval:
        """C's division by a positive number: towards zero."""
        low = None if self.low is None else towards_zero(self.low, by)
        return Interval(low, None if self.high is None else towards_zero(self.high, by))

    def remainder(self, by: int) -> Interval:
        """C's remainder by a positive number."""
        positive = self.low is not None and self.low >= 0
        if positive and self.high is not None and self.high < by:
            return self
        return Interval(0 if positive else 1 - by, by - 1)


ANY = Interval()
TRUTH = Interval(0, 1)
LIMITS = {
    "_Bool": TRUTH,
    "char": Interval(-128, 127),
    "signed char": Interval(-128, 127),
    "unsigned char": Interval(0, 255),
    "short": Interval(-32768, 32767),
    "unsigned short": Interval(0, 65535),
}
WIDE = {"int", "long", "long int", "long long", "size_t", "ptrdiff_t", "int32_t", "int64_t", "long long int"}


def towards_zero(value: int, by: int) -> int:
    return value // by if value >= 0 else -(-value // by)


@dataclass(frozen=True, slots=True)
class Ranges:
    """What is known while an expression is looked at."""

    names: Mapping[str, Interval]
    """Loop variables and parameters."""
    contents: Mapping[str, Interval]
    """The elements of integer arrays, and integer scalars."""

    def of(self, expr: c.Expr) -> Interval:
        """A range that holds every value of the expression."""
        match expr:
            case c.Literal(text=text):
                return literal(text)
            case c.Name(name=name):
                return self.names.get(name, ANY)
            case c.ArrayRef(array=array):
                return self.contents.get(array, ANY)
            case c.Unary(op="-", operand=operand):
                return -self.of(operand)
            case c.Unary(op="+", operand=operand):
                return self.of(operand)
            case c.Unary(op="!"):
                return TRUTH
            case c.Binary(op=op, left=left, right=right):
                return self.binary(op, self.of(left), self.of(right))
            case c.Ternary(then=then, otherwise=otherwise):
                return self.of(then).join(self.of(otherwise))
            case c.Cast(type=text, operand=operand):
                return cast(text, self.of(operand))
            case c.Assign(op="=", value=value):
                return self.of(value)
            case c.Call(function="abs" | "labs", arguments=(inner,)):
                found = self.of(inner)
                return found.join(-found).join(Interval.of(0)) if found.low is None or found.low < 0 else found
            case _:
                return ANY

    def binary(self, op: str, left: Interval, right: Interval) -> Interval:
        match op:
            case "+":
                return left + right
            case "-":
                return left + -right
            case "*":
                return left * right
            case "/" if right.exact is not None and right.exact > 0:
                return left.divided(right.exact)
            case "%" if right.exact is not None and right.exact > 0:
                return left.remainder(right.exact)
            case "&" if right.low is not None and right.low >= 0:
                return Interval(0, right.high)
            case "<<" if right.exact is not None and 0 <= right.exact < 63:
                return left * Interval.of(1 << right.exact)
            case ">>" if right.exact is not None and 0 <= right.exact < 63 and (left.low or -1) >= 0:
                return left.divided(1 << right.exact)
            case "<" | "<=" | ">" | ">=" | "==" | "!=" | "&&" | "||":
                return TRUTH
            case _:
                return ANY


def literal(text: str) -> Interval:
    try:
        digits = text.rstrip("uUlL")
        return Interval.of(int(digits, 8) if digits[:1] == "0" and digits.isdigit() else int(digits, 0))
    except ValueError:
        return ANY


def cast(text: str, inner: Interval) -> Interval:
    """A conversion keeps what fits; a narrow type bounds what does not."""
    limits = LIMITS.get(text)
    if limits is None:
        return inner if text in WIDE else Interval(0) if text.startswith("unsigned") else ANY
    assert limits.low is not None
    assert limits.high is not None
    fits = inner.low is not None and inner.high is not None
    return inner if fits and limits.low <= (inner.low or 0) and (inner.high or 0) <= limits.high else limits
