"""Several loops as one: the iterations of a box, dealt out to threads in the order of memory."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import islpy as isl

from polyc.analysis.expressions.linear import linear
from polyc.codegen.gpu.device.words import NoKernelForm
from polyc.codegen.loops.instances import Scope, block_of
from polyc.codegen.text.arith import ZERO, divided, plus, product_of, times, trips_of
from polyc.model import ctree as c
from polyc.model.tree import ALL_THREADS, LINEAR, Member
from polyc.poly import kind_of
from polyc.records import dataclass, replace

if TYPE_CHECKING:
    from polyc.codegen.gpu.printer import KernelPrinter


MOST_IN_32_BITS = 1 << 30
"""Iterations of an index that has 32 bits: it goes up to one step further."""


@dataclass(frozen=True, slots=True)
class _Counted:
    """One of the loops."""

    iterator: str
    name: str
    start: c.Expr
    end: c.Expr
    step: int


def is_linear(iterator: str, scope: Scope) -> bool:
    """Whether the next loop inside of this one is counted in its index."""
    following = scope.members.get(_next(iterator))
    return following is not None and following.mapped == LINEAR


def linear_loop(printer: KernelPrinter, node: isl.AstNode, member: Member, scope: Scope) -> c.Stmt:
    """The loops from this one on, up to the last that is counted in its index, as one.

    rewrite:  for i < n, j < 7 -> for (c = index; c < n * 7; c += step) { i = c / 7; j = c % 7; }
              for i < n, j < 14 in steps of 2 -> for (c = index; c < n * 7; c += step) { i = c / 7; j = 2 * (c % 7); }
    Raises NotMappable where isl made other loops of them.
    """
    opened = printer.here
    loops, inner, below = _chain(printer, node, scope)
    below = replace(below, waiting=(), alone=True)
    row = prod(_width(one) for one in loops[1:])
    total = product_of([_trips(loops[0]), c.Literal(str(row))])
    if isinstance(_trips(loops[0]), c.Literal):
        total = c.Literal(str(_width(loops[0]) * row))
    index, step = opened.share_of(member)
    mentioned = {n.name for n in c.walk(total) if isinstance(n, c.Name)}
    if mentioned & (scope.names - opened.host):
        raise NoKernelForm(f"how often the loop {member.name} runs depends on another one of its kernel")
    opened.count(member, trips_of(ZERO, total, opened.together(member)), scope)
    name = printer.namer.fresh("c", below.names)
    # 32 bits are divided faster than 64. A step of a grid that polyc chose is no longer than all iterations.
    short = member.mapped == ALL_THREADS or printer.program.options.grid is None
    small = (
        short and isinstance(total, c.Literal) and int(total.text) * max(one.step for one in loops) <= MOST_IN_32_BITS
    )
    kind = "int" if small else "long"
    body = printer.body(inner, replace(below, names=below.names | {name}))
    used = {n.name for item in body for n in c.walk(item) if isinstance(n, c.Name)}
    places = []
    for k, one in enumerate(loops):
        after = prod(_width(other) for other in loops[k + 1 :])
        value = divided(c.Name(name), c.Literal(str(after)))
        if k:
            value = c.Binary("%", value, c.Literal(str(_width(one))))
        if one.name in used:
            places.append(c.Decl("const long", one.name, (), plus(times(one.step, value), one.start)))
    return c.For(
        c.Decl(kind, name, (), index),
        c.Binary("<", c.Name(name), total),
        c.Assign("+=", c.Name(name), step),
        block_of((*places, *(body[0].body if len(body) == 1 and isinstance(body[0], c.Block) else body))),
    )


def _chain(printer: KernelPrinter, node: isl.AstNode, scope: Scope) -> tuple[list[_Counted], isl.AstNode, Scope]:
    """The loops, what the innermost runs, and the names there."""
    found: list[_Counted] = []
    iterator = str(node.for_get_iterator().get_id().get_name())
    while True:
        if kind_of(node) != "for_" or str(node.for_get_iterator().get_id().get_name()) != iterator:
            raise NoKernelForm("loops that share an index do not stand inside of each other")
        name = printer.namer.fresh(scope.members[iterator].name, scope.names)
        scope = replace(
            scope, iterators=scope.iterators | {iterator: c.Name(name)}, names=scope.names | {name}, hoisted=frozenset()
        )
        start = printer.printer(scope).convert(node.for_get_init())
        if node.for_is_degenerate():
            raise NoKernelForm(f"the loop {name} shares an index with others, and isl has left it out")
        condition = printer.condition(node.for_get_cond(), printer.printer(scope))
        assert isinstance(condition, c.Binary)
        end = condition.right if condition.op == "<" else c.Binary("+", condition.right, c.Literal("1"))
        found.append(_Counted(iterator, name, start, end, int(node.for_get_inc().get_val().to_python())))
        node, following = node.for_get_body(), _next(iterator)
        if following not in scope.members or scope.members[following].mapped != LINEAR:
            return found, node, scope
        iterator = following


def _width(loop: _Counted) -> int:
    """How many iterations a loop of constant length has. Raises NotMappable for others."""
    width = _trips(loop)
    if isinstance(width, c.Literal):
        return int(width.text)
    raise NoKernelForm(f"the loop {loop.name} shares an index with others, and has no constant length")


def _trips(loop: _Counted) -> c.Expr:
    """How many iterations a loop has: a number, 4, for `for (j = 2 * jt; j < 2 * jt + 7; j += 2)`."""
    width = linear(loop.end).plus(linear(loop.start), -1)
    if width.terms:
        return trips_of(loop.start, loop.end, loop.step)
    return c.Literal(str(max(0, -(-width.constant // loop.step))))


def _next(iterator: str) -> str:
    """isl's name for the loop one band member further inside: `c4_` after `c3_`."""
    return f"c{int(iterator[1:-1]) + 1}_"
