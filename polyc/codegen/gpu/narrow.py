"""Indices of 32 bits, where sizes are small: a GPU adds and divides 64 bits in two steps and more, and keeps them in
two registers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from math import prod

import islpy as isl

from polyc.codegen.gpu.memory import DeviceArray
from polyc.codegen.text.arith import ONE, product_of
from polyc.codegen.text.printer import conjunction
from polyc.model import ctree as c
from polyc.model.program import Program
from polyc.poly import constant_of
from polyc.records import replace

LARGEST = 2**31 - 1
BEYOND = 512
"""Cells that a tile at an edge goes further along a dimension, at most."""
SHORT = {"long": "int", "const long": "const int"}


def fit_32_bits(program: Program, arrays: Iterable[str], top: tuple[c.Stmt, ...], body: tuple[c.Stmt, ...]) -> bool:
    """Whether 32 bits are enough for what a kernel without sizes among its parameters counts: no array has more
    elements, the product of any two of its numbers is not larger, and no index is a value that it computes with."""
    for key in arrays:
        if key not in program.scop.arrays:
            continue  # the sums of a reduction's blocks, of which there are few
        extents = [None if e is None else constant_of(e) for e in program.scop.arrays[key].extents]
        known = [extent for extent in extents if extent is not None]
        if len(known) < len(extents) or prod(known) > LARGEST:
            return False
    return has_plain_indices(top, body)


def has_plain_indices(top: tuple[c.Stmt, ...], body: tuple[c.Stmt, ...]) -> bool:
    """Whether no index is a value that a kernel computes with, and no product of two of its numbers is too large."""
    nodes = [n for item in (*top, *body) for n in c.walk(item)]
    if max((_number(n) for n in nodes if isinstance(n, c.Literal)), default=0) ** 2 > LARGEST:
        return False  # loops over `100000 * (i % 2) + i` have more values than there are elements
    indices = {n.name for n in nodes if isinstance(n, c.Decl) and n.type in SHORT}
    return indices.isdisjoint(_values(body))


def small_sizes(program: Program, sizes: Collection[str], arrays: Iterable[DeviceArray]) -> c.Expr | None:
    """When 32 bits are enough for the indices of a kernel with these sizes and arrays: no size is too large, nor the
    place of a cell that a tile at an edge goes further; None where it is not known."""
    needed: list[c.Expr] = [c.Name(name) for name in sorted(sizes)]
    for array in arrays:
        if array.elements is None:
            return None
        sizes_inside = list(array.inner)
        stride = next(iter(array.strides), product_of(sizes_inside) if sizes_inside[1:] else [*sizes_inside, ONE][0])
        if _is_fixed(program, array.key):  # as `f[8][y][x]`: a tile goes further along the next dimension at most
            own = product_of(sizes_inside[1:]) if sizes_inside[2:] else sizes_inside[-1]
            stride = next(iter(array.strides[1:]), own)
        further = c.Literal(f"{BEYOND}L") if stride == ONE else c.Binary("*", c.Literal(f"{BEYOND}L"), stride)
        needed.append(c.Binary("+", _at_most(array.elements, sizes), further))
    if any(n.name not in sizes for one in needed for n in c.walk(one) if isinstance(n, c.Name)):
        return None
    most = c.Binary("<<", c.Literal("1L"), c.Literal("30"))
    return conjunction(c.Binary("<=", one, most) for one in dict.fromkeys(needed))


def _is_fixed(program: Program, key: str) -> bool:
    """Whether all accesses to an array of three dimensions or more name a number as its first subscript."""
    cells = [a.relation for s in program.scop.statements.values() for a in s.accesses if a.array == key]
    return bool(cells) and all(
        m.dim(isl.dim_type.out) > 2 and m.plain_get_val_if_fixed(isl.dim_type.out, 0).is_int() for m in cells
    )


def _at_most(elements: c.Expr, sizes: Collection[str]) -> c.Expr:
    """A number of elements in terms of a kernel's sizes, though some others decide whether there are any."""

    def change(node: c.Node) -> c.Node | None:
        match node:
            case c.Ternary(
                condition=condition, then=then, otherwise=c.Literal() | c.Unary(op="-", operand=c.Literal())
            ):
                other = any(isinstance(n, c.Name) and n.name not in sizes for n in c.walk(condition))
                return c.rewrite(then, change) if other else None
            case _:
                return None

    return c.rewrite(elements, change)


def with_indices_of(items: tuple[c.N, ...], kind: str) -> tuple[c.N, ...]:
    """The statements with another type for their indices, in the place of long: in declarations, subscripts and the
    heads of loops."""
    own = {n.name for item in items for n in c.walk(item) if isinstance(n, c.Decl) and n.type in SHORT}

    def number(node: c.Node) -> c.Literal | None:
        match node:
            case c.Literal(text=text) if text.endswith("L") and text[:-1].isdigit():
                return c.Literal(text[:-1])
        return None

    def index(node: c.Node) -> c.Node | None:
        """In an expression of indices."""
        match node:
            case c.Cast(type="long", operand=operand):
                plain = c.rewrite(operand, index)
                return plain if mentions_own(operand) else c.Cast(kind, plain)
            case c.Binary(op="+" | "-" as op, left=left, right=right) if (digits := number(right)) and mentions_own(
                left
            ):
                return c.Binary(op, c.rewrite(left, index), digits)
            case c.Literal() if (digits := number(node)) is not None:
                return digits if kind == "int" else c.Cast(kind, digits)
            case _:
                return change(node)

    def mentions_own(value: c.Expr) -> bool:
        """Whether a value has the type already: an index is in it."""
        return any(isinstance(n, c.Name) and n.name in own for n in c.walk(value))

    def of_index(node: c.Expr) -> c.Expr:
        return c.rewrite(node, index)

    def change(node: c.Node) -> c.Node | None:
        match node:
            case c.Decl(type=text, init=init) if text in SHORT:
                return replace(node, type=text.replace("long", kind), init=None if init is None else of_index(init))
            case c.ArrayRef(subscripts=subscripts) if subscripts:
                return replace(node, subscripts=tuple(map(of_index, subscripts)))
            case c.For(init=c.Decl() as init, condition=condition, step=step, body=body) if condition is not None:
                first, last = c.rewrite(init, change), of_index(condition)
                after = None if step is None else of_index(step)
                return replace(node, init=first, condition=last, step=after, body=c.rewrite(body, change))
            case c.If(condition=condition, then=then, otherwise=otherwise) if is_of_indices(condition):
                other = None if otherwise is None else c.rewrite(otherwise, change)
                return replace(node, condition=of_index(condition), then=c.rewrite(then, change), otherwise=other)
            case c.Ternary(condition=condition, then=then, otherwise=otherwise) if is_of_indices(condition):
                return replace(
                    node,
                    condition=of_index(condition),
                    then=c.rewrite(then, change),
                    otherwise=c.rewrite(otherwise, change),
                )
            case c.Call(function=function, arguments=(*places, inside)) if function.startswith("polyc_fetch"):
                return replace(node, arguments=(*(c.rewrite(one, change) for one in places), of_index(inside)))
            case _:
                return None

    def is_of_indices(condition: c.Expr) -> bool:
        names = {n.name for n in c.walk(condition) if isinstance(n, c.Name)}
        return bool(names & own) and not any(isinstance(n, c.ArrayRef) for n in c.walk(condition))

    return tuple(c.rewrite(item, change) for item in items)


def _number(literal: c.Literal) -> int:
    plain = literal.text.rstrip("uUlL")
    return int(plain) if plain.isdigit() else 0


def _values(body: tuple[c.Stmt, ...]) -> Iterator[str]:
    """Names that statements compute with, beside subscripts, and comparisons of sums."""

    def outside(node: c.Node) -> Iterator[str]:
        match node:
            case c.ArrayRef():
                return
            case c.Binary(op=op) if op in c.COMPARISONS and not any(
                isinstance(n, c.Binary) and n.op == "*" for n in c.walk(node)
            ):
                return
            case c.Cast(operand=c.Name()):
                return  # the same number, of whichever type the index is
            case c.Name(name=name):
                yield name
            case _:
                for child in c.children(node):
                    yield from outside(child)

    for item in body:
        for node in c.walk(item):
            match node:
                case c.ExprStmt(expr=c.Assign(value=value)):
                    yield from outside(value)
                case c.Decl(type=kind, init=init) if init is not None and kind not in (*SHORT, *SHORT.values()):
                    yield from outside(init)
