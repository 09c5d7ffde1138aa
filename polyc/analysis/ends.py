"""The ends of intervals (`sets/intervals.py`): sums of sizes and quarters, and products that the text computes."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import ceil, floor

from polyc.analysis.expressions.constants import literal_value
from polyc.analysis.expressions.linear import Linear
from polyc.model import ctree as c
from polyc.model.scop import CType
from polyc.records import dataclass, replace

QUARTERS = 4
"""Forms are multiples of a quarter: each stands for four times its value."""
MOST_FORMS = 4
"""At each end of an interval."""
FAR = QUARTERS << 20
"""No larger constant is followed."""
NEXT = QUARTERS << 10
"""No larger constant is added to what the text computes."""
Ends = tuple[Linear, ...] | None
ZERO = (Linear((), 0),)


@dataclass(frozen=True, slots=True)
class Interval:
    """Between the least of some forms and the greatest of some others; None where nothing is known."""

    low: Ends = None
    high: Ends = None
    single: bool = False
    """Whether it was computed in single precision."""
    double: bool = False
    asked: frozenset[c.Expr] = frozenset()
    """What has to hold of numbers that the region does not change."""
    weight: int = 1
    """How many sizes were added up, at most, on the way."""

    def with_precision(self, *others: Interval | CType | None) -> Interval:
        single, double, asked = self.single, self.double, self.asked
        forms = (*(self.low or ()), *(self.high or ()))
        weight = max([self.weight, *(sum(abs(k) for _, k in form.terms) // QUARTERS for form in forms)])
        for one in others:
            if isinstance(one, Interval):
                single, double, asked = single or one.single, double or one.double, asked | one.asked
                weight = max(weight, one.weight)
            elif one is not None and one.kind == "float":
                single, double = single or one.size_bytes < 8, double or one.size_bytes >= 8
        return replace(self, single=single, double=double, asked=asked, weight=weight)

    def within(self, other: Interval) -> Interval:
        """What lies in both."""
        found = Interval(nearer(self.low, other.low, False), nearer(self.high, other.high, True))
        return found.with_precision(self, other)

    def joined(self, other: Interval) -> Interval:
        """What lies in one of both."""
        found = Interval(either(self.low, other.low, True), either(self.high, other.high, False))
        return found.with_precision(self, other)


UNKNOWN = Interval()


def either(one: Ends, other: Ends, least: bool) -> Ends:
    """The least or the greatest of all."""
    return None if one is None or other is None else few((*one, *other), least)


def few(forms: Iterable[Linear], least: bool) -> Ends:
    """Some forms, of which one is the least or the greatest, without those that never are."""
    found: dict[tuple[tuple[c.Expr, int], ...], int] = {}
    for form in forms:
        known = found.setdefault(form.terms, form.constant)
        found[form.terms] = min(known, form.constant) if least else max(known, form.constant)
    return tuple(Linear(terms, value) for terms, value in found.items()) if len(found) <= MOST_FORMS else None


def plain(value: int) -> Interval:
    """A whole number."""
    form = Linear((), QUARTERS * value)
    return Interval((form,), (form,)) if abs(form.constant) <= FAR else UNKNOWN


def as_fraction(text: str) -> Fraction | None:
    """A number as it is written; None for hexadecimal fractions."""
    whole = literal_value(text)
    digits = text.lower().rstrip("fl")
    return Fraction(whole) if whole is not None else None if "x" in digits else Fraction(digits)


def exact(*factors: Fraction | None) -> Interval:
    """A product of numbers, rounded outwards to quarters."""
    value = Fraction(1)
    for factor in factors:
        if factor is None:
            return UNKNOWN
        value *= factor
    low, high = floor(value * QUARTERS), ceil(value * QUARTERS)
    return UNKNOWN if max(-low, high) > FAR else Interval((Linear((), low),), (Linear((), high),))


def mapped(ends: Ends, *parts: tuple[int, Ends]) -> Ends:
    """`ends + factor * other` for each of some ends."""
    for factor, others in parts:
        if ends is None or others is None:
            return None
        ends = tuple(dict.fromkeys(one.plus(other, factor) for one in ends for other in others))
        if len(ends) > MOST_FORMS or any(abs(one.constant) > FAR for one in ends):
            return None
    return ends


def whole_form(form: Linear, up: bool) -> Linear:
    """The form rounded to a whole number."""
    number = -(-form.constant // QUARTERS) if up else form.constant // QUARTERS
    return Linear(form.terms, QUARTERS * number)


def rounded(ends: Ends, up: bool) -> Ends:
    """Ends rounded to whole numbers; None where they are none of sizes."""
    if ends is None or any(factor % QUARTERS or is_real(term) for one in ends for term, factor in one.terms):
        return None
    return tuple(dict.fromkeys(whole_form(one, up) for one in ends))


def is_real(term: c.Expr) -> bool:
    """Whether a term is one of those that the text computes."""
    return isinstance(term, c.Binary)


def as_c(form: Linear, single: bool) -> c.Expr:
    """A form as a floating number."""
    found: c.Expr | None = None
    for term, factor in form.terms:
        value = term if factor == QUARTERS else c.Binary("*", c.Literal(str(factor // QUARTERS)), term)
        found = value if found is None else c.Binary("+", found, value)
    number = c.Literal(f"{abs(form.constant) / QUARTERS}{'f' if single else ''}")
    if found is None:
        return number if form.constant >= 0 else c.Unary("-", number)
    return c.Binary("+" if form.constant > 0 else "-", found, number) if form.constant else found


def as_wholes(ends: Ends, sign: int, single: bool) -> Ends:
    """What the text computes as whole numbers, a quarter further out."""
    if ends is None:
        return None
    found: list[Linear] = []
    for form in ends:
        if any(is_real(term) for term, _ in form.terms):
            if len(form.terms) > 1 or abs(form.constant) > NEXT:
                return None
            value = c.Cast("int", as_c(Linear(form.terms, form.constant + sign), single))
            found.append(Linear(((value, QUARTERS),), 0))
        else:
            found.append(form)
    return tuple(dict.fromkeys(found))


def truncated(value: Interval) -> Interval:
    """What a conversion to a whole number makes of it, towards 0.

    math: floor(x) <= trunc(x) <= max(floor(x), 0)
    """
    value = replace(value, low=as_wholes(value.low, -1, value.single), high=as_wholes(value.high, 1, value.single))
    low, high = rounded(value.low, False), rounded(value.high, False)
    if low is not None and all(not one.terms and one.constant < 0 for one in low):
        low = rounded(value.low, True)
    above = high is not None and all(not one.terms and one.constant >= 0 for one in high)
    whole = value.high is not None and all(one.constant % QUARTERS == 0 for one in value.high)
    if high is not None and not (above or whole):
        high = either(high, ZERO, False)
    return replace(value, low=low, high=high)


def is_exact(value: Interval) -> bool:
    """Whether it is one number, and so no NaN."""
    return value.low is not None and value.low == value.high and len(value.low) == 1


def nearer(known: Ends, found: Ends, least: bool) -> Ends:
    """The least or the greatest one of two ends, where they can be compared; else what was found last, but for what the
    text would have to compute."""
    if known is None or found is None:
        return known if found is None else found
    if len(known) == len(found) == 1 and known[0].terms == found[0].terms:
        return known if (known[0].constant < found[0].constant) == least else found
    sizes = [all(isinstance(t, c.Name | c.Member) for form in one for t, _ in form.terms) for one in (known, found)]
    return known if sizes == [True, False] else found
