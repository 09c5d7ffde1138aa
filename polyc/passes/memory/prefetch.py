"""Loops on data that stream through an array: ask for its lines some pages ahead."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import prod

from polyc.machine import load_cpu
from polyc.machine.cpu import Cpu
from polyc.model import ctree as c
from polyc.model.program import Program
from polyc.model.scop import AccessKind, Array, Statement
from polyc.poly import constant_of

STAGE = "prefetch"
PAGES = 2
"""How far ahead. What a core fetches ahead by itself ends at a page, and begins anew in the next one."""
MOST_LINES = 4
"""That an iteration may take of one array: what takes more has the time to fetch them ahead by itself."""
ADDRESS = "unsigned long"
"""The type in which the distance is added: what lies behind an array has no pointer in C."""


def prefetch_streams(program: Program) -> Program:
    """Let loops on data ask early for the lines of arrays that they go through row by row.

    rewrite:  while (k < index[i + 1]) { sum += f(K[k][…]); k++; }
              -> while (k < index[i + 1]) { __builtin_prefetch(K[k] + 8192 bytes); sum += f(K[k][…]); k++; }
    requires: a black box; a counter that its loop adds 1 to in each iteration; an array that no statement writes, with
              the counter as first subscript, and rows of one line of a cache or of a few. Where a row has less, an
              iteration would ask for a line that the one before has asked for: that costs as much as it gives
    ensures:  the statement as it was, but for requests, which compute nothing and never fault
    """
    machine = load_cpu(program.options.machine)
    written = {
        a.array for s in program.scop.statements.values() for a in s.accesses if a.kind is not AccessKind.READ
    }  # fmt: skip
    for name, statement in program.scop.statements.items():
        if not statement.opaque or program.statements[name] is not statement:
            continue
        asking = _Asking(program, statement, machine, frozenset(written))
        body = c.rewrite(statement.body, asking.loop)
        if asking.found:
            arrays = ", ".join(sorted({program.scop.arrays[a].c_name for a in asking.found}))
            program = replace(program, statements=program.statements | {name: replace(statement, body=body)}).remark(
                "prefetched",
                STAGE,
                f"each iteration of its loop on data asks for what lies {asking.distance} bytes ahead in {arrays}",
                (name,),
                bytes=asking.distance,
            )
    return program


class _Asking:
    """Puts requests into the loops of a statement."""

    def __init__(self, program: Program, statement: Statement, machine: Cpu, written: frozenset[str]) -> None:
        self.arrays = program.scop.arrays
        self.kept = {b.array for b in program.buffers.values()}
        self.statement = statement
        self.written = written
        self.line = machine.levels[0].line_bytes
        self.distance = PAGES * machine.page_bytes
        self.near = machine.levels[min(1, len(machine.levels) - 1)].bytes
        self.found: set[str] = set()

    def loop(self, node: c.Node) -> c.Node | None:
        """The loop with requests first in its body; None for what is no such loop."""
        if not isinstance(node, c.While | c.For):
            return None
        counter = counter_of(node)
        if counter is None:
            return None
        asked: dict[str, c.Stmt] = {}
        for reference in c.walk(node.body):
            if isinstance(reference, c.ArrayRef) and reference.array not in asked and self.streams(reference, counter):
                asked[reference.array] = c.Block(tuple(self.requests(reference)))
        if not asked:
            return None
        self.found.update(asked)
        first = tuple(item for block in asked.values() for item in block.body)  # type: ignore[union-attr]
        items = node.body.body if isinstance(node.body, c.Block) else (node.body,)
        return replace(node, body=c.Block((*first, *items), node.body.span))

    def streams(self, reference: c.ArrayRef, counter: c.Expr) -> bool:
        array = self.arrays[reference.array]
        size = row_bytes(array)
        if array.name in self.written | self.kept or array.flat or size is None:
            return False
        if len(reference.subscripts) != array.rank or not _same(reference.subscripts[0], counter):
            return False
        rows = None if array.extents[0] is None else constant_of(array.extents[0])
        if rows is not None and rows * size <= self.near:  # it stays in a cache, and ends before what lies ahead
            return False
        return self.line <= size < (MOST_LINES + 1) * self.line

    def requests(self, reference: c.ArrayRef) -> Iterator[c.Stmt]:
        """A request for each whole line of a row."""
        array = self.arrays[reference.array]
        zeros = (c.Literal("0"),) * (array.rank - 1)
        place = c.Unary("&", c.ArrayRef(array.name, (reference.subscripts[0], *zeros)))
        for line in range((row_bytes(array) or 0) // self.line):
            ahead = c.Literal(str(self.distance + line * self.line))
            address = c.Binary("+", c.Cast(ADDRESS, place), ahead)
            yield c.ExprStmt(c.Call(c.PREFETCH, (c.Cast("const void *", address),)))


def row_bytes(array: Array) -> int | None:
    """How far apart neighbouring rows are; None for a vector, and where that is no constant."""
    sizes = [constant_of(extent) if extent is not None else None for extent in array.extents[1:]]
    if not sizes or None in sizes or not array.element.size_bytes:
        return None
    return array.element.size_bytes * prod(size for size in sizes if size is not None)


def counter_of(loop: c.While | c.For) -> c.Expr | None:
    """The variable that each iteration adds 1 to, once, and nothing else changes."""
    steps = (
        [loop.step] if isinstance(loop, c.For) else [s.expr for s in c.items(loop.body) if isinstance(s, c.ExprStmt)]
    )
    counters = [found for step in steps if step is not None and (found := _added_to(step)) is not None]
    if isinstance(loop, c.While) and any(isinstance(n, c.Jump) for n in c.walk(loop.body)):
        return None
    for counter in counters:
        changed = sum(_same(target, counter) for target in _targets(loop.body))
        if changed == (0 if isinstance(loop, c.For) else 1):
            return counter
    return None


def _added_to(step: c.Expr) -> c.Expr | None:
    """The variable of `k++`, `++k` or `k += 1`."""
    match step:
        case c.Postfix(op="++", operand=target) | c.Unary(op="++", operand=target):
            return target if _is_variable(target) else None
        case c.Assign(op="+=", target=target, value=c.Literal(text="1")):
            return target if _is_variable(target) else None
    return None


def _targets(node: c.Node) -> Iterator[c.Expr]:
    """What is assigned."""
    for item in c.walk(node):
        match item:
            case c.Assign(target=target) | c.Postfix(operand=target) | c.Unary(op="++" | "--", operand=target):
                yield target


def _is_variable(node: c.Expr) -> bool:
    return isinstance(node, c.Name) or (isinstance(node, c.ArrayRef) and not node.subscripts)


def _same(node: c.Node, variable: c.Expr) -> bool:
    """Whether it is this variable, whatever the reference's label."""
    match node, variable:
        case c.ArrayRef(array=one, subscripts=()), c.ArrayRef(array=other):
            return one == other
        case c.Name(), c.Name():
            return node == variable
    return False
