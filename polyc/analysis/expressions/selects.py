"""Conditional updates as selects, of which compilers make vectors."""

from __future__ import annotations

from collections.abc import Callable

from polyc.model import ctree as c
from polyc.records import replace

TAKEN = "polyc_taken"
"""The variable that has the answer of the condition."""
FLOATS = ("float", "double")
_ABSOLUTE = ("fabs", "fabsf")
_UPDATES = ("=", "+=", "-=", "*=")

Asked = Callable[[c.ArrayRef], bool]


def as_selects(node: c.If, is_place: Asked, is_there: Asked) -> c.Block | None:
    """`if (r < c) { float s = e; x += s * d; }` as `{ int t = r < c; float s = e; x = t ? x + s * d : x; }`; None where
    it is not of that form.

    is_place: whether a reference is to a floating value of the iteration's own, which nobody else sees
    is_there: whether it is to a floating value that may be read whatever the condition says
    ensures:  the same values. Floating operations trap for no operands; those of iterations that are left out may raise
              exceptions that nobody asks for
    """
    if node.otherwise is not None:
        return None
    items = node.then.body if isinstance(node.then, c.Block) else (node.then,)
    found: list[c.Stmt] = [c.Decl("int", TAKEN, (), node.condition)]
    declared: set[str] = set()
    updates = 0
    for item in items:
        match item:
            case c.Decl(type=text, name=name, extents=(), init=init) if (
                init is not None and text.removeprefix("const ") in FLOATS and _is_harmless(init, is_there, declared)
            ):
                declared.add(name)
                found.append(item)
            case c.ExprStmt(expr=c.Assign(op=op, target=c.ArrayRef() as place, value=value) as update) if (
                op in _UPDATES and is_place(place) and _is_harmless(value, is_there, declared)
            ):
                new = value if op == "=" else c.Binary(op[0], place, value)
                choice = c.Ternary(c.Name(TAKEN), new, place)
                found.append(replace(item, expr=replace(update, op="=", value=choice)))
                updates += 1
            case _:
                return None
    return c.Block(tuple(found)) if updates else None


def _is_harmless(expr: c.Expr, is_there: Asked, declared: set[str]) -> bool:
    """Whether an expression of floating values can be computed in vain."""
    match expr:
        case c.Literal():
            return True
        case c.Name(name=name):
            return name in declared
        case c.ArrayRef():
            return is_there(expr)
        case c.Binary(op="+" | "-" | "*" | "/", left=left, right=right):
            return _is_harmless(left, is_there, declared) and _is_harmless(right, is_there, declared)
        case c.Unary(op="-" | "+", operand=operand):
            return _is_harmless(operand, is_there, declared)
        case c.Cast(type=text, operand=operand):
            return text in FLOATS and _is_harmless(operand, is_there, declared)
        case c.Call(function=name, arguments=(one,)):
            return name in _ABSOLUTE and _is_harmless(one, is_there, declared)
    return False
