"""Variables that are 0 and 1 in turn: which of two buffers a step reads, and which it writes.

rewrite:  int cur = 0;
          for (t = 0; t < T; t++) { int next = 1 - cur; … A[next][i] = f(A[cur][i]); … cur = next; }
          ->
          for (t = 0; t < T; t++) { … A[(t + 1) % 2][i] = f(A[t % 2][i]); … }
requires: it is 0 or 1 where the loop begins, changes at the end of each iteration and nowhere else, and nobody reads it
          behind the loop
math:     in iteration t from t0 on it is (t - t0 + c) mod 2, c its first value: 1 - x, x ^ 1 and !x are x + 1 mod 2
"""

from __future__ import annotations

from collections.abc import Callable

from polyc.analysis.expressions.constants import literal_value
from polyc.analysis.expressions.facts import Induction, assigned_scalars, has_jump, induction, mentions, writes
from polyc.frontend.c.symbols import Scope, Symbol
from polyc.model import ctree as c
from polyc.records import replace


def with_flips(
    body: c.Block, scope: Scope, is_own: Callable[[Symbol], bool], before: Callable[[Symbol], int | None]
) -> tuple[c.Block, dict[str, int | None]]:
    """The region with remainders of loops' variables in the places of such variables, and these, with the constants
    that they are before the region where that counts.

    is_own: nobody reads a variable after the region; before: the constant that a variable is where the region starts
    """

    found: dict[str, int | None] = {}

    def block(node: c.Block, outermost: bool) -> c.Block:
        items = list(node.body)
        for n, item in enumerate(items):
            head = induction(item) if isinstance(item, c.For) else None
            if not isinstance(item, c.For) or head is None or has_jump(item.body):
                continue
            for key in sorted(assigned_scalars(item.body)):
                symbol = scope.symbols.get(key)
                if symbol is None or not symbol.is_integer or symbol.volatile:
                    continue
                if any(key in mentions(one) for one in items[n + 1 :]):
                    continue
                inside = outermost or any(isinstance(one, c.Decl) and one.name == key for one in items[:n])
                start, outside = _first(key, items[:n]), None
                if start is None and outermost and not any(key in writes(one) for one in items[:n]):
                    start = outside = before(symbol)
                other = _without(item, head, key, start) if start in (0, 1) and inside and is_own(symbol) else None
                if other is not None:
                    item = items[n] = other
                    found[key] = outside
        return replace(node, body=tuple(items))

    def visit(node: c.Node) -> c.Node | None:
        if not isinstance(node, c.Block):
            return None
        inner = replace(node, body=tuple(c.rewrite(item, visit) for item in node.body))
        return block(inner, False)

    return block(replace(body, body=tuple(c.rewrite(item, visit) for item in body.body)), True), found


def _first(key: str, items: list[c.Stmt]) -> int | None:
    """What the last of some statements that mentions a variable gives it; None where that is no constant."""
    for item in reversed(items):
        match item:
            case c.Decl(name=name, init=value) if name == key and value is not None:
                return _number(value)
            case c.ExprStmt(expr=c.Assign(op="=", target=c.Name(name=name), value=value)) if name == key:
                return _number(value)
        if key in writes(item) or (isinstance(item, c.Decl) and item.name == key):
            return None
    return None


def _number(value: c.Expr) -> int | None:
    return literal_value(value.text) if isinstance(value, c.Literal) else None


def _without(loop: c.For, head: Induction, key: str, start: int) -> c.For | None:
    """The loop without the variable; None where it is none that is 0 and 1 in turn."""
    items = list(loop.body.body) if isinstance(loop.body, c.Block) else []
    if len(items) < 2 or head.step != 1 or key == head.key or head.key in assigned_scalars(loop.body):
        return None
    begin, other = _number(head.start), ""
    tested = mentions(loop.condition) if loop.condition is not None else set()
    match items[-1]:
        case c.ExprStmt(expr=c.Assign(op="^=", target=c.Name(name=name), value=c.Literal(text="1"))) if name == key:
            pass
        case c.ExprStmt(expr=c.Assign(op="=", target=c.Name(name=name), value=value)) if name == key:
            other = value.name if isinstance(value, c.Name) else ""
            if not other and not _is_flipped(value, key):
                return None
        case _:
            return None
    rest = items[:-1]
    if other:
        place = next((n for n, item in enumerate(rest) if _sets_flipped(item, other, key)), None)
        if place is None or any(other in mentions(item) for item in rest[:place]):
            return None
        declared = isinstance(rest[place], c.Decl)
        rest = rest[:place] + ([] if declared else [rest[place]]) + rest[place + 1 :]
        if not declared or any(other in writes(item) for item in rest):
            return None  # somebody may read it behind the loop
    if begin is None or begin < 0 or any(key in writes(item) for item in rest) or key in tested:
        return None
    if any(isinstance(node, c.Decl) and node.name in (key, other) for item in rest for node in c.walk(item)):
        return None
    names = {key: _turn(head.key, start - begin), **({other: _turn(head.key, start - begin + 1)} if other else {})}

    def change(node: c.Node) -> c.Node | None:
        return names.get(node.name) if isinstance(node, c.Name) else None

    return replace(loop, body=c.Block(tuple(c.rewrite(item, change) for item in rest)))


def _sets_flipped(item: c.Stmt, name: str, key: str) -> bool:
    return isinstance(item, c.Decl) and item.name == name and item.init is not None and _is_flipped(item.init, key)


def _is_flipped(value: c.Expr, key: str) -> bool:
    """`1 - x`, `x ^ 1`, `!x`"""
    here, one = c.Name(key), c.Literal("1")
    if value in (c.Binary("-", one, here), c.Binary("^", here, one), c.Binary("^", one, here), c.Unary("!", here)):
        return True
    return value == c.Ternary(here, c.Literal("0"), one)


def _turn(key: str, number: int) -> c.Expr:
    """`(t + 1) % 2`, of what is 0 or more."""
    return c.Binary("%", c.added(c.Name(key), number % 2), c.Literal("2"))


__all__ = ["with_flips"]
