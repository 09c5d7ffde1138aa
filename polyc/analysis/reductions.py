"""Which statements only add to (or multiply into, …) a location."""

from __future__ import annotations

from polyc.model import ctree as c
from polyc.model.scop import Statement

OPERATORS = {"+=": "+", "-=": "+", "*=": "*", "&=": "&", "|=": "|", "^=": "^"}


def reduction_of(statement: Statement) -> tuple[str, str] | None:
    """`(operator, array)` of `A[f] op= e`, `A[f] = A[f] op e` or `A[f] = e op A[f]`, with e free of A."""
    if statement.opaque or not isinstance(statement.body, c.ExprStmt):
        return None
    match statement.body.expr:
        case c.Assign(op=op, target=c.ArrayRef(array=array), value=value) if op in OPERATORS:
            return None if _mentions(value, array) else (OPERATORS[op], array)
        case c.Assign(op="=", target=c.ArrayRef() as target, value=c.Binary(op="+" | "*" as op) as sum_):
            for own, other in ((sum_.left, sum_.right), (sum_.right, sum_.left)):
                same = isinstance(own, c.ArrayRef) and own.array == target.array
                if same and _subscripts(own) == target.subscripts and not _mentions(other, target.array):
                    return op, target.array
            return None
        case _:
            return None


def _subscripts(node: c.Expr) -> tuple[c.Expr, ...]:
    return node.subscripts if isinstance(node, c.ArrayRef) else ()


def _mentions(expr: c.Expr, array: str) -> bool:
    return any(isinstance(n, c.ArrayRef) and n.array == array for n in c.walk(expr))
