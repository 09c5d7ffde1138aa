"""Reductions in kernels: a part for each thread, combined in shared memory, and a second kernel for many blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import islpy as isl

from polyc.codegen.gpu.memory import DeviceArray
from polyc.codegen.gpu.words import NotMappable, value_type
from polyc.codegen.loops.instances import Scope, block_of
from polyc.codegen.text.arith import ONE, ZERO, plus
from polyc.codegen.text.macros import MAX, MIN
from polyc.model import ctree as c
from polyc.model.tree import ALL_THREADS, BLOCK_AXES, GLOBAL_AXES, Band, Mark
from polyc.records import dataclass, replace

if TYPE_CHECKING:
    from polyc.codegen.gpu.printer import KernelPrinter

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
    updates = tuple(combined(p, target_of(printer, p, scope), c.ArrayRef(p.all, (ZERO,))) for p in parts)
    begun = declared(printer, parts, scope)
    return (c.Block((*begun, *printed, *together(printer, parts, updates))),)


def _bytes(printer: KernelPrinter, array: str) -> int:
    """Of one part."""
    return max(printer.program.scop.arrays[array].element.size_bytes, 4)


def with_parts(printer: KernelPrinter, parts: list[Part], inner: isl.AstNode, scope: Scope) -> tuple[c.Stmt, ...]:
    """What is below the mark, with each thread's part in the place of the cell."""
    return printer.statements(inner, replace(scope, parts=scope.parts | {p.array: p.own for p in parts}))


def parts_of(printer: KernelPrinter, mark: Mark) -> list[Part]:
    """Names for what the threads have; the shared arrays are declared at the top of the kernel."""
    assert isinstance(mark.child, Band)
    assert printer.open is not None
    found = []
    for operator, array in mark.child.members[0].reductions:
        name = printer.arrays[array].name
        kind = value_type(printer.program.scop.arrays[array].element)  # parts of halves are floats
        shared = printer.open.parts.get(array)
        if shared is None:
            shared = printer.open.parts[array] = printer.namer.take(f"{name}_parts")
            threads = c.Literal(str(printer.threads()))
            printer.share_array(shared, c.Decl(kind, shared, (threads,)), _bytes(printer, array))
        found.append(Part(array, operator, kind, printer.namer.take(f"{name}_part"), shared))
    return found


def declared(printer: KernelPrinter, parts: list[Part], scope: Scope) -> tuple[c.Stmt, ...]:
    """The variables of a thread. Those for a sum start with what changes none; a maximum starts with the cell as it is,
    which the maximum of all parts and the cell has anyhow, whatever its type is. Raises NotMappable."""
    return tuple(c.Decl(p.type, p.own, (), _NEUTRAL.get(p.operator) or target_of(printer, p, scope)) for p in parts)


def combined(part: Part, target: c.Expr, value: c.Expr) -> c.Stmt:
    """`s += value`, or `if (value > m) m = value`: nothing is stored for a value that is no number."""
    match part.operator:
        case "max":
            test = c.Binary(">", value, target)
        case "min":
            test = c.Binary("<", value, target)
        case operator:
            return c.ExprStmt(c.Assign(f"{operator}=", target, value))
    return c.If(test, c.ExprStmt(c.Assign("=", target, value)))


def together(printer: KernelPrinter, parts: list[Part], updates: tuple[c.Stmt, ...]) -> tuple[c.Stmt, ...]:
    """The parts of all threads combined, in the first place of the shared arrays, and what one thread does with them.

    A few threads combine a few parts each, then one thread theirs: with two barriers in all, where halving the threads
    that are left takes eight for 256. All threads come here.
    """
    thread, threads = printer.thread(ALL_THREADS), printer.threads()
    few = 1
    while few * few < threads:
        few *= 2
    stored = tuple(c.ExprStmt(c.Assign("=", c.ArrayRef(p.all, (thread,)), c.Name(p.own))) for p in parts)
    if threads == 1:
        return (*stored, printer.dialect.barrier, only_first(printer, updates))
    of_few = printer.namer.fresh("part", frozenset(p.own for p in parts))
    first = _joined(parts, of_few, thread, plus(thread, c.Literal(str(few))), threads, few)
    last = _joined(parts, of_few, ZERO, ONE, min(few, threads), 1)
    meets = c.If(c.Binary("<", thread, c.Literal(str(few))), first)
    return (*stored, printer.dialect.barrier, meets, printer.dialect.barrier, only_first(printer, (last, *updates)))


def _joined(parts: list[Part], index: str, into: c.Expr, start: c.Expr, end: int, step: int) -> c.For:
    """`for (part = start; part < end; part += step) all[into] += all[part];`"""
    other = c.Name(index)
    return c.For(
        c.Decl("long", index, (), start),
        c.Binary("<", other, c.Literal(str(end))),
        c.Assign("+=", other, c.Literal(str(step))) if step > 1 else c.Postfix("++", other),
        block_of(tuple(combined(p, c.ArrayRef(p.all, (into,)), c.ArrayRef(p.all, (other,))) for p in parts)),
    )


def only_first(printer: KernelPrinter, updates: tuple[c.Stmt, ...]) -> c.Stmt:
    return c.If(c.Binary("==", printer.thread(ALL_THREADS), ZERO), block_of(updates))


def target_of(printer: KernelPrinter, part: Part, scope: Scope) -> c.Expr:
    """The cell, in the names of the loops around the mark. Raises NotMappable."""
    target = printer.targets.get(part.array)
    if target is None:
        raise NotMappable(f"nothing adds into {part.array}")
    known = scope.names | {p.name for p in printer.program.scop.parameters}
    named = {n.name for n in c.walk(target) if isinstance(n, c.Name)}
    if not named <= known | set(printer.index_names.values()):
        raise NotMappable(f"the cell of {part.array} depends on what is added")
    return target


# --- many blocks -----------------------------------------------------------------------------------------------------


def first_step(
    printer: KernelPrinter, mark: Mark, inner: isl.AstNode, scope: Scope
) -> tuple[tuple[c.Stmt, ...], list[tuple[Part, str]]]:
    """The kernel in which each block adds up its part of a reduction; the arrays that have these parts afterwards."""
    assert isinstance(mark.child, Mark)
    parts = parts_of(printer, mark.child)
    printed = with_parts(printer, parts, inner, scope)
    kept: list[tuple[Part, str]] = []
    stores: list[c.Stmt] = []
    block = printer.block_index()
    for part in parts:
        name = printer.namer.take(f"{printer.arrays[part.array].name}_blocks")
        elements = c.Literal(str(mark.blocks))
        printer.arrays[name] = DeviceArray(name, name, part.type, (), elements, False, False, True, True)
        kept.append((part, name))
        stores.append(c.ExprStmt(c.Assign("=", c.ArrayRef(name, (block,)), c.ArrayRef(part.all, (ZERO,)))))
    body = (*declared(printer, parts, scope), *printed, *together(printer, parts, tuple(stores)))
    return body, kept


def last_step(printer: KernelPrinter, kept: list[tuple[Part, str]], blocks: c.Expr, scope: Scope) -> tuple[c.Stmt, ...]:
    """The kernel of one block that combines the parts of all blocks."""
    assert printer.open is not None
    thread, threads = printer.thread(ALL_THREADS), c.Literal(str(printer.threads()))
    parts: list[Part] = []
    for part, _ in kept:
        printer.open.parts[part.array] = part.all
        printer.share_array(part.all, c.Decl(part.type, part.all, (threads,)), _bytes(printer, part.array))
        parts.append(part)
    index = printer.namer.fresh("block", scope.names)
    joined = tuple(combined(part, c.Name(part.own), c.ArrayRef(name, (c.Name(index),))) for part, name in kept)
    loop = c.For(
        c.Decl("long", index, (), thread),
        c.Binary("<", c.Name(index), blocks),
        c.Assign("+=", c.Name(index), threads),
        block_of(joined),
    )
    updates = tuple(combined(p, target_of(printer, p, scope), c.ArrayRef(p.all, (ZERO,))) for p in parts)
    return (*declared(printer, parts, scope), loop, *together(printer, parts, updates))


def blocks_within(count: c.Expr, most: int) -> c.Expr:
    """At least one block, at most as many as have room for their parts."""
    if isinstance(count, c.Literal):
        return c.Literal(str(max(1, min(int(count.text.rstrip("L")), most))))
    return c.Call(MAX, (c.Call(MIN, (count, c.Literal(str(most)))), ONE))
