"""Variables are declared where they get their first value."""

from __future__ import annotations

import re

from polyc.model import ctree as c
from polyc.records import replace

ARITHMETIC = frozenset({"float", "double", "int", "long", "short", "char", "unsigned", "signed"})
"""The words of types whose variables may begin as 0."""
STATEMENTS = c.Block | c.For | c.While | c.If | c.ExprStmt


def with_first_values(body: tuple[c.Stmt, ...]) -> tuple[c.Stmt, ...]:
    """The statements with declarations and the first assignments behind them in one.

    rewrite:   float s; s = 0; for …   ->   float s = 0; for …
               float s; for … if (j == 1) s = 2; …   ->   float s = 0; for … if (j == 1) s = 2; …
    The second one since compilers would warn that `s` may have no value.
    """

    def change(node: c.Node) -> c.Node | None:
        if not isinstance(node, c.Block) or not any(map(_is_variable, node.body)):
            return None
        return replace(node, body=tuple(c.rewrite(item, change) for item in _joined(node.body)))

    return tuple(c.rewrite(item, change) for item in _joined(body))


def _joined(items: tuple[c.Stmt, ...]) -> tuple[c.Stmt, ...]:
    found = [inner for item in items for inner in _opened(item)]
    for item in tuple(found):
        if not isinstance(item, c.Decl) or not _is_variable(item):
            continue
        start = next(k for k, other in enumerate(found) if other is item)
        first = next((k for k in range(start + 1, len(found)) if _mentions(found[k], item.name)), None)
        value = None if first is None else _assigned(found[first], item.name)
        if first is not None and value is not None:
            found[first] = replace(item, init=value, span=found[first].span)
            del found[start]
        elif set(item.type.split()) <= ARITHMETIC and all(_sets_under_condition(other, item.name) for other in found):
            found[start] = replace(item, init=c.Literal("0"))
    return tuple(found)


def _opened(item: c.Stmt) -> tuple[c.Stmt, ...]:
    """The statements of a block that declares nothing."""
    if isinstance(item, c.Block) and not any(isinstance(inner, c.Decl) for inner in item.body):
        return tuple(part for inner in item.body for part in _opened(inner))
    return (item,)


def _sets_under_condition(item: c.Stmt, name: str) -> bool:
    """Whether a statement gives a variable no value but below conditions."""
    if isinstance(item, c.If):
        return True
    if _assigned(item, name) is not None:
        return False
    return all(_sets_under_condition(part, name) for part in c.children(item) if isinstance(part, STATEMENTS))


def _is_variable(item: c.Stmt) -> bool:
    return isinstance(item, c.Decl) and item.init is None and not item.extents and not item.heap


def _assigned(item: c.Stmt, name: str) -> c.Expr | None:
    """What a statement gives a variable, if it does nothing else."""
    match item:
        case c.ExprStmt(expr=c.Assign(op="=", target=c.ArrayRef(array=array, subscripts=()), value=value), pragmas=()):
            return value if array == name and not _mentions(value, name) else None
    return None


def _mentions(node: c.Node, name: str) -> bool:
    return any(name in _named(part) for part in c.walk(node))


def _named(node: c.Node) -> list[str]:
    match node:
        case c.ArrayRef(array=name) | c.Name(name=name) | c.Decl(name=name):
            return [name]
        case c.SizeOf(text=text):
            return re.findall(r"\w+", text)
    return []
