"""Between which numbers an integer expression stays that depends on data: `k < 6 ? k : 6` is at most 6."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from polyc.analysis.expressions.facts import base_key, constant
from polyc.model import ctree as c
from polyc.model.scop import CType

Bounds = tuple[int | None, int | None]
"""The least and the greatest value; None where nothing is known. No bound is negative: what an unsigned type makes of
negative numbers is not asked for."""
UNKNOWN: Bounds = (None, None)
LARGEST = 1 << 24
"""No larger bound is used: what is computed from such numbers fits every type from `int` up."""
MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
TRUTHS = c.COMPARISONS | {"&&", "||", "!"}
NARROW = {
    "_Bool": 1,
    "unsigned char": 255,
    "uint8_t": 255,
    "unsigned short": 65535,
    "unsigned short int": 65535,
    "uint16_t": 65535,
}
"""The largest values of types that have no negative ones."""
WIDE = frozenset(("int", "long", "signed", "unsigned", "size_t", "ptrdiff_t", "ssize_t"))
"""The words of whole numbers' types that hold what is added to an index."""
WHOLE = WIDE | {"short", "char"}
FAR = 1 << 16
"""Numbers that are added to a product are no larger where the product's rounding counts."""

Known = Callable[[str], c.Expr | None]
Element = Callable[[str], CType | None]


def bounds_of(expr: c.Expr, known: Known, element: Element = lambda name: None) -> Bounds:
    """The bounds of an expression's value, as a mathematical number.

    known:   the only value that a variable of at least the size of `int` is ever given; None where it has others
    element: the type of a variable, or of an array's elements, where that is known
    math:    of `a < b ? a : b` the value is at most b, whatever a is; a sum, product, quotient by a constant of numbers
             that are bounded on both sides is bounded. NaN is on the other side of each comparison, as is the branch.
             `a & n` lies between 0 and a constant n that is not negative, `a % n` below it where a is not negative
    """
    low, high = _bounds(expr, known, element)
    return (low if low is not None and 0 <= low <= LARGEST else None), (
        high if high is not None and 0 <= high <= LARGEST else None
    )


def decided(node: c.Expr, element: Element) -> bool | None:
    """What a comparison always says, by the types of what it compares; None where that depends on the values."""
    if not isinstance(node, c.Binary) or node.op not in (*MIRRORED, "==", "!="):
        return None
    sides = ((node.left, node.right), (node.right, node.left))
    (a, b), (x, y) = (_compared(side, other, element) for side, other in sides)
    if a is None or b is None or x is None or y is None:
        return None
    if node.op in ("==", "!="):
        return node.op == "!=" if b < x or y < a else None
    if node.op in (">", ">="):
        (a, b), (x, y) = (x, y), (a, b)
    below, above = (b < x, a >= y) if node.op in ("<", ">") else (b <= x, a > y)
    return True if below else False if above else None


def _compared(expr: c.Expr, other: c.Expr, element: Element) -> Bounds:
    """The bounds of one side of a comparison: below 0 where the other side is promoted to `int`."""
    number = constant(expr)
    while isinstance(other, c.Cast) and other.type in ("int", "long"):
        other = other.operand
    narrow = other.type in NARROW if isinstance(other, c.Cast) else isinstance(other, c.Name | c.Subscript)
    if number is not None and number < 0 and (narrow or _is_truth(other)):
        return number, number
    return _both(bounds_of(expr, lambda _: None, element))


def _is_truth(expr: c.Expr) -> bool:
    """Whether a value is 0 or 1."""
    return isinstance(expr, c.Binary | c.Unary) and expr.op in TRUTHS


def _bounds(expr: c.Expr, known: Known, element: Element) -> Bounds:
    number = constant(expr)
    if number is not None:
        return number, number
    match expr:
        case c.Name(name=name) if (value := known(name)) is not None:
            return _both(bounds_of(value, known, element))
        case c.Name() | c.Subscript() | c.ArrayRef():
            key = expr.array if isinstance(expr, c.ArrayRef) else base_key(expr)
            type_ = None if key is None else element(key)
            return (0, NARROW[type_.text]) if type_ is not None and type_.text in NARROW else UNKNOWN
        case c.Cast(type=type_text) if type_text in NARROW:
            return 0, NARROW[type_text]
        case c.Cast(type="int" | "long" | "unsigned" | "unsigned int" | "long long" | "size_t", operand=inner):
            return _both(bounds_of(inner, known, element))
        case _ if _is_truth(expr):
            return 0, 1
        case c.Binary(op="+" | "*" as op, left=left, right=right):
            (a, b), (x, y) = _both(bounds_of(left, known, element)), _both(bounds_of(right, known, element))
            if a is None or b is None or x is None or y is None:
                return UNKNOWN
            return (a + x, b + y) if op == "+" else (a * x, b * y)
        case c.Binary(op="&", left=left, right=right):
            ends = [n for n in (constant(left), constant(right)) if n is not None and n >= 0]
            return (0, min(ends)) if ends else UNKNOWN
        case c.Binary(op="/" | "%" | ">>" as op, left=left, right=right):
            (a, b), n = _both(bounds_of(left, known, element)), constant(right)
            if a is None or b is None or n is None or n < (op != ">>"):
                return UNKNOWN
            return (0, min(b, n - 1)) if op == "%" else (a // n, b // n) if op == "/" else (a >> n, b >> n)
        case c.Ternary(condition=c.Binary(op="<" | "<=" | ">" | ">=" as op, left=left, right=right)):
            opposite = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}[op]
            first = _branch(expr.then, op, left, right, known, element)
            second = _branch(expr.otherwise, opposite, left, right, known, element)
            return _hull(first, second)
    return UNKNOWN


def _branch(expr: c.Expr, op: str, left: c.Expr, right: c.Expr, known: Known, element: Element) -> Bounds:
    """The bounds of an expression where `left op right`."""
    low, high = bounds_of(expr, known, element)
    for this, holds, other in ((left, op, right), (right, MIRRORED[op], left)):
        if this != expr:
            continue
        least, most = bounds_of(other, known, element)
        if holds in ("<", "<=") and most is not None:
            high = most if high is None else min(high, most)
        if holds in (">", ">=") and least is not None:
            low = least if low is None else max(low, least)
    return low, high


def _hull(first: Bounds, second: Bounds) -> Bounds:
    low = None if first[0] is None or second[0] is None else min(first[0], second[0])
    high = None if first[1] is None or second[1] is None else max(first[1], second[1])
    return low, high


def _both(bounds: Bounds) -> Bounds:
    """Bounds that survive a change of type: those of numbers that are small on both sides."""
    return bounds if None not in bounds else UNKNOWN


def spare_of(expr: c.Expr, is_float: Callable[[str], bool]) -> int | None:
    """How far an index may be from itself, computed in another place: compilers round `x * y + 0.5f` once or twice.
    None where that is not known.

    is_float: whether a variable, or an array's elements, are no whole numbers
    math:     |x * y + c| < 2^20 for a constant c of at most 2^16, so that both roundings are within 1/4 of each other
              in single precision: as whole numbers they are the same or neighbours. What is added after that keeps this
    """
    sums = [node for node in c.walk(expr) if _is_contractible(node, is_float)]
    if not sums:
        return 0
    inner = expr
    while inner is not sums[0]:
        match inner:
            case c.Cast(type=text, operand=operand) if set(text.split()) <= WIDE | {"float", "double"}:
                inner = operand
            case c.Binary(op="+" | "-", left=left, right=right) if constant(right) is not None:
                inner = left
            case _:
                return None
    return 1 if len(sums) == 1 and _is_small_sum(sums[0]) else None


def _is_contractible(node: c.Node, is_float: Callable[[str], bool]) -> bool:
    """Whether a sum has a product in it that may be rounded with it."""
    if not isinstance(node, c.Binary) or node.op not in ("+", "-") or not _is_real(node, is_float):
        return False
    return any(True for side in (node.left, node.right) for _ in _products(side, is_float))


def _products(expr: c.Expr, is_float: Callable[[str], bool]) -> Iterator[c.Expr]:
    """The products that a number is, without rounding in between."""
    match expr:
        case c.Binary(op="*") if _is_real(expr, is_float):
            yield expr
        case c.Unary(operand=inner) | c.Cast(operand=inner) if _is_real(expr, is_float):
            yield from _products(inner, is_float)
        case c.Ternary(then=then, otherwise=otherwise):
            yield from _products(then, is_float)
            yield from _products(otherwise, is_float)


def _is_real(expr: c.Expr, is_float: Callable[[str], bool]) -> bool:
    """Whether an expression may be a floating-point number."""
    match expr:
        case c.Literal(text=text):
            return not text.rstrip("uUlL").isdigit() and (text[:2] not in ("0x", "0X") or "p" in text.lower())
        case c.ArrayRef(array=name):
            return is_float(name)
        case c.Name() | c.Subscript():
            key = base_key(expr)
            return key is None or is_float(key)
        case c.Cast(type=text):
            return text not in NARROW and not set(text.split()) <= WHOLE
        case c.Binary(op="<" | "<=" | ">" | ">=" | "==" | "!=" | "&&" | "||" | "%" | "&" | "|" | "^" | "<<" | ">>"):
            return False
        case c.Binary(left=left, right=right) | c.Ternary(then=left, otherwise=right):
            return _is_real(left, is_float) or _is_real(right, is_float)
        case c.Unary(op=op, operand=inner):
            return op != "!" and _is_real(inner, is_float)
        case c.SizeOf():
            return False
    return True


def _is_small_sum(expr: c.Node) -> bool:
    """Whether a sum is one of a product and a small constant."""
    assert isinstance(expr, c.Binary)
    for side in (expr.left, expr.right):
        while isinstance(side, c.Unary | c.Cast):
            side = side.operand
        if isinstance(side, c.Literal):
            try:
                return abs(float(side.text.rstrip("fFlL"))) <= FAR
            except ValueError:
                return False
    return False
