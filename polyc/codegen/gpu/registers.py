"""Loops of constant length over what a thread has in registers, and loops over panels that have two places."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from polyc.analysis.expressions.linear import linear
from polyc.codegen.gpu.device.stages import Stages
from polyc.codegen.gpu.device.words import AT_ONCE_BYTES, STORE_16, STORED_BYTES
from polyc.codegen.loops.instances import Scope, block_of
from polyc.codegen.text.arith import ONE, ZERO, plus
from polyc.codegen.text.printer import UNROLL
from polyc.codegen.text.tidy import N, simpler
from polyc.errors import InternalError
from polyc.model import ctree as c
from polyc.model.tree import Member
from polyc.records import replace

if TYPE_CHECKING:
    from polyc.codegen.gpu.printer import KernelPrinter

_PLAIN = ("float", "double", "int", "long")


def in_registers(printer: KernelPrinter, loop: c.Stmt, member: Member, scope: Scope) -> c.Stmt:
    """A loop over places in registers, unrolled. Raises InternalError where its length is no constant."""
    match loop:
        case c.For(init=c.Decl(init=c.Literal()) as init, condition=c.Binary(right=c.Literal())):
            unrolled = replace(loop, init=replace(init, type="int"), pragmas=(UNROLL,))
            at_once = member.vector and printer.dialect.stores
            return _stored_at_once(printer, unrolled, scope) if at_once else unrolled
        case c.For():
            raise InternalError(f"the loop {member.name} over registers has no constant length")
        case _:
            return loop


def _stored_at_once(printer: KernelPrinter, loop: c.For, scope: Scope) -> c.Stmt:
    """A loop that stores 16 bytes of an array, through registers; unchanged where it has another form.

    rewrite:  for (j < 4) if (4 * tx + j < n) C[i][4 * tx + j] = e(j);
              -> if (4 * tx < n) { float row[4]; for (j < 4) row[j] = e(j); polyc_store16(&C[i][4 * tx], &row[0]); }
              if (m % 4 == 0) this; else that, where rows have m elements
    requires: all iterations store or none (`verify/gpu/layout.py`): the condition of the first one is that of all
    """
    start, condition, step = loop.init, loop.condition, c.only(loop.body)
    if not (isinstance(start, c.Decl) and start.init == ZERO and isinstance(condition, c.Binary)):
        return loop
    lanes, name = condition.right, c.Name(start.name)

    def first(node: N) -> N:
        return simpler(c.rewrite(node, lambda n: ZERO if n == name else None))

    guard = None
    if isinstance(step, c.If) and step.otherwise is None:
        guard, step = first(step.condition), c.only(step.then)
    match step:
        case c.ExprStmt(expr=c.Assign(op="=", target=c.ArrayRef() as target, value=value)):
            row = printer.namer.fresh(f"{target.array}_row", scope.names)
            declared = c.Decl(printer.types[target.array], row, (lanes,), aligned=STORED_BYTES)
            kept = c.ExprStmt(c.Assign("=", c.ArrayRef(row, (name,)), value))
            places = (c.Unary("&", first(target)), c.Unary("&", c.ArrayRef(row, (ZERO,))))
            store = c.ExprStmt(c.Call(STORE_16, places))
            stored: c.Stmt = c.Block((declared, replace(loop, body=block_of((kept,))), store))
            stored = stored if guard is None else c.If(guard, stored)
            array = next(a for a in printer.arrays.values() if a.name == target.array)
            rows = [row for row in array.strides or array.inner[-1:] if not isinstance(row, c.Literal)]
            for size in rows:  # whether rows begin at multiples of 16 bytes
                stored = c.If(c.Binary("==", c.Binary("%", size, lanes), ZERO), stored, loop)
            return stored
        case _:
            return loop


def counted_from_zero(loop: c.For, count: int) -> c.For:
    """A loop of so many iterations that is unrolled, where compilers need not find out how many there are.

    rewrite:  for (j = 4 * q; j < 4 * q + 4; j++) A[j] -> for (j = 0; j < 4; j++) A[4 * q + j]
    """
    start, last = loop.init, loop.condition
    if not (isinstance(start, c.Decl) and start.init is not None and isinstance(last, c.Binary)):
        return loop
    begin, name = start.init, c.Name(start.name)
    end = last.right if last.op == "<" else plus(last.right, ONE)
    length = linear(end).plus(linear(begin), -1)
    if length.terms or length.constant != count:
        return loop
    body = c.rewrite(loop.body, lambda n: plus(begin, name) if n == name else None)
    inside = c.Binary("<", name, c.Literal(str(count)))
    return replace(loop, init=replace(start, type="int", init=ZERO), condition=inside, body=body, pragmas=(UNROLL,))


def in_stages(printer: KernelPrinter, loop: c.Stmt, depth: int, scope: Scope) -> c.Stmt:
    """A loop over panels, with two places for each. Raises InternalError, NotMappable.

    depth: band members above its body
    """
    if not isinstance(loop, c.For):
        return loop  # it has one iteration
    opened, program = printer.here, printer.program
    here = {b.key: b for b in program.buffers.values() if b.order and b.depth == depth and b.key in opened.shared}
    for key in here.keys() - opened.staged:
        one = opened.shared[key]
        opened.take(one, printer.element_bytes(here[key]))
        opened.shared[key] = replace(one, extents=(c.Literal("2"), *one.extents))
    opened.staged |= here.keys()
    stage = printer.namer.fresh("stage", scope.names)
    at_once = {key: printer.copied_at_once(buffer) for key, buffer in here.items()}
    small = frozenset(key for key, size in at_once.items() if size not in AT_ONCE_BYTES)
    types = {key: printer.element(buffer) for key, buffer in here.items()}

    def fresh(wish: str) -> str:
        return printer.namer.fresh(wish, scope.names)

    sources = {a.name: a.type for a in printer.arrays.values() if a.type in _PLAIN}
    pieces = {key: size for key, size in at_once.items() if size != printer.element_bytes(here[key])}
    made = Stages(printer.dialect, types, stage, fresh, sources, small, pieces).of(loop)
    # Of what is loaded 16 bytes at once, a thread has few.
    kept = [one.extents for one in made.body if isinstance(one, c.Decl) and one.extents and not one.aligned]
    opened.ahead += sum(prod(int(e.text) for e in extents if isinstance(e, c.Literal)) for extents in kept)
    return made
