"""Elements that stay as they are while a loop of the text runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

import islpy as isl

from polyc.analysis.expressions.facts import lvalues
from polyc.analysis.expressions.reader import NotAffine, Reader, parameter_space, piecewise
from polyc.analysis.readable import readable
from polyc.model import ctree as c
from polyc.model.scop import Array, Scop

LARGEST = 16
"""Bytes of an element that is copied: a complex number. Of larger structs a loop reads a part."""


def is_steady(scop: Scop, around: Sequence[c.For], loop: c.For, cell: c.ArrayRef) -> bool:
    """Whether an element is there wherever a loop begins, and no iteration of the loop writes it.

    math: with { o -> c } the element in an iteration o of the loops around, and { (o, i) -> w } what the loop writes to
          its array, no w is c. Each c is one of the elements that the region accesses whatever the data are, or lies
          between two of them (`readable`)
    around: the loops around it, from the outside
    """
    arrays = {array.printed_name: array for array in scop.arrays.values() if array.rank and not array.root}
    array = arrays.get(cell.array)
    if array is None or len(cell.subscripts) != array.rank:
        return False
    if array.element.kind not in ("int", "float", "struct") or not 0 < array.element.size_bytes <= LARGEST:
        return False
    if any(isinstance(node, c.Call) and node.function in scop.own_functions for node in c.walk(loop)):
        return False
    try:
        outer, inner, names = _domains(scop, (*around, loop))
        reader = Reader({p.expr: p.name for p in scop.parameters}, names, inner.get_space(), inner)
        place = _place(reader, cell, array).intersect_domain(outer)
        stores = [node for node in lvalues(loop.body) if isinstance(node, c.ArrayRef) and node.array == cell.array]
        written = [_place(reader, node, array).intersect_domain(inner) for node in stores]
    except NotAffine:
        return False
    last = inner.dim(isl.dim_type.set) - 1
    here = place.project_out(isl.dim_type.in_, last, 1)
    there = readable(scop, array, here.get_space().range())
    met = (one.project_out(isl.dim_type.in_, last, 1).intersect(here) for one in written)
    return isl.Map.range(here).is_subset(there) and all(one.is_empty() for one in met)


def _domains(scop: Scop, loops: Sequence[c.For]) -> tuple[isl.Set, isl.Set, Mapping[str, int]]:
    """`{ [x0, …] }`: the iterations of some loops inside of each other, without what the last one says and with it;
    and the positions of their variables. Raises NotAffine."""
    names: dict[str, int] = {}
    space = parameter_space(scop).add_unnamed_tuple_ui(len(loops))
    before = domain = isl.Set.universe(space).intersect_params(scop.known)
    for loop in loops:
        if not isinstance(loop.init, c.Decl) or loop.init.init is None or loop.condition is None:
            raise NotAffine("loop")
        names[loop.init.name] = len(names)
        reader = Reader({p.expr: p.name for p in scop.parameters}, names, space, domain)
        begun = reader.condition(c.Binary(">=", c.Name(loop.init.name), loop.init.init))
        before, domain = domain, domain.intersect(begun).intersect(reader.condition(loop.condition))
    return before, domain, names


def _place(reader: Reader, node: c.ArrayRef, array: Array) -> isl.Map:
    """`{ [x0, …] -> A[…] }`: an element. Raises NotAffine."""
    values = [isl.Map.from_pw_aff(piecewise(reader.value(one))) for one in node.subscripts]
    return reduce(isl.Map.flat_range_product, values).set_tuple_name(isl.dim_type.out, array.name)


__all__ = ["is_steady"]
