"""The value of a loop's variable after its loop."""

from __future__ import annotations

from polyc.frontend.c.ctype import is_narrower
from polyc.frontend.c.expressions import chosen
from polyc.frontend.c.state import Env, Region
from polyc.frontend.sets.affine import Affine
from polyc.frontend.sets.loops import Loop, bound_of
from polyc.model import ctree as c
from polyc.model.scop import CType


def exit_value(region: Region, node: c.For, loop: Loop, env: Env) -> c.Expr | None:
    """A C expression for it: `start < n ? n : start`. None where the loop has no single bound of a type that fits that
    of its variable."""
    if node.condition is None:
        return None
    op, bound = bound_of(node.condition, loop.head.key)
    step, start = loop.head.step, loop.head.start
    up = step > 0
    if bound is None or op not in (("<", "<=", "!=") if up else (">", ">=", "!=")):
        return None
    first, last = Affine(region).value(start, env), Affine(region).value(bound, env)
    symbol = region.symbol(loop.head.key)
    if first is None or last is None or symbol is None:
        return None
    if not all(_keeps(symbol.shape.element, kind) for kind in (first[1], last[1])):
        return None
    sign = "+" if up else "-"
    end: c.Expr = bound if op in ("<", ">", "!=") else c.Binary(sign, bound, c.Literal("1"))
    if op == "!=":
        op = "<" if up else ">"
    if abs(step) > 1:
        size = c.Literal(str(abs(step)))
        distance = c.Binary("-", end, start) if up else c.Binary("-", start, end)
        rounded = c.Binary("/", c.Binary("+", distance, c.Literal(str(abs(step) - 1))), size)
        end = c.Binary(sign, start, c.Binary("*", rounded, size))
    return chosen(c.Ternary(c.Binary(op, start, bound), end, start, node.span))


def _keeps(own: CType, other: CType) -> bool:
    """Whether a type has all values of another one, which C converts to it where the two are compared."""
    return other == own or (other.kind == own.kind == "int" and is_narrower(other, own))


def substituted(expr: c.Expr, names: dict[str, c.Expr]) -> c.Expr:
    """The expression with names replaced."""
    return c.rewrite(expr, lambda item: names.get(item.name) if isinstance(item, c.Name) else None)
