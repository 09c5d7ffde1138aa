"""Branches that compilers would take for never taken."""

from __future__ import annotations

from polyc.codegen.text.printer import conjunction
from polyc.model import ctree as c


def with_ranges_apart(block: c.Stmt, loop: str) -> c.Stmt:
    """Ask for the ends of a range one after the other, in a loop of constant length.

    rewrite:  if (j >= 1 && j <= 298) { loops }  ->  if (j >= 1) { if (j <= 298) { loops } }
    ensures:  loops that are optimised for speed. Of both comparisons gcc makes one of a number without a sign,
              `j - 1 <= 297`, which its prediction of loops of constant length has for false in each iteration
    """

    def at(node: c.Node) -> c.Node | None:
        if not isinstance(node, c.If) or node.otherwise is not None or not _has_loops(node.then):
            return None
        asked = c.conjuncts(node.condition)
        ends = [one for one in asked if _is_end(one, loop, ("<", "<="))]
        if not ends or not any(_is_end(one, loop, (">", ">=")) for one in asked):
            return None
        outer, inner = conjunction(one for one in asked if one not in ends), conjunction(ends)
        assert outer is not None
        assert inner is not None
        then = c.rewrite(node.then, at)
        return c.If(outer, c.Block((c.If(inner, then),)))

    return c.rewrite(block, at)


def _is_end(condition: c.Expr, loop: str, operations: tuple[str, ...]) -> bool:
    match condition:
        case c.Binary(op=op, left=c.Name(name=name), right=c.Literal()):
            return op in operations and name == loop
        case _:
            return False


def _has_loops(node: c.Stmt) -> bool:
    return any(isinstance(inner, c.For) for inner in c.walk(node))


__all__ = ["with_ranges_apart"]
