"""Which factors and steps a region is modelled for, where nobody knows their values: `x * stride`."""

from __future__ import annotations

from collections.abc import Iterator

from polyc.frontend.idioms.factors import Factor
from polyc.model import ctree as c
from polyc.model.scop import Scop
from polyc.records import replace

MOST_GUESSED = 3
"""Factors of which nobody knows a value, beyond which none is guessed."""
ORIGINAL = "others run the original code"


def with_general(scop: Scop, general: Scop) -> Scop:
    """The model for some values of its factors, with that for all; its notes say that they are two."""
    notes = [
        replace(note, message=note.message.replace(ORIGINAL, "others run what is made for all of them"))
        for note in scop.notes
    ]
    return replace(scop, general=general, notes=tuple(notes))


def not_affine(scop: Scop) -> int:
    """How much of a model is not affine."""
    return sum(note.code.startswith("non-affine") for note in scop.notes)


def choices(factors: dict[c.Expr, Factor]) -> Iterator[dict[c.Expr, Factor]]:
    """Which factors to take for numbers, one set after the other: those that are known, one more, or all of them; of
    others only such that what is written says to be no lengths of rows."""
    known = {expr: factor for expr, factor in factors.items() if factor.value is not None}
    guessed = {expr: factor for expr, factor in factors.items() if factor.value is None and factor.strides}
    if known:
        yield known
    if len(guessed) > MOST_GUESSED:
        return
    for expr, factor in guessed.items():
        yield known | {expr: factor}
    if len(guessed) > 1:
        yield known | guessed
