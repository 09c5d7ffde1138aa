"""How much a GPU's copies of arrays hold, where the data say how far the region reaches: its own loops find out first.

rewrite:  for (i = 0; i < n; i++)
            for (j = 0; j < m; j++) y[i * m + j] = x[idx[i] * m + j];
          ->
          long x_first = 0, x_last = -1;
          for (int i = 0; i < n; i++)
            for (int j = 0; j < m; j = j < m - 1 ? m - 1 : m) { x_first = min(x_first, idx[i] * m + j); x_last = … }
          if (x_first >= 0) f(n, m, x_last, …); else …
requires: `frontend/search.py` has made the loops; copies begin at an array's first element, and end at the last that is
          used, which is what the wrapper is told
math:     a function that is affine in j has its extrema over an interval at the ends of that
"""

from __future__ import annotations

from polyc.analysis.expressions.facts import assigned_scalars, mentions
from polyc.codegen.blocks.ranges import ANSWER, asked_first
from polyc.codegen.text.arith import ONE, ZERO
from polyc.model import ctree as c
from polyc.model.printed import Question
from polyc.model.scop import FIRST, LAST, Scop
from polyc.records import replace

INSIDE = "polyc_is_inside"
"""The variable of the answer where nothing is asked about memory that may overlap."""


def ends(scop: Scop) -> list[c.Stmt]:
    """The variables that the search sets, for the question and for the call behind it: nothing is used at first."""
    pairs = () if scop.search is None else scop.search.ends.values()
    starts = [(name, start) for both in pairs for name, start in zip(both, ("0", "-1"), strict=True)]
    return [c.Decl("long", name, (), c.Literal(start)) for name, start in starts]


def asked_of_copies(scop: Scop, question: Question | None) -> Question | None:
    """As `asked_first`, for a GPU: behind `ends`, and by one thread; no array may be used before its start."""
    found = asked_first(scop, question, ANSWER if scop.apart else INSIDE)
    if found is None or scop.search is None:
        return found
    body = tuple(c.rewrite(item, _shorter) for item in found.body[2 * len(scop.search.ends) :])
    starts = (c.Binary(">=", c.Name(first), ZERO) for first, _ in scop.search.ends.values())
    return replace(found, body=(*body, *(c.ExprStmt(c.Assign("&=", c.Name(found.answer), one)) for one in starts)))


def _shorter(node: c.Node) -> c.Node | None:
    """A loop of the search without threads, and with its first and last iteration only where these are enough."""
    if not isinstance(node, c.For):
        return None
    loop = replace(node, body=c.rewrite(node.body, _shorter), pragmas=())
    match loop:
        case c.For(
            init=c.Decl(name=name),
            condition=c.Binary(op="<" | "<=" as op, left=c.Name(name=left), right=end),
            step=c.Postfix(op="++") | c.Unary(op="++"),
        ) if name == left and not mentions(end) & {name, *assigned_scalars(loop.body)} and _is_affine(loop.body, name):
            last, behind = (c.Binary("-", end, ONE), end) if op == "<" else (end, c.Binary("+", end, ONE))
            following = c.Ternary(c.Binary("<", c.Name(name), last), last, behind)
            return replace(loop, step=c.Assign("=", c.Name(name), following))
    return loop


def _is_affine(node: c.Node, name: str) -> bool:
    """Whether a variable is nowhere but in the subscripts that a statement keeps, and these are affine in it."""
    match node:
        case c.ExprStmt(expr=c.Assign(value=c.Call(function=macro, arguments=(_, index)))) if macro in (FIRST, LAST):
            return _is_affine_in(index, name)
        case c.Block() | c.For() | c.If():
            return all(_is_affine(child, name) for child in c.children(node))
    return name not in mentions(node)


def _is_affine_in(expr: c.Node, name: str) -> bool:
    """math: in 32 bits without a sign too, as neighbours that both lie in an array are no 2^32 elements apart"""
    match expr:
        case c.Name():
            return True
        case c.Cast(type="long", operand=inner):
            return _is_affine_in(inner, name)
        case c.Binary(op="+" | "-", left=left, right=right):
            return _is_affine_in(left, name) and _is_affine_in(right, name)
        case c.Binary(op="*", left=left, right=right) if name not in mentions(left) & mentions(right):
            return _is_affine_in(left, name) and _is_affine_in(right, name)
    return name not in mentions(expr)


__all__ = ["asked_of_copies", "ends"]
