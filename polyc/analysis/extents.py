"""The elements that arrays have."""

from __future__ import annotations

from collections.abc import Iterable

import islpy as isl

from polyc.model import ctree as c
from polyc.model.scop import Array, Parameter
from polyc.poly import affine_of


def on_parameters(extent: isl.PwAff) -> isl.PwAff:
    """The extent as a function of the parameters alone."""
    return extent if extent.domain().is_params() else extent.project_domain_on_params()


def elements(array: Array, space: isl.Space) -> isl.Set:
    """The elements that an array has, as far as its extents are known; `space`: `{ A[x] }`.

    math: { A[x] : 0 <= x_k < extent_k }; a first extent that is unknown bounds nothing
    """
    box = isl.Set.universe(space)
    for position, extent in enumerate(array.extents):
        index = isl.PwAff.from_aff(isl.Aff.var_on_domain(isl.LocalSpace.from_space(space), isl.dim_type.set, position))
        if extent is not None:
            size = on_parameters(extent)
            params = space.params().align_params(size.get_space().params())
            lifted = size.align_params(params).insert_domain(space.align_params(params))
            box = box.intersect(index.nonneg_set()).intersect(index.lt_set(lifted))
        elif position > 0:
            box = box.intersect(index.nonneg_set())
    return box


def text_of(parameters: Iterable[Parameter], value: isl.PwAff) -> c.Expr | None:
    """An affine expression in the parameters as C; None where it has several cases, or divisions: of sizes that are
    multiples of others, too."""
    only = affine_of(value)
    if only is None or only.dim(isl.dim_type.div) or not only.get_denominator_val().is_one():
        return None
    constant = only.get_constant_val()
    found: c.Expr | None = None if constant.is_zero() else c.Literal(str(constant.to_python()))
    for parameter in parameters:
        position = only.find_dim_by_name(isl.dim_type.param, parameter.name)
        if position >= 0 and not (factor := only.get_coefficient_val(isl.dim_type.param, position)).is_zero():
            number = c.Literal(str(factor.to_python()))
            term = parameter.expr if factor.is_one() else c.Binary("*", number, parameter.expr)
            found = term if found is None else c.Binary("+", term, found)
    return c.Literal("0") if found is None else found
