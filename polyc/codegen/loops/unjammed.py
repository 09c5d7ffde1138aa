"""Loops that gcc would jam at the cost of their vectors."""

from __future__ import annotations

from collections.abc import Iterator

from polyc.analysis.expressions.facts import mentions
from polyc.codegen.text.macros import UNJAMMED
from polyc.model import ctree as c

_STEPS = ("/", "%", ">>")
"""Operations of which gcc's analysis of subscripts knows nothing."""


def without_jam(block: c.Stmt, loop: str) -> c.Stmt:
    """The body of a loop with a word that keeps gcc from unrolling it and jamming the vector loop inside.

    rewrite:  for (p) for (b) s[b] += a[p % n][b];  ->  for (p) { polyc_unjammed(); for (b) s[b] += a[p % n][b]; }
    requires: the block is one vector loop, and a row that it touches is no sum of products of the loop's variable
    ensures:  vectors. gcc 12 computes the second row inside of the jammed loop, where it finds no vectors then: five
              times as long, or ten, of floats
    """
    items = [item for item in c.items(block) if not isinstance(item, c.Note)]
    loops = [item for item in items if not isinstance(item, c.Decl)]
    match loops:
        case [c.For(init=c.Decl(name=inner), body=body, pragmas=pragmas)] if any("simd" in one for one in pragmas):
            nodes = list(c.walk(body))
        case _:
            return block
    rows = [row for one in nodes if isinstance(one, c.ArrayRef) for row in one.subscripts]
    read = {name for row in rows for part in c.walk(row) for name in _variable(part)}
    rows += [value for item in (*items, *nodes) for name, value in _values(item) if name in read]
    if any(isinstance(one, c.For) for one in nodes) or not any(_is_uneven(row, loop, inner) for row in rows):
        return block
    return c.Block((c.ExprStmt(c.Call(UNJAMMED, ())), *c.items(block)))


def _variable(node: c.Node) -> Iterator[str]:
    match node:
        case c.Name(name=name) | c.ArrayRef(array=name, subscripts=()):
            yield name


def _values(node: c.Node) -> Iterator[tuple[str, c.Expr]]:
    """A variable, and what is set to it."""
    match node:
        case c.Decl(name=name, init=value) if value is not None:
            yield name, value
        case c.Assign(op="=", target=target, value=value):
            yield from ((name, value) for name in _variable(target))


def _is_uneven(row: c.Expr, loop: str, inner: str) -> bool:
    """Whether a part of a subscript depends on the loop, and not on the one inside, and is no sum of products."""

    def is_step(node: c.Node) -> bool:
        if isinstance(node, c.Binary) and node.op not in _STEPS:
            return False
        if not isinstance(node, c.Binary | c.Ternary | c.Call | c.ArrayRef):
            return False
        met = mentions(node)
        return loop in met and inner not in met

    return any(map(is_step, c.walk(row)))


__all__ = ["without_jam"]
