"""Reductions of which each thread has one, as two kernels: blocks leave parts, and the second one combines these.

rewrite:  for j { s[j] = 0; for i s[j] += A[i][j]; }
          -> for j { part = 0; for i by blocks part += A[i][j]; s_blocks[by * m + j] = part; }
             for j { s[j] = 0; part = 0; for by part += s_blocks[by * m + j]; s[j] += part; }
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import islpy as isl

from polyc.codegen.gpu.memory import DeviceArray
from polyc.codegen.gpu.reduce import combined, declared, every, parts_of, stored, with_parts
from polyc.codegen.loops.instances import Scope, block_of
from polyc.codegen.text.arith import ONE, ZERO, plus, product_of
from polyc.codegen.text.macros import MAX, MIN
from polyc.codegen.text.printer import UNROLL
from polyc.model import ctree as c
from polyc.model.tree import PART_AXES, Band, Mark, Member, walk
from polyc.records import dataclass, field

if TYPE_CHECKING:
    from polyc.codegen.gpu.printer import KernelPrinter

MOST_PARTS = 256
"""Of a cell: one thread combines them."""
AT_ONCE = 16
"""Of what a thread combines, on the way from memory."""


@dataclass(slots=True)
class Columns:
    """The two kernels of one mark."""

    outer: tuple[Member, ...]
    """The loops over the results."""
    depth: int
    """Band members above these."""
    first: bool = True
    """Whether it is the first of the kernels that is printed."""
    kept: dict[str, tuple[str, str]] = field(default_factory=dict)
    """The arrays of the blocks' parts, and their types."""
    parts: c.Expr = ONE
    """How many each cell has."""


def columns_of(mark: Mark, depth: int) -> Columns | None:
    """What is printed as two kernels; None for another kernel."""
    bands = [n for n in walk(mark.child) if isinstance(n, Band)]
    if not any(m.mapped in PART_AXES for band in bands for m in band.members):
        return None
    return Columns(bands[0].members, depth)


def column(
    printer: KernelPrinter, columns: Columns, mark: Mark, inner: isl.AstNode, scope: Scope
) -> tuple[c.Stmt, ...]:
    """What each thread does for its cells: in the first kernel for the part of a block, in the second one with all."""
    parts = parts_of(printer, mark)
    cell, cells = _cell(printer, columns, scope)

    def kept(array: str, part: c.Expr) -> c.Expr:
        return c.ArrayRef(columns.kept[array][0], (plus(c.Binary("*", part, cells), cell),))

    if columns.first:
        printed = with_parts(printer, parts, inner, scope)
        for part in every(parts):
            columns.kept.setdefault(part.array, (printer.namer.take(f"{part.own[:-5]}_blocks"), part.type))
        here = printer.here.part_index()
        stores = tuple(c.ExprStmt(c.Assign("=", kept(p.array, here), c.Name(p.own))) for p in every(parts))
        return (c.Block((*declared(printer, parts, scope), *printed, *stores)),)
    index = c.Name(printer.namer.fresh("part", scope.names | {p.own for p in every(parts)}))
    joined = tuple(combined(p, lambda q: c.Name(q.own), lambda q: kept(q.array, index)) for p in parts)
    loop = c.For(
        c.Decl("long", index.name, (), ZERO),
        c.Binary("<", index, columns.parts),
        c.Postfix("++", index),
        block_of(joined),
        (f"{UNROLL} {AT_ONCE}",) if printer.dialect.fetches else (),
    )
    updates = stored(printer, parts, scope)
    return (c.Block((*declared(printer, parts, scope), loop, *updates)),)


def _cell(printer: KernelPrinter, columns: Columns, scope: Scope) -> tuple[c.Expr, c.Expr]:
    """The number of the thread's cell, and how many there are."""
    cell: c.Expr = ZERO
    counts: list[c.Expr] = []
    for k, member in enumerate(columns.outer):
        low, count = printer.here.range_of(member)
        value = scope.iterators.get(f"c{columns.depth + k}_", low)
        cell = plus(
            ZERO if cell == ZERO else c.Binary("*", cell, count), value if low == ZERO else c.Binary("-", value, low)
        )
        counts.append(count)
    return cell, counts[0] if len(counts) == 1 else product_of(counts)


def grid_of(printer: KernelPrinter, columns: Columns, wanted: int) -> tuple[c.Expr, ...]:
    """The blocks of the first kernel, about as many as wanted; the arrays of their parts are the printer's from now on.

    Raises NotMappable.
    """
    opened = printer.here
    grid = [opened.blocks_along(axis) for axis in "xyz"]
    used = product_of([count for count in grid if count != ONE])
    left: c.Expr = c.Call(
        MIN, (c.Binary("/", c.Literal(str(wanted)), c.Call(MAX, (used, ONE))), c.Literal(str(MOST_PARTS)))
    )
    for axis in reversed(PART_AXES):
        if axis in opened.counts:
            most = opened.most_blocks(axis)
            along = c.Call(MAX, (c.Call(MIN, (most, left)), ONE))
            grid["xyz".index(axis[-1])] = along
            columns.parts = along if columns.parts == ONE else c.Binary("*", columns.parts, along)
            left = c.Binary("/", left, along)
    cells = [opened.range_of(member)[1] for member in columns.outer]
    for name, kind in columns.kept.values():
        elements = product_of([*cells, columns.parts])
        printer.arrays[name] = DeviceArray(name, name, kind, (), elements, False, False, True, True)
    return tuple(grid)


def pruned(statements: tuple[c.Stmt, ...]) -> tuple[c.Stmt, ...]:
    """The statements without branches and blocks in which nothing is left."""
    found: list[c.Stmt] = []
    for item in statements:
        match item:
            case c.Block(body=body):
                left = pruned(body)
                found += [c.Block(left)] if left else []
            case c.If(condition=condition, then=then, otherwise=None):
                left = pruned((then,))
                found += [c.If(condition, block_of(left))] if left else []
            case _:
                found.append(item)
    return tuple(found)
