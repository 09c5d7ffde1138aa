"""Structs of a loop's body that are set member by member: each iteration begins with a value of its own.

C gives such a variable no value before, so that nobody can tell; the model is told that nothing comes from the
iteration before.

rewrite:  for (...) { struct v n; n.x = e; n.y = f; a[i] = n; }  ->  for (...) { struct v n = {0}; n.x = e; … }
"""

from __future__ import annotations

from polyc.frontend.c.symbols import Scope
from polyc.model import ctree as c
from polyc.records import replace


def with_first_values(body: c.Block, scope: Scope) -> c.Block:
    """The region with a first value for each struct that is set in parts."""
    parts = {name for node in c.walk(body) if isinstance(node, c.Assign) and (name := _whole(node.target)) is not None}

    def visit(node: c.Node) -> c.Node | None:
        if isinstance(node, c.Decl) and node.name in parts and node.init is None and not node.extents:
            symbol = scope.symbols.get(node.name)
            named = symbol is not None and symbol.shape.element.text.split()[-1] != "None"
            if symbol is not None and named and symbol.shape.element.kind == "struct" and not symbol.rank:
                return replace(node, init=c.InitList((c.Literal("0"),), node.span))
        return None

    return c.rewrite(body, visit) if parts else body


def _whole(target: c.Expr) -> str | None:
    """`n` of `n.x`, `n.at[0].x`."""
    inner = target
    while isinstance(inner, c.Member | c.Subscript):
        if isinstance(inner, c.Member) and inner.arrow:
            return None
        inner = inner.base
    return inner.name if isinstance(inner, c.Name) and inner is not target else None
