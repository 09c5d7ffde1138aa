"""Kernels as people write them: no blocks for nothing, no zeros in sums, `i < n` for `n >= i + 1`."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from polyc.model import ctree as c

_ONE, _ZERO = c.Literal("1"), c.Literal("0")


N = TypeVar("N", bound=c.Node)


def tidied(items: tuple[c.Stmt, ...]) -> tuple[c.Stmt, ...]:
    """The statements without blocks that hold nothing together."""
    return _spliced(tuple(map(_tidied, items)))


def simpler(node: N) -> N:
    """What polyc itself made of whole numbers, simplified: never what users wrote, where `x + 0` may be a float's."""
    return c.rewrite(node, _simpler)


def _spliced(items: tuple[c.Stmt, ...]) -> tuple[c.Stmt, ...]:
    """The statements, with those of blocks that declare nothing in their place."""
    found: list[c.Stmt] = []
    for item in items:
        if isinstance(item, c.Block) and not any(isinstance(inner, c.Decl) for inner in item.body):
            found += item.body
        else:
            found.append(item)
    return tuple(found)


def _tidied(item: c.Stmt) -> c.Stmt:
    match item:
        case c.Block(body=body):
            return replace(item, body=_spliced(tuple(map(_tidied, body))))
        case c.For(body=body) | c.While(body=body):
            return replace(item, body=_single(_tidied(body)))
        case c.If(condition=c.Binary(op="||", right=right), then=then) if right == _ONE:
            return _tidied(then)
        case c.If(then=then, otherwise=otherwise):
            other = None if otherwise is None else _single(_tidied(otherwise))
            return replace(item, then=_single(_tidied(then)), otherwise=other)
        case _:
            return item


def _single(item: c.Stmt) -> c.Stmt:
    """One statement without a block around it."""
    if isinstance(item, c.Block) and len(item.body) == 1 and not isinstance(item.body[0], c.Decl):
        return item.body[0]
    return item


def _simpler(node: c.Node) -> c.Node | None:
    match node:
        case c.Binary(op=">=", left=left, right=c.Binary(op="+", left=right, right=one)) if one == _ONE:
            return c.Binary("<", c.rewrite(right, _simpler), c.rewrite(left, _simpler))
        case c.Binary(op="/", left=c.Literal(text="0") as zero, right=c.Literal()):
            return zero
        case c.Binary(op="+" | "-" as op, left=left, right=right):
            return _sum(op, c.rewrite(left, _simpler), c.rewrite(right, _simpler))
        case _:
            return None


def _sum(op: str, left: c.Expr, right: c.Expr) -> c.Expr:
    """A sum or difference of whole numbers, without zeros, its constants together."""
    if right == _ZERO:
        return left
    if left == _ZERO and op == "+":
        return right
    match left, right:
        case c.Literal(text=a), c.Literal(text=b) if a.isdigit() and b.isdigit():
            value = int(a) + int(b) if op == "+" else int(a) - int(b)
            return c.Literal(str(value)) if value >= 0 else c.Unary("-", c.Literal(str(-value)))
        case c.Binary(op="+", left=first, right=c.Literal(text=a)), c.Literal(text=b) if (
            op == "+" and a.isdigit() and b.isdigit()
        ):
            return c.Binary("+", first, c.Literal(str(int(a) + int(b))))
    return c.Binary(op, left, right)
