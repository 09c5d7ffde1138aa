"""Which strides a flat array has: the factors of what varies in its subscripts."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from math import gcd

from polyc.frontend.sets.atoms import Atoms
from polyc.frontend.sets.polynomial import ONE, Poly, divided, is_number, lead, multiplied, primitive

Key = tuple[tuple[tuple[int, ...], int], ...]
"""A polynomial that can be counted."""

APART = 8
"""A number of at least so many times the next smaller one may be the length of a row: `64` of `a[i * 64 + 2 * j]`."""
LONG = 32
"""Shorter rows of a constant length are not asked for by a guard."""


def strides_of(polys: list[Poly], atoms: Atoms, whole: bool = False) -> tuple[Poly, ...] | None:
    """Strides from the factors of what varies in an array's subscripts, the last 1; None where nothing is among them
    that may be one.

    Of several factors of one degree, such as C and C + 1 of `a[i * C + i]`, that which most references have counts; but
    two sizes that have nothing in common, as in `a[z * S2 + y * S1 + x]`, are two strides, in the order in which they
    are written.

    whole: rows of three parts are rows, as in `a[y * 3 * w + x]` for x < 3 * w; else of `a[2 * y * w + x]` each second
           row is one
    """
    counts: Counter[Key] = Counter()
    together: set[tuple[Key, Key]] = set()
    shared: dict[Key, int] = {}
    """What divides the coefficients of all factors that are such a one but for a number."""
    contents: list[int] = []
    plain: set[int] = set()
    for poly in polys:
        mine: list[Key] = []
        for variable, factor in atoms.factors(poly).items():
            contents += [value for monomial, value in factor.items() if monomial]
            if is_number(factor):
                plain |= {abs(value) for value in factor.values() if variable}
            elif variable:
                mine.append(tuple(sorted(primitive(factor).items())))
                shared[mine[-1]] = gcd(shared.get(mine[-1], 0), *factor.values())
        counts.update(mine)
        together |= {(first, second) for n, first in enumerate(mine) for second in mine[n + 1 :]}
    if atoms.products or whole:  # rows of three parts, `3 * (NH * hs)`, of which subscripts add one or two
        rows = {key: key_of(multiplied({(): number}, dict(key))) for key, number in shared.items()}
        counts = Counter({rows[key]: count for key, count in counts.items()})
        together = {(rows[first], rows[second]) for first, second in together}
    numbers = number_strides(polys, atoms, whole)
    if not counts:
        return tuple({(): value} for value in (*numbers, 1)) if numbers else None
    unit = max((step for step in plain if gcd(*contents) % step == 0), default=1)
    chain: list[Poly] = [ONE]
    if unit == 1:
        chain += [{(): value} for value in reversed(numbers) if value >= 2 * LONG]
    for factors in by_degree([(dict(key), count) for key, count in counts.items()]):
        chain += of_one_degree(factors, chain[-1], together)
    if unit > 1:  # `a[(i * C + j) * 3 + c]`
        return (*(multiplied({(): unit}, stride) for stride in reversed(chain)), ONE)
    return tuple(reversed(chain))


def by_degree(factors: list[tuple[Poly, int]]) -> list[list[Poly]]:
    """Factors of one degree together, the least degree first; of one degree the most frequent one first."""
    degrees = sorted({len(lead(factor)) for factor, _ in factors})
    ordered = sorted(factors, key=lambda pair: (-pair[1], sum(abs(v) for v in pair[0].values())))
    return [[factor for factor, _ in ordered if len(lead(factor)) == degree] for degree in degrees]


def of_one_degree(factors: list[Poly], inner: Poly, together: set[tuple[Key, Key]]) -> list[Poly]:
    """The strides among factors of one degree, the innermost first: one that is a multiple of the stride inside it,
    else the most frequent one; and those that stand beside it in a reference and have nothing in common with it."""
    fitting = [factor for factor in factors if divides(inner, factor)]
    found = fitting[:1] or (factors[:1] if is_simple(factors[0], inner) else [])
    for factor in factors:
        if found and all(is_simple(factor, other) and beside(factor, other, together) for other in found):
            place = sum((key_of(factor), key_of(other)) in together for other in found)
            found.insert(place, factor)
    return found


def is_simple(factor: Poly, other: Poly) -> bool:
    """Whether a stride is a sum of sizes, and none of them is in the other one."""
    atoms = {atom for monomial in factor for atom in monomial}
    return len(lead(factor)) == 1 and not atoms & {atom for monomial in other for atom in monomial}


def beside(first: Poly, second: Poly, together: set[tuple[Key, Key]]) -> bool:
    """Whether one reference has both factors, always in the same order."""
    one, other = key_of(first), key_of(second)
    return ((one, other) in together) != ((other, one) in together)


def key_of(poly: Poly) -> Key:
    return tuple(sorted(poly.items()))


def divides(part: Poly, whole: Poly) -> bool:
    return not divided(whole, part)[1]


def number_strides(polys: list[Poly], atoms: Atoms, whole: bool = False) -> list[int]:
    """Constant lengths of rows, the longest first: those factors of variables that are far above all smaller ones, of
    which some stand beside them; and multiples of such a row, `96` of `a[96 * k + 32 * r + c]`, where not `whole`."""
    rows: list[set[int]] = []
    for poly in polys:
        factors = [factor for variable, factor in atoms.factors(poly).items() if variable and is_number(factor)]
        rows.append({abs(factor[()]) for factor in factors})
    values = sorted(set().union(*rows))
    found: list[int] = []
    for small, value in pairwise(values):
        several = not whole and bool(found) and value % found[-1] == 0
        if (value >= APART * small or several) and any(min(row) < value <= max(row) for row in rows if row):
            found.append(value)
    return found[::-1]
