"""What the file knows of a region's sizes and shapes, beyond what its model says (`c/callers.py`)."""

from __future__ import annotations

from collections.abc import Mapping

from pycparser import c_ast

from polyc.frontend.c.callers import constant
from polyc.frontend.c.state import Region
from polyc.frontend.c.symbols import Symbol
from polyc.frontend.text.trees import walk
from polyc.model import ctree as c
from polyc.model.scop import Always, Scop, Shaped, Storage
from polyc.records import replace

LEAST_USUAL = 64
"""Sizes of which none is so large are those of a test, and say nothing of what there is to do elsewhere."""


def special(scop: Scop, region: Region, values: Mapping[str, int | None], each: Mapping[str, tuple[int, ...]]) -> Scop:
    """The model with what its sizes always are, and mostly.

    values: of the function's own names
    each: what the calls of the function pass for its parameters
    """
    inside = {symbol.c_name for symbol in region.scope.symbols.values() if symbol.storage is Storage.REGION}
    outside = [symbol for symbol in region.scope.symbols.values() if symbol.c_name not in inside]
    supposed = {one.expr.name: one.value for one in scop.supposed if isinstance(one.expr, c.Name) and one.one_of}
    always: list[Always] = []
    usual: dict[str, int] = {}
    for symbol in outside:
        own = symbol.storage in (Storage.ARGUMENT, Storage.LOCAL) and symbol.key not in region.written
        if not own or not symbol.is_integer or region.fixed(symbol.key) is not None:
            continue
        value = supposed.get(symbol.c_name, values.get(symbol.c_name))
        passed = each.get(symbol.c_name, ()) if value is None else (value,)
        if passed and max(passed) > 0:
            usual[symbol.c_name] = max(passed)
        if value is not None:
            always.append(Always(symbol.c_name, symbol.shape.element.text, value))
    known = {one.name for one in always}
    shaped = [shape for symbol in outside if (shape := shape_of(symbol, region, values, known)) is not None]
    sizes = {p.name: usual[p.expr.name] for p in scop.parameters if isinstance(p.expr, c.Name) and p.expr.name in usual}
    return replace(
        scop,
        always=tuple(always),
        shaped=tuple(s for s in shaped if s.name not in scop.moved),
        usual=sizes if max(sizes.values(), default=0) >= LEAST_USUAL else {},
    )


def shape_of(symbol: Symbol, region: Region, values: Mapping[str, int | None], known: set[str]) -> Shaped | None:
    """The shape of an argument with rows of variable length. One that is `restrict` keeps its declaration: what C
    compilers make of the word in a block is less."""
    dims, node = symbol.shape.dims, symbol.node
    if symbol.storage is not Storage.ARGUMENT or len(dims) < 2 or symbol.volatile or node is None:
        return None
    if any(d.pointer for d in dims[1:]) or all(d.size is not None for d in dims[1:]):
        return None
    if any("restrict" in (getattr(n, "quals", None) or getattr(n, "dim_quals", None) or ()) for n in walk(node)):
        return None
    sizes: set[str] = set()
    extents: list[int] = []
    for dim in dims[1:]:
        value = constant(dim.extent, region.scope.types, values) if dim.extent is not None else None
        if value is None or value < 1 or dim.extent is None:
            return None
        extents.append(value)
        sizes |= {n.name for n in walk(dim.extent) if isinstance(n, c_ast.ID) and n.name in values}
    if not sizes <= known:
        return None
    element = f"{'const ' if symbol.constant else ''}{symbol.shape.element.text}"
    return Shaped(symbol.c_name, element, tuple(extents), tuple(sorted(sizes)))
