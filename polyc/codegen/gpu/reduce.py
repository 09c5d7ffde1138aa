"""Reductions in kernels: a part for each thread, combined in shared memory, and a second kernel for many blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

import islpy as isl

from polyc.analysis.expressions.facts import with_value
from polyc.analysis.expressions.records import TURNED, record_of
from polyc.codegen.gpu.device.words import NoKernelForm, value_type
from polyc.codegen.gpu.memory import DeviceArray
from polyc.codegen.loops.instances import Scope, block_of
from polyc.codegen.text.arith import ONE, ZERO, plus, times
from polyc.codegen.text.macros import MAX, MIN
from polyc.codegen.text.printer import UNROLL
from polyc.model import ctree as c
from polyc.model.tree import ALL_THREADS, BLOCK_AXES, GLOBAL_AXES, Band, Mark
from polyc.records import dataclass, replace

if TYPE_CHECKING:
    from polyc.codegen.gpu.printer import KernelPrinter

LOADS_AT_ONCE = 16
"""Of a thread, which adds up what it loads."""
_NEUTRAL: dict[str, c.Expr] = {"+": ZERO, "*": ONE, "&": c.Unary("~", ZERO), "|": ZERO, "^": ZERO}


@dataclass(frozen=True, slots=True)
class Part:
    """What the threads of a block have of one cell."""

    array: str
    operator: str
    type: str
    own: str
    """The variable of a thread."""
    all: str
    """The shared array of all threads' parts."""
    beside: tuple[Part, ...] = ()
    """Of a record: what changes with it."""
    keys: tuple[Part, ...] = ()
    """Of a record: the iteration of each loop in which it was taken, which decides among equal ones."""


_Place = Callable[[Part], c.Expr]
_NEVER = c.Unary("-", c.Literal("9223372036854775807L"))
"""The iteration of what was there before all of them."""


def every(parts: Iterable[Part]) -> Iterator[Part]:
    for part in parts:
        yield from (*part.keys, *part.beside, part)


def is_shared_out(mark: Mark) -> bool:
    """Whether the blocks of a kernel share a reduction, so that a second kernel combines their results."""
    inner = mark.child
    blocks = (*BLOCK_AXES, *GLOBAL_AXES)
    return (
        isinstance(inner, Mark)
        and inner.kind == "reduce"
        and isinstance(inner.child, Band)
        and any(m.mapped in blocks for m in inner.child.members)
    )


def reduction(printer: KernelPrinter, mark: Mark, inner: isl.AstNode, scope: Scope) -> tuple[c.Stmt, ...]:
    """A reduction that the threads of a block share.

    rewrite:  s += A[i] -> s_part = 0; … s_part += A[i]; the parts combined; if (thread == 0) s += s_parts[0];
    """
    parts = parts_of(printer, mark)
    printed = with_parts(printer, parts, inner, scope)
    updates = stored(printer, parts, scope)
    begun = declared(printer, parts, scope)
    return (c.Block((*begun, *printed, *together(printer, parts, updates))),)


def with_parts(printer: KernelPrinter, parts: list[Part], inner: isl.AstNode, scope: Scope) -> tuple[c.Stmt, ...]:
    """What is below the mark, with each thread's part in the place of the cell."""
    printer.records = {p.own: p for p in parts if p.keys}
    return printer.statements(inner, replace(scope, parts=scope.parts | {p.array: p.own for p in every(parts)}))


def with_keys(body: c.Stmt, record: Part, iteration: list[c.Expr]) -> c.Stmt:
    """The statement that changes a record, and where it does the iteration that it keeps."""
    match body:
        case c.If(then=then):
            items = then.body if isinstance(then, c.Block) else (then,)
            kept = (c.ExprStmt(c.Assign("=", c.Name(k.own), v)) for k, v in zip(record.keys, iteration, strict=True))
            return replace(body, then=c.Block((*kept, *items)))
        case c.ExprStmt(expr=c.Assign(value=c.Ternary(condition=test))):
            chosen = (
                c.ExprStmt(c.Assign("=", c.Name(k.own), c.Ternary(test, v, c.Name(k.own))))
                for k, v in zip(record.keys, iteration, strict=True)
            )
            return c.Block((*chosen, body))
    raise NoKernelForm("a record is kept in another form")


def parts_of(printer: KernelPrinter, mark: Mark) -> list[Part]:
    """Names for what the threads have; the shared arrays are declared at the top of the kernel."""
    assert isinstance(mark.child, Band)
    members = mark.child.members
    found: dict[str, Part] = {}
    for operator, array in members[0].reductions:
        kind = value_type(printer.program.scop.arrays[array].element)  # parts of halves are floats
        found[array] = _part(printer, array, operator, printer.arrays[array].name, kind)
    for array, part in list(found.items()):
        own = record_of(array, part.operator)
        if own == array and part.operator in TURNED:
            keys = tuple(
                _part(printer, f"{array} {k}", "", f"{part.own[:-5]}_{m.name}", "long") for k, m in enumerate(members)
            )
            beside = tuple(p for a, p in found.items() if a != array and record_of(a, p.operator) == array)
            found[array] = replace(part, keys=keys, beside=beside)
    return [part for array, part in found.items() if record_of(array, part.operator) == array]


def _part(printer: KernelPrinter, key: str, operator: str, name: str, kind: str) -> Part:
    if printer.columns is not None:
        return Part(key, operator, kind, printer.namer.fresh(f"{name}_part"), "")
    shared = printer.here.parts.get(key)
    if shared is None:
        shared = printer.here.parts[key] = printer.namer.take(f"{name}_parts")
        _share(printer, shared, kind)
    return Part(key, operator, kind, printer.namer.take(f"{name}_part"), shared)


def _share(printer: KernelPrinter, name: str, kind: str) -> None:
    threads = c.Literal(str(printer.here.threads))
    printer.here.share(name, c.Decl(kind, name, (threads,)), 8 if kind.endswith(("long", "double")) else 4)


def declared(printer: KernelPrinter, parts: list[Part], scope: Scope) -> tuple[c.Stmt, ...]:
    """The variables of a thread. Those for a sum start with what changes none; a maximum starts with the cell as it is,
    which the maximum of all parts and the cell has anyhow, whatever its type is. Raises NotMappable."""
    return tuple(
        c.Decl(p.type, p.own, (), _NEUTRAL.get(p.operator) or (target_of(printer, p, scope) if p.operator else _NEVER))
        for p in every(parts)
    )


def combined(part: Part, target: _Place, value: _Place) -> c.Stmt:
    """`s += value`, or `if (value > m) m = value`: nothing is stored for a value that is no number. Of a record, which
    never is less than what was there before, the part that was taken first, or last, of equal ones."""
    test: c.Expr
    match part.operator:
        case "max":
            test = c.Binary(">", value(part), target(part))
        case "min":
            test = c.Binary("<", value(part), target(part))
        case operator if operator in TURNED:
            test = c.Binary(operator[0], value(part), target(part))
            first = "<" if len(operator) == 1 else ">"
            later: c.Expr | None = None
            for key in reversed(part.keys):
                one, other = value(key), target(key)
                decided = c.Binary(first, one, other)
                later = (
                    decided
                    if later is None
                    else c.Binary("||", decided, c.Binary("&&", c.Binary("==", one, other), later))
                )
            assert later is not None
            test = c.Binary("||", test, c.Binary("&&", c.Binary("==", value(part), target(part)), later))
        case operator:
            return c.ExprStmt(c.Assign(f"{operator}=", target(part), value(part)))
    return c.If(test, block_of(tuple(c.ExprStmt(c.Assign("=", target(p), value(p))) for p in every([part]))))


def _own(part: Part) -> c.Expr:
    return c.Name(part.own)


def stored(printer: KernelPrinter, parts: list[Part], scope: Scope, value: _Place = _own) -> tuple[c.Stmt, ...]:
    """What one thread does with the parts of all, which it has in its own variables. A record began with the cells as
    they were, and takes their places."""
    found: list[c.Stmt] = []
    for part in parts:
        if part.keys:
            cells = (*part.beside, part)
            found += (c.ExprStmt(c.Assign("=", target_of(printer, p, scope), value(p))) for p in cells)
        else:
            found.append(combined(part, lambda p: target_of(printer, p, scope), value))
    return tuple(found)


def together(printer: KernelPrinter, parts: list[Part], updates: tuple[c.Stmt, ...]) -> tuple[c.Stmt, ...]:
    """The parts of all threads combined, in the variables of the first one, and what it does with them.

    A few threads combine a few parts each, then one thread theirs: with two barriers in all, where halving the threads
    that are left takes eight for 256. They combine them in registers: each load from shared memory would wait for the
    store before. All threads come here.
    """
    thread, threads = printer.here.thread(ALL_THREADS), printer.here.threads
    few = 1
    while few * few < threads:
        few *= 2
    own = tuple(c.ExprStmt(c.Assign("=", c.ArrayRef(p.all, (thread,)), _own(p))) for p in every(parts))
    if threads == 1:
        return (*own, printer.dialect.barrier, only_first(printer, updates))
    turn = printer.namer.fresh("q", frozenset(p.own for p in every(parts)))
    of_few = (*_joined(parts, turn, thread, few, threads), *own)
    meets = c.If(c.Binary("<", thread, c.Literal(str(few))), block_of(of_few))
    last = _joined(parts, turn, ZERO, 1, min(few, threads))
    return (*own, printer.dialect.barrier, meets, printer.dialect.barrier, only_first(printer, (*last, *updates)))


def _joined(parts: list[Part], turn: str, first: c.Expr, step: int, count: int) -> tuple[c.Stmt, ...]:
    """Every so manyth of a number of parts, combined with what the thread has: `for (q = 1; q < count / step; q++)
    part += all[first + step * q];`"""
    place = plus(first, times(step, c.Name(turn)))
    joined = block_of(tuple(combined(p, _own, lambda q: c.ArrayRef(q.all, (place,))) for p in parts))
    few = c.Binary("<", c.Name(turn), c.Literal(str(count // step)))
    loop = c.For(c.Decl("int", turn, (), ONE), few, c.Postfix("++", c.Name(turn)), joined, (UNROLL,))
    if count % step == 0:
        return (loop,)
    at_end = c.Binary("<", with_value(place, turn, c.Literal(str(count // step))), c.Literal(str(count)))
    return (loop, c.If(at_end, with_value(joined, turn, c.Literal(str(count // step)))))


def only_first(printer: KernelPrinter, updates: tuple[c.Stmt, ...]) -> c.Stmt:
    return c.If(c.Binary("==", printer.here.thread(ALL_THREADS), ZERO), block_of(updates))


def target_of(printer: KernelPrinter, part: Part, scope: Scope) -> c.Expr:
    """The cell, in the names of the loops around the mark. Raises NotMappable."""
    target = printer.targets.get(part.array)
    if target is None:
        raise NoKernelForm(f"nothing adds into {part.array}")
    known = scope.names | {p.name for p in printer.program.scop.parameters}
    named = {n.name for n in c.walk(target) if isinstance(n, c.Name)}
    if not named <= known | set(printer.index_names.values()):
        raise NoKernelForm(f"the cell of {part.array} depends on what is added")
    return target


def at_once(printer: KernelPrinter, loop: c.Stmt) -> c.Stmt:
    """A reduction's loop, unrolled so far that a thread has several loads on their way; the same around other loops."""
    if not printer.dialect.fetches or not isinstance(loop, c.For) or c.has_loops(loop.body):
        return loop
    loads = {c.unlabelled(n) for n in c.walk(loop.body) if isinstance(n, c.ArrayRef) and n.subscripts}
    most = LOADS_AT_ONCE // max(len(loads), 2)
    return replace(loop, pragmas=(f"{UNROLL} {most}",)) if most > 1 else loop


# --- many blocks -----------------------------------------------------------------------------------------------------


def first_step(
    printer: KernelPrinter, mark: Mark, inner: isl.AstNode, scope: Scope
) -> tuple[tuple[c.Stmt, ...], list[Part], dict[str, str]]:
    """The kernel in which each block adds up its part of a reduction; the arrays that have these parts afterwards."""
    assert isinstance(mark.child, Mark)
    parts = parts_of(printer, mark.child)
    printed = with_parts(printer, parts, inner, scope)
    kept: dict[str, str] = {}
    stores: list[c.Stmt] = []
    block = printer.here.block("x")
    for part in every(parts):
        name = printer.namer.take(f"{part.all.removesuffix('_parts')}_blocks")
        elements = c.Literal(str(mark.blocks))
        printer.arrays[name] = DeviceArray(name, name, part.type, (), elements, False, False, True, True)
        kept[part.array] = name
        stores.append(c.ExprStmt(c.Assign("=", c.ArrayRef(name, (block,)), _own(part))))
    body = (*declared(printer, parts, scope), *printed, *together(printer, parts, tuple(stores)))
    return body, parts, kept


def last_step(
    printer: KernelPrinter, parts: list[Part], kept: dict[str, str], blocks: c.Expr, scope: Scope
) -> tuple[c.Stmt, ...]:
    """The kernel of one block that combines the parts of all blocks."""
    thread, threads = printer.here.thread(ALL_THREADS), c.Literal(str(printer.here.threads))
    for part in every(parts):
        printer.here.parts[part.array] = part.all
        _share(printer, part.all, part.type)
    index = printer.namer.fresh("block", scope.names)
    joined = tuple(
        combined(part, lambda p: c.Name(p.own), lambda p: c.ArrayRef(kept[p.array], (c.Name(index),))) for part in parts
    )
    loop = c.For(
        c.Decl("long", index, (), thread),
        c.Binary("<", c.Name(index), blocks),
        c.Assign("+=", c.Name(index), threads),
        block_of(joined),
    )
    return (*declared(printer, parts, scope), loop, *together(printer, parts, stored(printer, parts, scope)))


def blocks_within(count: c.Expr, most: int) -> c.Expr:
    """At least one block, at most as many as have room for their parts."""
    if isinstance(count, c.Literal):
        return c.Literal(str(max(1, min(int(count.text.rstrip("L")), most))))
    return c.Call(MAX, (c.Call(MIN, (count, c.Literal(str(most)))), ONE))
