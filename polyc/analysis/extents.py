"""The elements that arrays have."""

from __future__ import annotations

import islpy as isl

from polyc.model.scop import Array


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
