"""The parameters for which a region is modelled: what is promised, supposed and assumed of them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

import islpy as isl

from polyc.analysis.dependences import accesses_of
from polyc.analysis.extents import elements
from polyc.errors import Diagnostic, Severity, Span, UserError
from polyc.frontend.c.state import EVERYTHING, Env, Region, number, variable
from polyc.frontend.idioms.factors import Factor
from polyc.frontend.idioms.rows import Rows
from polyc.frontend.region.supposed import ORIGINAL
from polyc.frontend.sets.affine import Affine, label
from polyc.frontend.sets.multiples import assume_products, told
from polyc.frontend.sets.promises import condition_set, names_in
from polyc.frontend.statements.private import FEW_PIECES
from polyc.model import ctree as c
from polyc.model.program import InputOptions
from polyc.model.scop import Array, Scop, tied
from polyc.poly import coalesced, project, sets
from polyc.records import replace


def suppose(region: Region, chosen: dict[c.Expr, Factor], span: Span) -> None:
    """Assume of factors and steps that they are the numbers in their places."""
    for expr, factor in chosen.items():
        supposed, value = region.parameter(label(expr), factor.type, expr), factor.value or 1
        region.assumed = region.assumed.intersect(supposed.eq_set(number(value)))
        why = "as it mostly is" if factor.value is None else "which each call in this file passes"
        why = "which calls in this file pass" if factor.calls else why
        region.note("supposed", f"modelled for {label(expr)} = {value}, {why}: it multiplies variables", span)


def promise(region: Region, options: InputOptions, assumptions: Iterable[ast.expr], steps: dict[str, int]) -> set[str]:
    """Take the user's promises into the context, and the values of names that are steps of loops.

    Returns the parameters' names that promises use, or may use.
    """
    promised: set[str] = set()
    for name, value in steps.items():
        region.context = region.context.intersect(variable(name).eq_set(number(value)))
    for name, value in options.params:
        if is_parameter(region, name):
            promised.add(name)
            region.context = region.context.intersect(variable(name).eq_set(number(value)))
    for tree in assumptions:
        names = names_in(tree)
        known = {name for name in names if is_parameter(region, name)}
        promised |= known
        if known == names:
            region.context = region.context.intersect(condition_set(tree))
    if region.context.is_empty():
        raise UserError.of("impossible-assume", "what --param and --assume promise contradicts itself")
    return promised


def is_parameter(region: Region, name: str) -> bool:
    symbol = region.scope.find(name)
    return symbol is not None and symbol.is_integer and symbol.key == name and name not in region.written


def is_plain(asked: isl.Set) -> bool:
    """Whether a condition is one: others say too little for what they would cost."""
    return asked.n_basic_set() == 1


def within_new_arrays(scop: Scop, before: Scop) -> Scop:
    """The region for the sizes at which what it touches of its new arrays lies in them: they are as long as parameters
    are declared, which may be shorter than what is touched.

    before: the region without these arrays
    """
    assumed = scop.assumed
    for name in sorted(scop.arrays.keys() - before.arrays.keys()):
        for touched in sets(accesses_of(scop, frozenset([name])).all.range().intersect_params(scop.known)):
            outside = touched.subtract(elements(scop.arrays[name], touched.get_space()))
            assumed = assumed.subtract(outside.params())
    return replace(scop, assumed=assumed.coalesce())


def assume_rows(region: Region, rows: Rows) -> None:
    """Ask for what loops over rows in the place of loops over all elements need."""
    values = [Affine(region).value(length, Env()) for length in rows.lengths]
    for product in rows.written_products:
        Affine(region).value(product, Env())
    for length, _ in [value for value in values if value is not None]:
        region.assumed = region.assumed.intersect(length.ge_set(number(0)))
    assume_products(region, rows.products)


def only(domain: isl.Set, names: tuple[str, ...]) -> isl.Set:
    """The set without parameters of other names."""
    present = [domain.get_dim_name(isl.dim_type.param, i) or "" for i in range(domain.dim(isl.dim_type.param))]
    return project(domain, tuple(name for name in present if name not in names))


def condition_text(domain: isl.Set) -> str:
    text = str(domain.params())
    return text.rpartition(":")[2].strip(" }") if ":" in text else "no values at all"


def note_assumed(region: Region, assumed: isl.Set, span: Span) -> None:
    """Tell for which parameters the region is compiled, where it is not for all."""
    needed = assumed.params()
    for tie in region.ties:
        needed = needed.intersect(tied(tie))
    if not needed.plain_is_universe():
        text = condition_text(needed)
        for one in region.parameters.values():
            text = re.sub(rf"\b{one.name} = 1\b", told(one.expr), text) if one.is_product else text
        note = f"compiled for parameters with {text}; {ORIGINAL}"
        region.note("assumed", note, span)


def without_overflow(region: Region) -> isl.Set:
    """The parameters for which no subscript or bound of the region overflows; more of them where these have too many
    pieces: less is said of the sizes then, and isl is done in time."""
    defined = EVERYTHING
    for overflow in region.overflows.values():
        defined = defined.subtract(overflow())
        if defined.n_basic_set() > FEW_PIECES:
            defined = isl.Set.from_basic_set(coalesced(defined).simple_hull())
    return defined


def row_notes(arrays: dict[str, Array], region: Region, span: Span) -> list[Diagnostic]:
    found: list[Diagnostic] = []
    for key, array in arrays.items():
        if any(d.pointer for d in region.scope.symbols[key].shape.dims[1:]):
            message = f"the rows of '{array.c_name}' are taken to be distinct"
            found.append(Diagnostic("distinct-rows", message, span, severity=Severity.NOTE))
    return found
