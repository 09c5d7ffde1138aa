"""Loops that run down where only the negative of their variable is used, as users write them."""

from __future__ import annotations

from collections.abc import Callable

from polyc.analysis.expressions.widths import is_counted
from polyc.model import ctree as c
from polyc.records import replace

_TURNED = {"<": ">", "<=": ">="}


def with_downward(body: tuple[c.Stmt, ...]) -> tuple[c.Stmt, ...]:
    """The statements with loops that count down.

    rewrite:  for (int x = -1022; x < 0; x++) a[-x] = a[1 - x];   ->   for (int x = 1022; x > 0; x--) a[x] = a[x + 1];
    requires: the loop starts below zero, and starts and ends at constants, or at sizes
    """

    def change(node: c.Node) -> c.Node | None:
        return _turned(node, change) if isinstance(node, c.For) and is_counted(node) else None

    return tuple(c.rewrite(item, change) for item in body)


def _turned(loop: c.For, change: Callable[[c.Node], c.Node | None]) -> c.For | None:
    match loop:
        case c.For(
            init=c.Decl(name=name, init=start) as init,
            condition=c.Binary(op="<" | "<=" as op, left=c.Name(name=compared), right=end),
            step=c.Postfix(op="++", operand=operand),
        ) if compared == name and start is not None:
            if isinstance(start, c.Literal) and not start.text.startswith("-"):
                return None  # `a[n - x]`, from 0 on
            first, last = negative(start), negative(end)
        case _:
            return None
    body = None if first is None or last is None else _negated(loop.body, name)
    if body is None or last is None:
        return None
    condition = c.Binary(_TURNED[op], c.Name(name), last)
    step = c.Postfix("--", operand)
    return replace(loop, init=replace(init, init=first), condition=condition, step=step, body=c.rewrite(body, change))


def negative(bound: c.Expr) -> c.Expr | None:
    """The negative of a constant, of `-n` and of `1 - n`, which overflows no more than these do; None for others."""
    match bound:
        case c.Literal(text=text) if text.lstrip("-").isdigit():
            return c.Literal(str(-int(text))) if int(text) <= 0 else c.Unary("-", bound)
        case c.Unary(op="-", operand=c.Literal() | c.Name() as inner):
            return inner
        case c.Binary(op="-", left=c.Literal(text=text) as less, right=c.Name() as size) if text.rstrip("lL").isdigit():
            return size if text == "0" else c.Binary("-", size, less)
    return None


def _negated(body: c.Stmt, name: str) -> c.Stmt | None:
    """The statement with `x` for `-x`, `x + 1` for `1 - x` and `k - x` for `x + k`; None where the variable stands
    otherwise, or nowhere."""
    variable = c.Name(name)
    left = negative = False

    def is_it(node: c.Node) -> bool:
        return node == variable or (isinstance(node, c.Cast) and node.operand == variable)

    def change(node: c.Node) -> c.Node | None:
        nonlocal left, negative
        match node:
            case c.Unary(op="-", operand=inner) if is_it(inner):
                negative = True
                return inner
            case c.Binary(op="-", left=c.Literal() as more, right=inner) if is_it(inner):
                negative = True
                return c.Binary("+", inner, more, node.span)
            case c.Binary(op="-", left=first, right=inner) if is_it(inner):
                negative = True
                return c.Binary("+", c.rewrite(first, change), inner, node.span)
            case c.Binary(op="+", left=inner, right=c.Name() as first) if is_it(inner) and first != variable:
                return c.Binary("-", first, inner, node.span)
            case c.Binary(op="+", left=first, right=inner) if is_it(inner):
                return c.Binary("-", c.rewrite(first, change), inner, node.span)
            case c.Name(name=found):
                left = left or found == name
            case c.Decl(name=found):
                left = left or found == name
        return None

    changed = c.rewrite(body, change)
    return changed if negative and not left else None


__all__ = ["with_downward"]
