"""Elements that are there whatever the data say: they may be read in vain."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import islpy as isl

from polyc.analysis.expressions.promoted import floating_type
from polyc.analysis.expressions.selects import Choices
from polyc.analysis.expressions.straight import unconditional
from polyc.analysis.extents import elements
from polyc.model import ctree as c
from polyc.model.program import Program
from polyc.model.scop import CALLS, Access, Array, Scop, Statement, Storage
from polyc.poly import empty_map


def readable(scop: Scop, array: Array, space: isl.Space) -> isl.Set:
    """The elements of an array that are there, in a space `{ A[x] }`.

    math: let U be the elements that the region accesses whatever the data are. With two elements of an array, all
          between them are there: { x : l <= x <= h, l and h in U }, in the order in which they lie in memory. Of an
          array that is declared with all its extents, and is no parameter, each element is there
    """
    space = space.align_params(scop.known.get_space())
    none = isl.Set.empty(space)
    if array.element.kind == "pointer" or CALLS in scop.arrays:  # a call may end the program
        return none
    own = array.storage is not Storage.ARGUMENT and not array.flat and not array.root
    if own and array.rank and all(extent is not None for extent in array.extents):
        return elements(array, space)
    found = _surely_accessed(scop, array.name)
    if found.is_empty():
        return none
    surely = isl.Set.from_union_set(found)
    return surely.union(_between(surely)) if _is_in_one_piece(array) else surely


@lru_cache(maxsize=256)
def _surely_accessed(scop: Scop, array: str) -> isl.UnionSet:
    """U, of one array."""
    found = empty_map(scop.domain)
    for statement in scop.statements.values():
        if not any(a.array == array for a in statement.accesses):
            continue
        refs = {node.ref for node in unconditional(statement.body, inside=True) if node.ref}
        for access in statement.accesses:
            if access.array == array and access.exact and access.ref in refs:
                found = found.union(isl.UnionMap.from_map(access.relation.intersect_params(scop.known)))
    return found.range().coalesce()


def _is_in_one_piece(array: Array) -> bool:
    """Whether the rows of an array follow each other in memory."""
    return all(extent is not None for extent in array.extents[1:])


def _between(cells: isl.Set) -> isl.Set:
    """All that lies between two of some elements, in the order of their subscripts."""
    later = isl.Map.lex_ge(cells.get_space().reset_tuple_id(isl.dim_type.set))
    plain = cells.reset_tuple_id()
    below, above = plain.apply(later.reverse()), plain.apply(later)
    return below.intersect(above).set_tuple_id(cells.get_tuple_id())


def unreadable(scop: Scop, access: Access) -> isl.Set:
    """`{ S[i] }`: the instances for which it is not known whether what they may read is there."""
    relation = access.relation.intersect_params(scop.known)
    there = readable(scop, scop.arrays[access.array], relation.get_space().range())
    return relation.subtract_range(there).domain()


def choices_of(program: Program, statement: Statement, ran: isl.Set, is_kept: Callable[[c.ArrayRef], bool]) -> Choices:
    """What is known of a statement's values in some instances, for choices between them.

    is_kept: whether a buffer has the element, where there is room for all that may be read
    """
    scop = program.scop
    loops = dict(zip(statement.loops, statement.loop_types, strict=True))
    loops |= {p.expr.name: p.type for p in scop.parameters if isinstance(p.expr, c.Name)}
    surely = {c.unlabelled(node) for node in unconditional(statement.body, inside=True)}
    accesses = {a.ref: a for a in statement.accesses if a.ref}

    def is_sure(node: c.ArrayRef) -> bool:
        return not scop.arrays[node.array].rank or c.unlabelled(node) in surely

    def is_there(node: c.ArrayRef) -> bool:
        if is_sure(node) or is_kept(node):
            return True
        access = accesses.get(node.ref)
        return access is not None and access.exact and unreadable(scop, access).is_disjoint(ran)

    return Choices(
        lambda expr: floating_type(expr, scop.arrays, loops),
        is_there,
        is_sure,
        lambda node: not scop.arrays[node.array].rank and node.array in scop.privatizable,
    )


__all__ = ["choices_of", "readable", "unreadable"]
