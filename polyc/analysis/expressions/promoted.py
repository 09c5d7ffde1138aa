"""The types in which C computes whole numbers, and what stands around them in a text."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

import islpy as isl

from polyc.analysis.expressions.constants import literal_value
from polyc.analysis.expressions.reader import NotAffine, Reader, parameter_space, piecewise
from polyc.model import ctree as c
from polyc.model.scop import Array, CType, Function, Scop, Statement
from polyc.records import fields, replace

WHOLE = "polyc_int"
"""The macro around a choice that is converted to a narrower type (`codegen/text/macros.py`)."""
EXTREMA = {name: f"polyc_{name}" for name in ("fmax", "fmaxf", "fmin", "fminf")}
"""Functions of C's library, and the macros in their place."""
VECTOR_EXTREMA = {name: f"polyc_v{name}" for name in EXTREMA}
"""The same, and the macros in vector loops."""
ROOTS = {name: f"polyc_{name}" for name in ("sqrt", "sqrtf")}
"""Functions that set errno for negative arguments, and the macros that do not, for files that never name it."""
ROUNDED = {name: f"polyc_{name}" for kind in ("floor", "ceil", "trunc", "round") for name in (kind, f"{kind}f")}
"""Functions that gcc makes vectors of only where no exception is looked at, and the macros for vector loops."""
FLAG = "polyc_flag"
"""The macro around an element of the type `_Bool` in a vector loop."""
_OF_FLOATS = frozenset({"fabs", "fabsf", *ROOTS, *ROUNDED})
"""Functions of one argument whose type is that of the value."""
NARROW = frozenset(
    ("char", "signed char", "unsigned char", "short", "unsigned short", "int8_t", "uint8_t", "int16_t", "uint16_t")
)
"""Integer types with fewer bytes than `int`, as a cast spells them."""
SIGNED = {"int": 4, "long": 8}
"""Types that sums are computed in, as a cast spells them, and their bytes."""


def is_promoted(ctype: CType) -> bool:
    """Whether a value of the type is one of `int` in an expression."""
    return ctype.kind == "int" and (0 < ctype.size_bytes < 4 or (ctype.size_bytes == 4 and ctype.signed))


def is_int(expr: c.Expr, arrays: Mapping[str, Array], loops: Mapping[str, CType]) -> bool:
    """Whether an expression of a statement certainly has the type `int`.

    loops: the types of the variables that are no arrays
    """
    return signed_bytes(expr, arrays, loops) == SIGNED["int"]


def signed_bytes(expr: c.Expr, arrays: Mapping[str, Array], loops: Mapping[str, CType]) -> int:
    """The size of the type of an expression that certainly has a sign: 4 for an `int`, 8 for a `long`, else 0."""

    def both(one: c.Expr, other: c.Expr) -> int:
        sizes = found(one), found(other)
        return max(sizes) if all(sizes) else 0

    def found(one: c.Expr) -> int:
        match one:
            case c.Literal(text=text):
                value = literal_value(text)
                return 4 if value is not None and text.isdigit() and value < 1 << 31 else 0
            case c.Name(name=name):
                return _promoted_bytes(loops[name]) if name in loops else 0
            case c.ArrayRef(array=array):
                return _promoted_bytes(arrays[array].element) if array in arrays else 0
            case c.Cast(type=text):
                return 4 if text in NARROW else SIGNED.get(text, 0)
            case c.Unary(op="-" | "+" | "~", operand=operand):
                return found(operand)
            case c.Binary(op=op) if op in c.COMPARISONS or op in ("&&", "||"):
                return 4
            case c.Binary(op="<<" | ">>", left=left):
                return found(left)
            case c.Binary(op="+" | "-" | "*" | "/" | "%" | "&" | "|" | "^", left=left, right=right):
                return both(left, right)
            case c.Ternary(then=then, otherwise=otherwise):
                return both(then, otherwise)
        return 0

    return found(expr)


def _promoted_bytes(ctype: CType) -> int:
    """The size of a type with a sign, after promotion; 0 for others."""
    if is_promoted(ctype):
        return 4
    return 8 if ctype.kind == "int" and ctype.size_bytes == 8 and ctype.signed else 0


def without_idle_casts(expr: c.Expr, arrays: Mapping[str, Array], loops: Mapping[str, CType]) -> c.Expr:
    """The expression without casts to `int` and `long` of what has that type anyway, or becomes it in any sum."""

    def change(node: c.Node) -> c.Node | None:
        match node:
            case c.Cast(type=text, operand=operand) if text in SIGNED:
                same = signed_bytes(operand, arrays, loops) == SIGNED[text]
                return c.rewrite(operand, change) if same else None
        return None

    return c.rewrite(expr, change)


def value_of_call(
    call: c.Call, functions: Mapping[str, Function], arrays: Mapping[str, Array], loops: Mapping[str, CType]
) -> c.Expr | None:
    """The expression that a call of the file's stands for, where its arguments have the types of the parameters."""

    def fits(argument: c.Expr, wanted: CType) -> bool:
        match argument:
            case c.Cast(type=text) if text == wanted.text:
                return True
            case c.ArrayRef(array=array) if array in arrays:
                if replace(arrays[array].element, text=wanted.text) == wanted and wanted.text != "_Bool":
                    return True
        return wanted.text == "int" and is_int(argument, arrays, loops)

    function = functions.get(call.function)
    if function is None or len(call.arguments) != len(function.parameters):
        return None
    given = dict(zip((name for name, _ in function.parameters), call.arguments, strict=True))
    if not all(fits(given[name], wanted) for name, wanted in function.parameters):
        return None
    return c.rewrite(function.value, lambda node: given.get(node.name) if isinstance(node, c.Name) else None)


def as_call(expr: c.Expr, functions: Mapping[str, Function]) -> c.Call | None:
    """The call of one of the functions that may have stood in the place of an expression."""

    def matches(pattern: object, part: object) -> bool:
        if isinstance(pattern, c.Name) and pattern.name in names:
            assert isinstance(part, c.Expr)
            return c.unlabelled(given.setdefault(pattern.name, part)) == c.unlabelled(part)
        if isinstance(pattern, tuple) and isinstance(part, tuple):
            return len(pattern) == len(part) and all(map(matches, pattern, part))
        if not isinstance(pattern, c.Node):
            return pattern == part
        own = [one.name for one in fields(pattern) if one.name != "span"]
        return type(pattern) is type(part) and all(matches(getattr(pattern, k), getattr(part, k)) for k in own)

    for name, function in functions.items():
        names, given = [key for key, _ in function.parameters], dict[str, c.Expr]()
        if matches(function.value, expr):
            return c.Call(name, tuple(given[key] for key in names))
    return None


def is_of_constants(choice: c.Ternary) -> bool:
    """Whether a choice is among constants alone, as `v > t ? 255 : 0`: no minimum, whatever it compares."""
    return all(
        is_of_constants(one)
        if isinstance(one, c.Ternary)
        else not any(isinstance(node, c.Name | c.ArrayRef | c.Call) for node in c.walk(one))
        for one in (choice.then, choice.otherwise)
    )


def floating_type(expr: c.Expr, arrays: Mapping[str, Array], loops: Mapping[str, CType]) -> str:
    """The type in which C computes an expression: `float`, `double`, or `int` for whole numbers of any type; "" where
    that is not known, or any other."""

    def of(*parts: c.Expr) -> str:
        kinds = {floating_type(part, arrays, loops) for part in parts}
        return next((kind for kind in ("", "double", "float", "int") if kind in kinds), "")

    match expr:
        case c.Literal(text=text):
            if literal_value(text) is not None:
                return "int"
            plain = set(text.lower()) <= set("0123456789.e+-f")
            return "" if not plain else "float" if text.lower().endswith("f") else "double"
        case c.Name(name=name):
            return "int" if name in loops else ""
        case c.ArrayRef(array=array, subscripts=subscripts) if (
            array in arrays and len(subscripts) == arrays[array].rank
        ):
            element = arrays[array].element
            return {("float", 4): "float", ("float", 8): "double"}.get((element.kind, element.size_bytes), "")
        case c.Cast(type=text):
            return text if text in ("float", "double") else ""
        case c.Unary(op="-" | "+", operand=operand):
            return of(operand)
        case c.Binary(op="+" | "-" | "*" | "/", left=left, right=right) | c.Ternary(then=left, otherwise=right):
            return of(left, right)
        case c.Call(function=name, arguments=(_,)) if name in _OF_FLOATS:
            return "float" if name.endswith("f") else "double"
    return ""


def number_in(scop: Scop, statement: Statement, expr: c.Expr) -> isl.PwAff | None:
    """The value `{ S[i] -> [v] }` of an expression of a statement's loops and of sizes; None where it is not affine, or
    C may compute another one, without a sign."""
    if not number_bytes(scop, statement, expr):
        return None
    loops = statement.loops
    space = parameter_space(scop).add_named_tuple_id_ui(statement.domain.get_tuple_id(), len(loops))
    reader = Reader({p.expr: p.name for p in scop.parameters}, {name: k for k, name in enumerate(loops)}, space)
    with suppress(NotAffine):
        return piecewise(reader.value(expr))
    return None


def number_bytes(scop: Scop, statement: Statement, expr: c.Expr) -> int:
    """The size of the type in which C computes an expression of a statement's loops and of sizes; 0 where it may
    compute a part of it without a sign, or anything else is in it."""
    types = {p.expr: p.type for p in scop.parameters}
    types |= {c.Name(name): type_ for name, type_ in zip(statement.loops, statement.loop_types, strict=True)}
    return _bytes(expr, types)


def branch_of(scop: Scop, statement: Statement, choice: c.Ternary, holds: bool) -> c.Expr | None:
    """What a choice is where its condition holds, or does not, in the type of the choice; None where that type is not
    known."""
    taken = choice.then if holds else choice.otherwise
    sizes = [number_bytes(scop, statement, branch) for branch in (choice.then, choice.otherwise)]
    if 0 not in sizes:
        return taken if sizes[0] == sizes[1] else None
    types = dict(zip(statement.loops, statement.loop_types, strict=True))
    whole, own = (floating_type(one, scop.arrays, types) for one in (choice, taken))
    if whole not in ("float", "double"):
        return None
    return taken if own == whole else c.Cast(whole, taken)


def _bytes(expr: c.Expr, types: Mapping[c.Expr, CType]) -> int:
    if expr in types:
        return _promoted_bytes(types[expr])
    match expr:
        case c.Literal():
            return signed_bytes(expr, {}, {})
        case c.Unary(op="-" | "+", operand=operand):
            return _bytes(operand, types)
        case c.Binary(op=">>", left=left, right=c.Literal()):
            return _bytes(left, types)
        case c.Binary(op="+" | "-" | "*" | "/" | "%" | "&", left=left, right=right):
            sizes = _bytes(left, types), _bytes(right, types)
            return max(sizes) if all(sizes) else 0
        case c.Ternary(condition=condition, then=left, otherwise=right) if _is_test(condition, types):
            sizes = _bytes(left, types), _bytes(right, types)
            return max(sizes) if all(sizes) else 0
    return 0


def _is_test(expr: c.Expr, types: Mapping[c.Expr, CType]) -> bool:
    """Whether a condition compares numbers with a sign."""
    match expr:
        case c.Unary(op="!", operand=operand):
            return _is_test(operand, types)
        case c.Binary(op="&&" | "||", left=left, right=right):
            return _is_test(left, types) and _is_test(right, types)
        case c.Binary(op=op, left=left, right=right) if op in c.COMPARISONS:
            return _bytes(left, types) > 0 and _bytes(right, types) > 0
    return _bytes(expr, types) > 0
