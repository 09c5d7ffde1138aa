"""Questions that a region asks its data before it runs: does a subscript stay in its row?"""

from __future__ import annotations

from polyc.analysis.expressions.ranges import spare_of
from polyc.frontend.c.ctype import INT
from polyc.frontend.c.effects import Effect
from polyc.frontend.c.references import resolve
from polyc.frontend.c.state import Env, Region, Wanted
from polyc.model import ctree as c
from polyc.model.scop import CType
from polyc.records import replace

LONG = CType("long", "int", 8)
_PARTS = c.Name | c.Literal | c.SizeOf | c.Cast | c.Unary | c.Binary | c.Ternary | c.Subscript | c.Call
_DEEP = 20
"""Variables that are given others' values are followed no further than this."""


def wanted(
    region: Region, key: str, position: int, piece: c.Expr, extent: c.Expr, type_: CType | None, env: Env
) -> Wanted | None:
    """The question whether a subscript stays in its row; None where it cannot be asked before the region runs."""
    if type_ is None or type_.kind != "int" or env.inner:
        return None
    index = with_values(region, piece, env)
    if index is None or not any(isinstance(node, c.Subscript) for node in c.walk(index)):
        return None  # a function of the loops alone: no question of the data
    if not all(_is_known(region, node, env) for node in c.walk(index)):
        return None
    spare = spare_of(index, lambda name: _is_float(region, name))
    if spare is None:
        return None
    wide = LONG if type_.size_bytes == 8 or (type_.size_bytes == 4 and not type_.signed) else INT
    return Wanted(key, position, index, extent, spare, wide, env, piece.span)


def with_values(region: Region, expr: c.Expr, env: Env, depth: int = 0) -> c.Expr | None:
    """The expression with the values of variables that are given one where they are declared, and never another; None
    where the loops around that are not known to be around this place."""
    lost: list[str] = []

    def change(node: c.Node) -> c.Node | None:
        if not isinstance(node, c.Name) or node.name in env.dims or node.name not in region.written:
            return None
        symbol, value = region.symbol(node.name), region.values.get(node.name)
        around = region.declared.get(node.name)
        if symbol is None or value is None or around is None or node.name not in region.settled or depth > _DEEP:
            lost.append(node.name)
            return None
        inside = with_values(region, value, replace(env, dims=around), depth + 1)
        if inside is None or around != env.dims[: len(around)]:
            lost.append(node.name)
            return None
        text = symbol.shape.element.text
        return inside if isinstance(inside, c.Cast) and inside.type == text else c.Cast(text, inside)

    found = c.rewrite(expr, change)
    return None if lost else found


def _is_known(region: Region, node: c.Node, env: Env) -> bool:
    """Whether a part of an expression has the same value before the region, and computing it changes nothing."""
    match node:
        case c.Subscript():
            found = resolve(region.scope, node)
            return found is not None and not found.rest and found.symbol.key not in region.written
        case c.Name(name=name):
            symbol = region.symbol(name)
            return symbol is None or (not symbol.volatile and (name in env.dims or name not in region.written))
        case c.Call(function=name):
            return region.effects(name) == Effect()
        case c.Unary(op=op):
            return op in ("-", "+", "~", "!")
    return isinstance(node, _PARTS)


def _is_float(region: Region, name: str) -> bool:
    symbol = region.symbol(name)
    return symbol is None or symbol.shape.element.kind != "int"
