"""Memory of which each thread may have its own: scalars, small arrays, and rows whose lengths the sizes decide."""

from __future__ import annotations

from collections.abc import Mapping

import islpy as isl

from polyc.frontend.c.liveness import is_like_local
from polyc.frontend.c.state import CTX, Region
from polyc.frontend.c.symbols import FEW_BYTES, PRIVATE_BYTES
from polyc.frontend.memory.live_out import After
from polyc.frontend.statements.build import Placed
from polyc.frontend.statements.flow import inside_rows, is_made_again, length_of, read_first, written_first
from polyc.model.scop import Array, Rows, Storage
from polyc.records import dataclass, replace

FEW_PIECES = 30
"""Pieces of a set of sizes with which operations of isl take little time."""
HARDLY = 4
"""Sizes below which a program does hardly anything: they may run as written."""
LONG_BYTES = 1 << 16
"""Of the rows of any length of which each thread has one; longer ones run as written."""


@dataclass(frozen=True, slots=True, eq=False)
class Private:
    """What threads may have for themselves, and what is known and asked of the sizes for it."""

    names: frozenset[str]
    live: frozenset[str]
    arrays: dict[str, Array]
    """Those of the region, with the lengths of rows."""
    context: isl.Set
    assumed: isl.Set
    bounds: isl.Set
    """`Scop.bounds`."""
    rows: Rows | None


def private_memory(
    region: Region,
    after: After,
    placed: list[Placed],
    arrays: dict[str, Array],
    live: frozenset[str],
    alone: frozenset[str],
    context: isl.Set,
    assumed: isl.Set,
) -> Private:
    """Which arrays each thread may have for itself.

    live:  the arrays whose values are needed after the region
    alone: those of them that only the region uses, so that they are not if it writes them first
    """
    own = _small(region, after, placed, arrays, live - alone)
    long = _of_any_length(region, placed, arrays, live)
    inside = inside_rows(placed, [arrays[key] for key in sorted(own | long) if arrays[key].rank == 1])
    context = context.intersect_params(inside) if inside.n_basic_set() <= FEW_PIECES else context
    live -= written_first(placed, alone, context)
    names = (own - live) | long
    for key, elements in sorted(read_first(placed, names, context.intersect(assumed)).items()):
        enough = _enough(elements, context.params().intersect(assumed.params()))
        names = names if enough is not None else names - {key}
        assumed = assumed if enough is None else assumed.intersect_params(enough)
    lengths = {key: length_of(key, placed, context.intersect(assumed)) for key in sorted(names & long)}
    known = {key: length for key, length in lengths.items() if length is not None}
    rows = Rows({key: arrays[key] for key in known}, assumed.params()) if known else None
    for key, (length, sizes) in known.items():
        most = isl.Val.int_from_si(CTX, LONG_BYTES // len(lengths) // arrays[key].element.size_bytes)
        held = length.le_set(isl.PwAff.val_on_domain(length.domain(), most))
        held = held.intersect(length.gt_set(isl.PwAff.val_on_domain(length.domain(), isl.Val.zero(CTX))))
        assumed = assumed.intersect_params(held).intersect_params(sizes)
    arrays = arrays | {key: replace(arrays[key], extents=(length,)) for key, (length, _) in known.items()}
    declared = [arrays[key] for key in arrays if arrays[key].rank and _is_declared(region, key)]
    bounds = inside_rows(placed, declared).intersect(context.params())
    return Private(names - (lengths.keys() - known.keys()), live, arrays, context, assumed, bounds, rows)


def _enough(elements: isl.Set, possible: isl.Set) -> isl.Set | None:
    """The sizes for which none of the elements exists, if they are all but those for which a loop hardly runs.

    double v[9]; for (i <= n) v[i] = …; … = v[0];  ->  n >= 0
    """
    usual, enough = possible, isl.Set.universe(possible.get_space())
    for position in range(usual.dim(isl.dim_type.param)):
        least = isl.Aff.zero_on_domain(isl.LocalSpace.from_space(usual.get_space())).add_constant_val(-HARDLY)
        least = least.add_coefficient_val(isl.dim_type.param, position, 1)
        usual = usual.add_constraint(isl.Constraint.inequality_from_aff(least))
    for piece in elements.params().intersect(possible).get_basic_sets():
        halves = [isl.BasicSet.universe(piece.get_space()).add_constraint(one) for one in piece.get_constraints()]
        others = [isl.Set.from_basic_set(half).complement() for half in halves if not piece.dim(isl.dim_type.div)]
        allowed = [one for one in others if one.n_basic_set() == 1 and usual.is_subset(one)]
        if not allowed or usual.is_empty():
            return None
        enough = enough.intersect(allowed[0])
    return enough


def _is_declared(region: Region, key: str) -> bool:
    """Whether a declaration in the file says how long an array is, as no parameter's does."""
    symbol = region.scope.symbols[key]
    pointer = any(d.pointer for d in symbol.shape.dims)
    return symbol.storage in (Storage.LOCAL, Storage.REGION, Storage.GLOBAL) and not pointer and key not in region.flat


def _small(
    region: Region, after: After, placed: list[Placed], arrays: Mapping[str, Array], live: frozenset[str]
) -> frozenset[str]:
    """Small local arrays, and static ones that are not live."""
    hidden = live | region.exposed | set(region.flat)
    sizes: dict[str, int] = {}
    for key in arrays:
        symbol = region.scope.symbols[key]
        local = symbol.storage in (Storage.LOCAL, Storage.REGION, Storage.GLOBAL)
        local = local or (symbol.storage is Storage.ARGUMENT and not symbol.rank)
        local = local or is_like_local(symbol, after.function)
        pointer = any(d.pointer for d in symbol.shape.dims)
        small = symbol.rank == 0 or 0 < symbol.shape.size_bytes <= PRIVATE_BYTES
        if symbol.shape.size_bytes > FEW_BYTES and not is_made_again(key, placed):
            continue  # an array of the whole region is memory
        if local and small and not pointer and key in region.written - hidden:
            sizes[key] = symbol.shape.size_bytes if arrays[key].rank else 0
    while sum(sizes.values()) > PRIVATE_BYTES:  # a thread's stack is as large as the function's, and not larger
        del sizes[max(sorted(sizes), key=lambda key: sizes[key])]
    return frozenset(sizes)


def _of_any_length(
    region: Region, placed: list[Placed], arrays: Mapping[str, Array], live: frozenset[str]
) -> frozenset[str]:
    """Local arrays with one subscript, of lengths that the parameters decide, that each iteration of an outermost loop
    makes again."""
    hidden = live | region.exposed | set(region.flat)
    found: set[str] = set()
    for key, array in arrays.items():
        symbol = region.scope.symbols[key]
        constant = symbol.shape.size_bytes > 0 and not any(d.pointer for d in symbol.shape.dims)
        local = symbol.storage in (Storage.LOCAL, Storage.REGION) and not symbol.static
        if array.rank != 1 or not (local or key in region.renamed) or constant:
            continue
        if key in region.written - hidden and array.element.size_bytes and is_made_again(key, placed):
            found.add(key)
    return frozenset(found)
