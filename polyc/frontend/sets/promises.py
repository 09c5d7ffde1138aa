"""What the user promises of the parameters: `--param N=100`, `--assume 'N >= 4 && M < N'`."""

from __future__ import annotations

import ast
import re

import islpy as isl

from polyc.errors import Diagnostic, UserError
from polyc.frontend.c.state import EVERYTHING, number, variable

_COMPARE: dict[type[ast.cmpop], str] = {
    ast.Lt: "lt_set",
    ast.LtE: "le_set",
    ast.Gt: "gt_set",
    ast.GtE: "ge_set",
    ast.Eq: "eq_set",
    ast.NotEq: "ne_set",
}


class Junk(Exception):
    """Why a condition cannot be read."""


def parse_condition(text: str) -> ast.expr:
    """A C-like condition as Python's tree. Raises UserError."""
    plain = re.sub(r"!(?!=)", " not ", text.replace("&&", " and ").replace("||", " or ")).strip()
    try:
        tree = ast.parse(plain, mode="eval").body
        condition_set(tree)
    except (SyntaxError, Junk, ValueError) as problem:
        reason = str(problem) if isinstance(problem, Junk) else "it is no condition"
        hint = "write affine comparisons of parameters, as in 'N >= 4 && M < N'"
        raise UserError(
            [Diagnostic("bad-assume", f"cannot use the assumption '{text}': {reason}", None, hint)]
        ) from None
    return tree


def names_in(tree: ast.expr) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def condition_set(node: ast.expr) -> isl.Set:
    """`[N] -> { [] : … }`. Raises Junk."""
    match node:
        case ast.BoolOp(op=op, values=values):
            found = condition_set(values[0])
            for value in values[1:]:
                other = condition_set(value)
                found = found.intersect(other) if isinstance(op, ast.And) else found.union(other)
            return found
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            return condition_set(inner).complement()
        case ast.Compare(left=left, ops=ops, comparators=comparators):
            found = EVERYTHING
            for sign, right in zip(ops, comparators, strict=True):
                if type(sign) not in _COMPARE:
                    raise Junk("it is no comparison")
                found = found.intersect(getattr(value_of(left), _COMPARE[type(sign)])(value_of(right)))
                left = right
            return found
    raise Junk("it is no condition")


def value_of(node: ast.expr) -> isl.PwAff:
    match node:
        case ast.Constant(value=int() as value) if not isinstance(value, bool) and abs(value) < 1 << 62:
            return number(value)
        case ast.Name(id=name):
            return variable(name)
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return value_of(inner).neg()
        case ast.BinOp(op=ast.Add(), left=left, right=right):
            return value_of(left) + value_of(right)
        case ast.BinOp(op=ast.Sub(), left=left, right=right):
            return value_of(left) - value_of(right)
        case ast.BinOp(op=ast.Mult(), left=left, right=right):
            first, second = value_of(left), value_of(right)
            if not (first.is_cst() or second.is_cst()):
                raise Junk("it is not affine")
            return first * second
        case ast.BinOp(op=ast.Mod(), left=left, right=ast.Constant(value=int() as size)) if size > 0:
            return value_of(left).mod_val(isl.Val(size))
    raise Junk("it is not affine")
