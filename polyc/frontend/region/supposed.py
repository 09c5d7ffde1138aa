"""Which factors and steps a region is modelled for, where nobody knows their values: `x * stride`."""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl

from polyc.frontend.idioms.factors import Factor
from polyc.model import ctree as c
from polyc.model.scop import Scop
from polyc.records import replace

MOST_GUESSED = 3
"""Factors of which nobody knows a value, beyond which none is guessed."""
MOST_VERSIONS = 3
"""Sets of values that the calls of a file pass, beyond which a region is not modelled for each of them."""
NOT_TINY = 2
ORIGINAL = "others run the original code"


def with_general(scop: Scop, general: Scop) -> Scop:
    """The model for some values of its factors, with that for others or for all; its notes say that they are two."""
    scop = replace(scop, general=general)
    if scop.has_versions and not general.supposed:
        return scop
    others = "others run what is made for " + ("them" if general.supposed else "all of them")
    notes = [replace(note, message=note.message.replace(ORIGINAL, others)) for note in scop.notes]
    return replace(scop, notes=tuple(notes))


def not_affine(scop: Scop) -> int:
    """How much of a model is not affine."""
    return sum(note.code.startswith("non-affine") for note in scop.notes)


def versions(factors: dict[c.Expr, Factor]) -> list[dict[c.Expr, Factor]]:
    """Which factors to take for numbers, for each set of values that calls of the file pass; where there are too many
    sets, those that bound loops stay what they are."""
    known = {expr: factor for expr, factor in factors.items() if factor.value is not None}
    passed = {expr: factor for expr, factor in factors.items() if factor.calls}
    for chosen in (passed, {expr: factor for expr, factor in passed.items() if not factor.taps}):
        sets = dict.fromkeys(zip(*(factor.calls for factor in chosen.values()), strict=True)) if chosen else {(): None}
        if len(sets) <= MOST_VERSIONS and (known or chosen):
            return [
                known | {e: replace(f, value=v) for (e, f), v in zip(chosen.items(), one, strict=True)} for one in sets
            ]
    return []


def never_holds(scop: Scop | None, version: dict[c.Expr, Factor]) -> bool:
    """Whether the guard of a model refuses the sizes that a call of the file passes, where the others are not tiny: it
    takes a stride for the length of a row."""
    if scop is None:
        return False
    always = {one.name: one.value for one in scop.always}
    guard = scop.guard
    for parameter in scop.parameters:
        factor = version.get(parameter.expr)
        value = factor.value if factor is not None else None
        if value is None and isinstance(parameter.expr, c.Name):
            value = always.get(parameter.expr.name)
        place = guard.find_dim_by_name(isl.dim_type.param, parameter.name)
        if place < 0:
            continue
        if value is None and isinstance(parameter.expr, c.Name):
            guard = guard.lower_bound_val(isl.dim_type.param, place, isl.Val.int_from_si(guard.get_ctx(), NOT_TINY))
        elif value is not None:
            guard = guard.fix_val(isl.dim_type.param, place, isl.Val.int_from_si(guard.get_ctx(), value))
    return bool(guard.is_empty())


def choices(factors: dict[c.Expr, Factor]) -> Iterator[dict[c.Expr, Factor]]:
    """Which factors to take for 1 beside those that are known, one set after the other: one more, or all of them; only
    such that what is written says to be no lengths of rows."""
    known = {expr: factor for expr, factor in factors.items() if factor.value is not None}
    guessed = {expr: factor for expr, factor in factors.items() if factor.value is None and factor.strides}
    if len(guessed) > MOST_GUESSED:
        return
    for expr, factor in guessed.items():
        yield known | {expr: factor}
    if len(guessed) > 1:
        yield known | guessed
