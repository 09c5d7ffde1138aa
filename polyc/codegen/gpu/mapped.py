"""Loops whose iterations blocks or threads share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import islpy as isl

from polyc.codegen.gpu.pieces import share_from
from polyc.codegen.gpu.reduce import at_once
from polyc.codegen.loops.instances import Scope, block_of
from polyc.codegen.text.arith import ONE, ZERO, plus, product_of, times, trips_of
from polyc.codegen.text.macros import MIN
from polyc.model import ctree as c
from polyc.model.tree import BLOCK_AXES, PART_AXES, Band, Member, Role, walk
from polyc.records import replace

if TYPE_CHECKING:
    from polyc.codegen.gpu.printer import KernelPrinter

MOST_BLOCKS = 65535
"""Along y and z."""


def mapped_loop(printer: KernelPrinter, node: isl.AstNode, member: Member, scope: Scope) -> c.Stmt:
    """A loop of which each block or thread has its share.

    rewrite:  for (i = lo; i < n; i++) s(i);  ->  for (i = lo + index; i < n; i += count) s(i);
    """
    opened = printer.here
    iterator = str(node.for_get_iterator().get_id().get_name())
    name = printer.namer.fresh(member.name + ("t" if member.role is Role.TILE else ""), scope.names)
    own = {name}
    each = ""
    if member.mapped in PART_AXES:
        each = printer.namer.fresh("each", scope.names | own)
        own.add(each)
    below = replace(
        scope,
        iterators=scope.iterators | {iterator: c.Name(name)},
        names=scope.names | own,
        # The first of two thread loops is not enough, but nothing stands between them.
        alone=scope.alone or member.mapped not in BLOCK_AXES,
    )
    start = printer.printer(scope).convert(node.for_get_init())
    index, count = opened.share_of(member)
    for step in opened.pieces.get(id(member), ()):
        index = share_from(start, step, index, count)
    if node.for_is_degenerate():
        value = c.Decl("const long", name, (), start)
        opened.count(member, ONE, scope)
        body = printer.statements(node.for_get_body(), below)
        return c.If(c.Binary("==", index, ZERO), c.Block((value, *body)))
    step = int(node.for_get_inc().get_val().to_python())
    condition = printer.condition(node.for_get_cond(), printer.printer(below))
    assert isinstance(condition, c.Binary)
    if start == ZERO and step == 1 and condition.op == "<" and condition.right == count:
        # Each thread has one iteration: its own number.
        below = replace(below, iterators=scope.iterators | {iterator: index}, names=scope.names)
        return c.Block(printer.body(node.for_get_body(), below))
    end = condition.right if condition.op == "<" else c.Binary("+", condition.right, ONE)
    trips = trips_of(start, end, step * opened.together(member))
    opened.count(member, trips, scope)
    body = printer.body(node.for_get_body(), below)
    first = plus(start, times(step, index))
    if _has_one_iteration(printer, member, trips):
        return c.Block((c.Decl("const long", name, (), first), *body))
    if each:
        whole = c.For(c.Decl("long", name, (), start), c.Binary("<", c.Name(name), end), None, block_of(body))
        return _in_turn(printer, whole, each, step, trips, (index, count))
    advance = c.Assign("+=", c.Name(name), times(step, count))
    loop = c.For(c.Decl("long", name, (), first), condition, advance, block_of(body))
    return at_once(printer, loop) if member.reductions else loop


def _in_turn(
    printer: KernelPrinter, loop: c.For, each: str, step: int, trips: c.Expr, share: tuple[c.Expr, c.Expr]
) -> c.Stmt:
    """A loop of which each block has iterations that follow each other: compilers know how many these are, and what a
    thread loads for some of them is on its way at once.

    share: the block, and how many there are
    """
    block, blocks = share
    assert isinstance(loop.init, c.Decl)
    assert loop.init.init is not None
    assert isinstance(loop.condition, c.Binary)
    start, name = loop.init.init, c.Name(loop.init.name)
    count = c.Binary("/", c.Binary("-", plus(product_of([trips]), blocks), ONE), blocks)
    first, behind = (times(step, c.Binary("*", c.Name(each), b)) for b in (block, c.Binary("+", block, ONE)))
    condition = c.Binary("<", name, c.Call(MIN, (loop.condition.right, plus(start, behind))))
    advance = c.Assign("+=", name, c.Literal(str(step))) if step > 1 else c.Postfix("++", name)
    part = replace(loop, init=replace(loop.init, init=plus(start, first)), condition=condition, step=advance)
    return c.Block((c.Decl("const long", each, (), count), at_once(printer, part)))


def _has_one_iteration(printer: KernelPrinter, member: Member, trips: c.Expr) -> bool:
    """Whether each block has one tile along the axis, since there are as many blocks."""
    opened = printer.here
    if member.mapped not in BLOCK_AXES or member.mapped in opened.folded or opened.mark.blocks:
        return False
    if printer.program.options.grid is not None or not isinstance(trips, c.Literal):
        return False
    bands = [n for n in walk(opened.mark.child) if isinstance(n, Band)]
    alone = sum(m.mapped == member.mapped for band in bands for m in band.members) == 1
    return alone and int(trips.text.rstrip("L")) <= MOST_BLOCKS
