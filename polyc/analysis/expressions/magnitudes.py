"""Floating-point numbers that are not below zero, nor -0.0: the largest, or smallest, is the same in any order.

A comparison leaves out what is no number, in each thread as in one; and equal numbers have the same bits where there is
no zero with a sign.
"""

from __future__ import annotations

from polyc.analysis.expressions.constants import literal_value
from polyc.analysis.expressions.elementwise import assigned
from polyc.analysis.expressions.reductions import MAX, MIN, reductions_of
from polyc.model import ctree as c
from polyc.model.scop import AccessKind, Scop, Statement

ABSOLUTE = frozenset({"fabs", "fabsf", "exp", "expf", "exp2", "exp2f"})
"""Functions whose values are magnitudes, whatever they are given."""
KEEPING = frozenset({"sqrt", "sqrtf", "fmax", "fmaxf", "fmin", "fminf", "hypot", "hypotf"})
"""Those whose values are magnitudes if they are given some."""
MOST_STEPS = 8
"""Scalars through which a value is followed."""


def keeps_magnitudes(scop: Scop, operator: str, array: str) -> bool:
    """Whether a scalar only becomes the larger, or smaller, of itself and a magnitude, from a number on that is one."""
    element = scop.arrays[array].element
    if operator not in (MAX, MIN) or element.kind != "float" or scop.arrays[array].rank:
        return False
    writers = [s for s in scop.statements.values() if _writes(s, array)]
    starts = [s for s in writers if _is_number(s, array)]
    others = [s for s in writers if s not in starts]
    known = array in scop.numbers or array in scop.privatizable or _begins(scop, starts, array)
    return known and all(
        reductions_of(s, scop.arrays).get(array) == operator and _combines_magnitudes(scop, s, array) for s in others
    )


def is_magnitude(scop: Scop, expr: c.Expr, steps: int = MOST_STEPS) -> bool:
    """Whether an expression is no number below zero, and not -0.0: perhaps none at all."""
    match expr:
        case c.Literal():
            return is_number(expr)
        case c.Call(function=name) if name in ABSOLUTE - scop.own_functions:
            return True
        case c.Call(function=name, arguments=given) if name in KEEPING - scop.own_functions:
            return all(is_magnitude(scop, one, steps) for one in given)
        case c.Binary(op="*", left=left, right=right) if c.unlabelled(left) == c.unlabelled(right):
            return True
        case c.Binary(op="+" | "*" | "/", left=left, right=right):
            return is_magnitude(scop, left, steps) and is_magnitude(scop, right, steps)
        case c.Ternary(then=then, otherwise=otherwise):
            return is_magnitude(scop, then, steps) and is_magnitude(scop, otherwise, steps)
        case c.Cast(type="float" | "double", operand=operand):
            return is_magnitude(scop, operand, steps)
        case c.ArrayRef(array=array, subscripts=()) if steps and array in scop.privatizable:
            values = [assigned(s) for s in scop.statements.values() if _writes(s, array)]
            return all(v is not None and v.op == "=" and is_magnitude(scop, v.value, steps - 1) for v in values)
    return False


def _combines_magnitudes(scop: Scop, statement: Statement, array: str) -> bool:
    """Whether all that a statement gives a scalar is itself or a magnitude."""
    found = assigned(statement)
    if found is None or found.op != "=":
        return False
    match found.value:
        case c.Ternary(then=then, otherwise=otherwise):
            sides = [then, otherwise]
        case c.Call(arguments=(one, other)):
            sides = [one, other]
        case _:
            return False
    values = [side for side in sides if not (isinstance(side, c.ArrayRef) and side.array == array)]
    return len(values) == 1 and is_magnitude(scop, values[0])


def _is_number(statement: Statement, array: str) -> bool:
    """Whether a statement gives a scalar a constant that is a magnitude."""
    found = assigned(statement)
    if found is None or found.op != "=" or not isinstance(found.target, c.ArrayRef) or found.target.array != array:
        return False
    return is_number(found.value)


def is_number(expr: c.Expr) -> bool:
    """Whether an expression is a constant above zero, or +0.0."""
    if isinstance(expr, c.Cast):
        return is_number(expr.operand)
    if isinstance(expr, c.Call):
        return expr.function in c.NUMBERS and "nan" not in expr.function
    return isinstance(expr, c.Literal) and (literal_value(expr.text) is not None or _is_decimal(expr.text))


def _is_decimal(text: str) -> bool:
    try:
        return float(text.rstrip("fFlL")) >= 0
    except ValueError:
        return False


def _begins(scop: Scop, starts: list[Statement], array: str) -> bool:
    """Whether the first statement that mentions a scalar is one of some, and runs in any case."""
    first = next(s for s in scop.statements.values() if any(a.array == array for a in s.accesses))
    return first in starts and not first.loops and scop.known.is_subset(first.domain.params())


def _writes(statement: Statement, array: str) -> bool:
    return any(a.array == array and a.kind is not AccessKind.READ for a in statement.accesses)


__all__ = ["is_magnitude", "is_number", "keeps_magnitudes"]
