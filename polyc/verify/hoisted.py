"""Panels that hold the value of an expression, in which the cell of the array is the only thing that changes.

`s += alpha * A[i][k] * B[k][j]` may read `alpha * A[i][k]` from a panel, into which copies put that product instead of
`A[i][k]`: then it is made once, and not for each j.
math: e(x) is an expression of one cell x, and of scalars that the region does not write. Everything that fills the
      panel stores e(x) where a copy would store x; everything that reads the panel has x where the original has e(x).
      So each reader computes what it computed, if it reads what it read: which is what the other checks show of the
      program with plain copies and the original statements.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace

from polyc.analysis.elementwise import keeps_type
from polyc.model import ctree as c
from polyc.model.program import Hoist, Program
from polyc.model.scop import AccessKind, Scop, Statement
from polyc.verify.fault import Fault

_KIND = "hoisted"
_CELL = c.Name("(cell)")


def without_hoists(program: Program) -> Program:
    """The program with plain copies, and with its statements as the region has them."""
    if not program.hoisted:
        return program
    statements = dict(program.statements)
    for name in _copies(program, {h.buffer for h in program.hoisted}):
        statements[name] = _plain_copy(statements[name])
    for hoist in program.hoisted:
        if hoist.statement in program.scop.statements:
            statements[hoist.statement] = program.scop.statements[hoist.statement]
    return replace(program, statements=statements, hoisted=())


def hoist_faults(program: Program) -> list[Fault]:
    """Panels that hold another value than their readers expect."""
    return list(_faults(program)) if program.hoisted else []


def _faults(program: Program) -> Iterator[Fault]:
    for name in sorted({h.statement for h in program.hoisted}):
        yield from _statement_faults(program, name, [h for h in program.hoisted if h.statement == name])
    for key in sorted({h.buffer for h in program.hoisted}):
        yield from _panel_faults(program, key, [h for h in program.hoisted if h.buffer == key])


def _statement_faults(program: Program, name: str, hoists: list[Hoist]) -> Iterator[Fault]:
    own, now = program.scop.statements.get(name), program.statements.get(name)
    if own is None or now is None:
        yield Fault(_KIND, f"there is no statement {name}", "")
        return
    if any(getattr(own, f.name) is not getattr(now, f.name) for f in fields(Statement) if f.name != "body"):
        yield Fault(_KIND, f"{name} is another statement, not only without an expression", "")
    met = 0

    def change(node: c.Node) -> c.Node | None:
        nonlocal met
        for hoist in hoists:
            if node == hoist.value:
                met += 1
                return _cell(hoist)
        return None

    if c.rewrite(own.body, change) != now.body or met != len(hoists):
        yield Fault(_KIND, f"{name} is not its own text with panels in the place of expressions", own.text)


def _panel_faults(program: Program, key: str, hoists: list[Hoist]) -> Iterator[Fault]:
    buffer = program.buffers.get(key)
    if buffer is None:
        yield Fault(_KIND, f"there is no panel {key}", "")
        return
    value = _form(hoists[0])
    for hoist in hoists:
        if _form(hoist) != value or not _is_constant_but_for_its_cell(program.scop, hoist, buffer.array):
            yield Fault(_KIND, f"{buffer.name} is read by {hoist.statement} for another expression", "")
    copies = set(_copies(program, {key}))
    readers = {(h.statement, h.ref) for h in hoists}
    for statement, ref in sorted(buffer.accesses):
        if statement not in copies and (statement, ref) not in readers:
            yield Fault(_KIND, f"{statement} reads {buffer.name} as if it held {buffer.array}", "")
    for name in sorted(copies):
        match program.statements[name].body:
            case c.ExprStmt(expr=c.Assign(op="=", target=c.ArrayRef(ref="inside"), value=stored)):
                if _form(Hoist(key, name, "outside", stored)) != value:
                    yield Fault(_KIND, f"{name} stores another expression than {buffer.name} is read for", "")
            case _:
                yield Fault(_KIND, f"{name} does not fill {buffer.name}", "")


def _copies(program: Program, keys: set[str]) -> Iterator[str]:
    """The copies that have to do with some panels."""
    for key in keys:
        if key in program.buffers:
            yield from (s for s, _ in program.buffers[key].accesses if s in program.copies)


def _plain_copy(statement: Statement) -> Statement:
    match statement.body:
        case c.ExprStmt(expr=c.Assign(value=value) as assign):
            cells = [n for n in c.walk(value) if isinstance(n, c.ArrayRef) and n.ref == "outside"]
            if len(cells) == 1:
                return replace(statement, body=replace(statement.body, expr=replace(assign, value=cells[0])))
    return statement


def _cell(hoist: Hoist) -> c.ArrayRef:
    (found,) = (n for n in c.walk(hoist.value) if isinstance(n, c.ArrayRef) and n.ref == hoist.ref)
    return found


def _form(hoist: Hoist) -> c.Expr:
    """The expression without what differs from place to place: labels, and the cell's subscripts."""

    def change(node: c.Node) -> c.Node | None:
        if not isinstance(node, c.ArrayRef):
            return None
        if node.ref == hoist.ref:
            return _CELL
        return replace(node, ref="") if not node.subscripts else None

    return c.rewrite(hoist.value, change)


def _is_constant_but_for_its_cell(scop: Scop, hoist: Hoist, array: str) -> bool:
    written = {a.array for s in scop.statements.values() for a in s.accesses if a.kind is not AccessKind.READ}
    cells = [n for n in c.walk(hoist.value) if isinstance(n, c.ArrayRef) and n.ref == hoist.ref]
    if len(cells) != 1 or cells[0].array != array:
        return False
    for node in c.walk(_form(hoist)):
        match node:
            case c.Literal() | c.Binary(op="+" | "-" | "*" | "/") | c.Unary(op="-"):
                pass
            case c.Name():
                if node != _CELL:
                    return False
            case c.ArrayRef(array=name, subscripts=()):
                if name in written or scop.arrays[name].rank:
                    return False
            case _:
                return False
    return keeps_type(hoist.value, scop.arrays[array].element, scop.arrays, ())
