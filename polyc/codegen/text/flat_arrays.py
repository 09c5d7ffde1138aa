"""Arrays that have one dimension in C, and several in the model: `a[i][j]` is printed as `a[i * (C + 2) + j]`."""

from __future__ import annotations

from dataclasses import replace

from polyc.codegen.text.arith import ZERO, product
from polyc.model import ctree as c
from polyc.model.scop import Array, Scop


def with_flat_arrays(body: tuple[c.Stmt, ...], scop: Scop) -> tuple[c.Stmt, ...]:
    """The statements with linearised subscripts for such arrays."""
    flat = {array.c_name: array for array in scop.arrays.values() if array.flat}
    if not flat:
        return body
    sizes = {n.name for parameter in scop.parameters for n in c.walk(parameter.expr) if isinstance(n, c.Name)}

    def change(node: c.Node) -> c.Node | None:
        if not isinstance(node, c.ArrayRef) or node.array not in flat:
            return None
        array = flat[node.array]
        if len(node.subscripts) != array.rank:
            return None  # as it was written
        subscripts = tuple(c.rewrite(subscript, change) for subscript in node.subscripts)
        return replace(node, subscripts=(linear(array, subscripts, sizes),))

    return tuple(c.rewrite(item, change) for item in body)


def linear(array: Array, subscripts: tuple[c.Expr, ...], sizes: set[str]) -> c.Expr:
    """`i * (C + 2) + j`, in 64 bits."""
    subscripts = array.in_c(subscripts)
    if array.strides_c:
        return strided(array, subscripts, sizes)
    index = subscripts[0]
    if not is_wide(index, sizes) and index != ZERO:
        index = c.Literal(f"{index.text}L") if isinstance(index, c.Literal) else c.Cast("long", index)
    for extent, subscript in zip(array.extents_c[1:], subscripts[1:], strict=True):
        assert extent is not None
        index = joined(product(index, extent), subscript)
    return index


def strided(array: Array, subscripts: tuple[c.Expr, ...], sizes: set[str]) -> c.Expr:
    """`z * S2 + y * S1 + x`, in 64 bits."""
    index: c.Expr = ZERO
    for stride, subscript in zip(array.strides_c, subscripts, strict=False):
        wide = subscript if is_wide(subscript, sizes) or subscript == ZERO else c.Cast("long", subscript)
        index = joined(index, product(wide, stride))
    return joined(index, subscripts[-1])


def joined(index: c.Expr, subscript: c.Expr) -> c.Expr:
    """The sum, without parentheses around the second part: integers add up the same in any order."""
    match subscript:
        case _ if index == ZERO:
            return subscript
        case c.Literal(text="0"):
            return index
        case _ if any(isinstance(part, c.ArrayRef) for part in c.walk(subscript)):
            return c.Binary("+", index, subscript)  # data may be of a type that wraps: `k[i] + 4294967295u`
        case c.Binary(op="+" | "-" as op, left=left, right=right):
            return c.Binary(op, joined(index, left), right)
        case c.Unary(op="-", operand=operand):
            return c.Binary("-", index, operand)
        case _:
            return c.Binary("+", index, subscript)


def is_wide(value: c.Expr, sizes: set[str]) -> bool:
    """Whether C computes a printed subscript in 64 bits: loop variables have them, sizes need not."""
    match value:
        case c.Literal(text=text):
            return text.endswith("L")
        case c.Name(name=name):
            return name not in sizes
        case c.Cast(type=text):
            return text == "long"
        case c.Unary(operand=operand):
            return is_wide(operand, sizes)
        case c.Binary(op="+" | "-" | "*" | "/" | "%", left=left, right=right):
            return is_wide(left, sizes) or is_wide(right, sizes)
        case c.Call(arguments=arguments):
            return any(is_wide(argument, sizes) for argument in arguments)
    return False
