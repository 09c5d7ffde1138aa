"""Expressions that C computes as `int`, and what stands around them in a text."""

from __future__ import annotations

from collections.abc import Mapping

from polyc.analysis.expressions.constants import literal_value
from polyc.model import ctree as c
from polyc.model.scop import Array, CType

WHOLE = "polyc_int"
"""The macro around a choice that is converted to a narrower type (`codegen/text/macros.py`)."""
EXTREMA = {name: f"polyc_{name}" for name in ("fmax", "fmaxf", "fmin", "fminf")}
"""Functions of C's library, and the macros in their place."""
NARROW = frozenset(
    ("char", "signed char", "unsigned char", "short", "unsigned short", "int8_t", "uint8_t", "int16_t", "uint16_t")
)
"""Integer types with fewer bytes than `int`, as a cast spells them."""


def is_promoted(ctype: CType) -> bool:
    """Whether a value of the type is one of `int` in an expression."""
    return ctype.kind == "int" and (0 < ctype.size_bytes < 4 or (ctype.size_bytes == 4 and ctype.signed))


def is_int(expr: c.Expr, arrays: Mapping[str, Array], loops: Mapping[str, CType]) -> bool:
    """Whether an expression of a statement certainly has the type `int`.

    loops: the types of the variables that are no arrays
    """

    def found(one: c.Expr) -> bool:
        match one:
            case c.Literal(text=text):
                value = literal_value(text)
                return value is not None and text.isdigit() and value < 1 << 31
            case c.Name(name=name):
                return name in loops and is_promoted(loops[name])
            case c.ArrayRef(array=array):
                return array in arrays and is_promoted(arrays[array].element)
            case c.Cast(type=text):
                return text == "int" or text in NARROW
            case c.Unary(op="-" | "+" | "~", operand=operand):
                return found(operand)
            case c.Binary(op=op) if op in c.COMPARISONS or op in ("&&", "||"):
                return True
            case c.Binary(op="<<" | ">>", left=left):
                return found(left)
            case c.Binary(op="+" | "-" | "*" | "/" | "%" | "&" | "|" | "^", left=left, right=right):
                return found(left) and found(right)
            case c.Ternary(then=then, otherwise=otherwise):
                return found(then) and found(otherwise)
        return False

    return found(expr)


def is_of_constants(choice: c.Ternary) -> bool:
    """Whether a choice is among constants alone, as `v > t ? 255 : 0`: no minimum, whatever it compares."""
    return all(
        is_of_constants(one)
        if isinstance(one, c.Ternary)
        else not any(isinstance(node, c.Name | c.ArrayRef | c.Call) for node in c.walk(one))
        for one in (choice.then, choice.otherwise)
    )
