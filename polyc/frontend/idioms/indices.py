"""Variables for subscripts that are corrected by an `if`.

They become what the model follows, a variable of a block with one value:

rewrite:  int k = e; if (k < 0) k += n;     ->  int k = e < 0 ? e + n : e;
          int k; if (c) k = e; else k = f;  ->  int k = c ? e : f;
requires: whole numbers without side effects and without loads
"""

from __future__ import annotations

from polyc.analysis.expressions.constants import literal_value
from polyc.analysis.expressions.facts import mentions, writes
from polyc.frontend.c.symbols import Scope
from polyc.frontend.idioms.helpers import converted, is_arithmetic, type_of
from polyc.model import ctree as c
from polyc.records import replace

LARGEST = 64
"""Nodes of a value that is put together."""


def with_indices(body: c.Block, scope: Scope) -> c.Block:
    """The region with values that are put together where they are declared."""

    def visit(node: c.Node) -> c.Node | None:
        if not isinstance(node, c.Block):
            return None
        parts: list[c.Stmt] = []
        for item in node.body:
            item = c.rewrite(item, visit)
            if not (isinstance(item, c.If) and into_declaration(item, parts, scope)):
                parts.append(item)
        return replace(node, body=tuple(parts))

    return c.rewrite(body, visit)


def into_declaration(item: c.If, before: list[c.Stmt], scope: Scope) -> bool:
    """Put a branch that assigns one variable into its declaration, if there is one before it that it can join."""
    then, other = single(item.then), single(item.otherwise)
    if then is None or (item.otherwise is not None and (other is None or other[0] != then[0])):
        return False
    key = then[0]
    place = next((n for n, one in enumerate(before) if isinstance(one, c.Decl) and one.name == key), None)
    symbol = scope.symbols.get(key)
    if place is None or symbol is None or not symbol.is_integer or symbol.volatile or symbol.constant:
        return False
    declaration = before[place]
    assert isinstance(declaration, c.Decl)
    exprs = [item.condition, then[1], *([] if other is None else [other[1]])]
    used = {name for expr in exprs for name in mentions(expr)}
    between = before[place + 1 :]
    changed = {name for one in between for name in writes(one) | ({one.name} if isinstance(one, c.Decl) else set())}
    if (
        used & changed
        or any(key in mentions(one) for one in between)
        or not all(is_plain(expr, scope) for expr in exprs)
    ):
        return False
    if between and any(isinstance(part, c.Binary) and part.op in "/%" for expr in exprs for part in c.walk(expr)):
        return False  # it could stop the program where what stands between ends it first
    start = declaration.init
    if start is None and (other is None or key in used):
        return False
    if start is not None and not is_plain(start, scope):
        return False
    element = symbol.shape.element
    if not is_arithmetic(element, scope.types):
        return False
    old = None if start is None else converted(start, element, type_of(start, scope))

    def now(expr: c.Expr) -> c.Expr:
        return c.rewrite(expr, lambda node: old if isinstance(node, c.Name) and node.name == key else None)

    def stored(expr: c.Expr) -> c.Expr:
        return converted(now(expr), element, type_of(now(expr), scope))

    otherwise = old if other is None else stored(other[1])
    assert otherwise is not None
    value = c.Ternary(now(item.condition), stored(then[1]), otherwise, item.span)
    if sum(1 for _ in c.walk(value)) > LARGEST:
        return False
    before[place] = replace(declaration, init=value)
    return True


def single(node: c.Stmt | None) -> tuple[str, c.Expr] | None:
    """The variable that a branch assigns, and its value, if it does no more than that."""
    if isinstance(node, c.Block) and len(node.body) == 1:
        node = node.body[0]
    match node:
        case c.ExprStmt(expr=c.Assign(op="=", target=c.Name(name=name), value=value)):
            return name, value
        case c.ExprStmt(expr=c.Assign(op="+=" | "-=" as op, target=c.Name(name=name) as target, value=value)):
            return name, c.Binary(op[0], target, value, value.span)
    return None


def is_plain(expr: c.Expr, scope: Scope) -> bool:
    """Whether it is made of whole numbers, of variables and constants."""
    for node in c.walk(expr):
        match node:
            case c.Name(name=name):
                symbol = scope.symbols.get(name)
                if symbol is not None and not symbol.is_integer:
                    return False
            case c.Literal(text=text):
                if literal_value(text) is None:
                    return False
            case c.Binary() | c.Ternary() | c.Cast() | c.Unary(op="+" | "-" | "!"):
                pass
            case _:
                return False
    return True
