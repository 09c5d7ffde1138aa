"""Indices of 32 bits, where all sizes are known: a GPU adds and divides 64 bits in two steps and more."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import prod

from polyc.model import ctree as c
from polyc.model.program import Program
from polyc.poly import constant_of
from polyc.records import replace

LARGEST = 2**31 - 1
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
    nodes = [n for item in (*top, *body) for n in c.walk(item)]
    numbers = [_number(n) for n in nodes if isinstance(n, c.Literal)]
    indices = {n.name for n in nodes if isinstance(n, c.Decl) and n.type in SHORT}
    return max(numbers, default=0) ** 2 <= LARGEST and indices.isdisjoint(_values(body))


def in_32_bits(items: tuple[c.N, ...]) -> tuple[c.N, ...]:
    """The statements with int in the place of long."""

    def change(node: c.Node) -> c.Node | None:
        match node:
            case c.Decl(type=kind, init=init) if kind in SHORT:
                return replace(node, type=SHORT[kind], init=None if init is None else c.rewrite(init, change))
            case c.Literal(text=text) if text.endswith("L") and text[:-1].isdigit():
                return c.Literal(text[:-1])
            case _:
                return None

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
