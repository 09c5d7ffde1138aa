"""Subscripts that leave their rows: C forbids them, not all who write C know it, and the model has no such elements."""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl

from polyc.frontend.c.convert import Converter
from polyc.frontend.c.state import CTX, Region, number
from polyc.frontend.c.symbols import Symbol
from polyc.frontend.memory.overlaps import refused
from polyc.frontend.region.surroundings import Surroundings
from polyc.frontend.sets.arrays import extent
from polyc.frontend.statements.build import drafts
from polyc.frontend.statements.extract import Draft, Item
from polyc.poly import OverBudget, budget, project, share

ROWS = 4
"""The share of the budget, one in so many, that the question takes whether subscripts stay in their rows."""


def stay_in_rows(at: Surroundings, region: Region, items: list[Item], converter: Converter) -> None:
    """Subscripts have to stay inside their dimension: C says so, and not all who write it do."""
    try:
        with budget(CTX, share(at.options.budget, ROWS)):
            checked_rows(at, region, items, converter)
    except OverBudget:
        raise refused("whether subscripts stay in their rows takes too long to tell") from None


def checked_rows(at: Surroundings, region: Region, items: list[Item], converter: Converter) -> None:
    """As `stay_in_rows`. Raises OverBudget as well."""
    for item, symbol, wrong in beside_rows(at, region, items, converter, asking=True):
        if wrong is None:
            message = f"polyc cannot tell how long the rows of '{symbol.c_name}' are"
            raise refused(message, span=item.span)
        if not region.holds(wrong, item.env):
            raise refused(f"a subscript of '{symbol.c_name}' may leave its row", span=item.span)


def leave_rows(at: Surroundings, region: Region, items: list[Item], converter: Converter) -> None:
    """Refuse subscripts that leave their row whatever the sizes are, as `x[5 * i]` of `double *x = a[k]`: the model
    takes what lies in other rows for other elements, and C compilers take the loop to end before."""
    hint = "use the array's own subscripts, or declare it with one dimension"
    try:
        with budget(CTX, share(at.options.budget, ROWS)):
            for item, symbol, wrong in beside_rows(at, region, items, converter, asking=False):
                if wrong is None:
                    continue
                known = item.env.domain.intersect(region.context)
                reached = wrong.intersect(known)
                variables = item.env.variables
                if not reached.is_empty() and project(known, variables).is_subset(project(reached, variables)):
                    region.refuse("row-left", f"a subscript of '{symbol.c_name}' leaves its row", item.span, hint)
    except OverBudget:
        return


def beside_rows(
    at: Surroundings, region: Region, items: list[Item], converter: Converter, asking: bool
) -> Iterator[tuple[Draft, Symbol, isl.Set | None]]:
    """Statements, arrays that they subscript, and the iterations in which that leaves its row; None where that is
    not known. asking: as of `extent`"""
    seen: dict[tuple[str, int], list[isl.Map]] = {}
    asked: dict[int, list[tuple[isl.PwAff, isl.PwAff]]] = {}
    for item in drafts(tuple(items)):
        for raw in item.accesses:
            symbol = region.symbol(raw.array)
            if symbol is None or symbol.rank < 2 or raw.array in region.flat or not raw.exact:
                continue
            alike = seen.setdefault((raw.array, id(item.env)), [])
            if any(raw.relation.plain_is_equal(other) for other in alike):
                continue  # a block reads the same element in many of its statements
            alike.append(raw.relation)
            values, known = isl.PwMultiAff.from_map(raw.relation), asked.setdefault(id(item.env), [])
            for position in range(1, symbol.rank):
                if symbol.shape.dims[position].extent is None:
                    continue  # a row that a pointer leads to has no length
                size, _ = extent(symbol, position, region, converter, at.parsed.function, asking=asking)
                if size is None:
                    yield item, symbol, None
                    continue
                value = values.get_at(position)
                if any(value.plain_is_equal(a) and size.plain_is_equal(b) for a, b in known):
                    continue  # and elements of other arrays at the same place
                known.append((value, size))
                yield item, symbol, value.lt_set(number(0)).union(value.ge_set(size))
