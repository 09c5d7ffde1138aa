"""Panels that hold the value of an expression, in which the cell of the array is the only thing that changes.

`s += alpha * A[i][k] * B[k][j]` may read `alpha * A[i][k]` from a panel, into which copies put that product instead of
`A[i][k]`: then it is made once, and not for each j. Codegen does both for the panels of `Program.hoisted`, wherever a
reference goes to such a panel.
math: e(x) is an expression of one cell x, and of places that the region does not write, `alpha`, `alpha[0]`. All that
      fills the panel are copies, which store e(x) where they would store x; all that reads it has e(x) around its
      reference, and gets the panel's cell in the place of that. So each reader computes what it computed, if it reads
      what it read: which is what the other checks show of the program with plain copies.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from polyc.analysis.expressions.elementwise import keeps_type
from polyc.model import ctree as c
from polyc.model.fault import Fault
from polyc.model.program import Hoist, Program
from polyc.model.scop import AccessKind, Scop

_KIND = "hoisted"
_CELL = c.Name("(cell)")


def hoist_faults(program: Program) -> Iterator[Fault]:
    """Panels that hold another value than their readers expect."""
    for key in sorted({h.buffer for h in program.hoisted}):
        yield from _panel_faults(program, key, [h for h in program.hoisted if h.buffer == key])


def _panel_faults(program: Program, key: str, hoists: list[Hoist]) -> Iterator[Fault]:
    buffer = program.buffers.get(key)
    if buffer is None:
        yield Fault(_KIND, f"there is no panel {key}", "")
        return
    value = _form(hoists[0])
    for hoist in hoists:
        own = program.scop.statements.get(hoist.statement)
        met = sum(node == hoist.value for node in c.walk(own.body)) if own is not None else 0
        if met != 1:
            yield Fault(_KIND, f"{hoist.statement} has no such expression, or several", "")
        if _form(hoist) != value or not _is_constant_but_for_its_cell(program.scop, hoist, buffer.array):
            yield Fault(_KIND, f"{buffer.name} is read by {hoist.statement} for another expression", "")
    readers = {(h.statement, h.ref) for h in hoists}
    for statement, ref in sorted(buffer.accesses):
        if statement not in program.copies and (statement, ref) not in readers:
            yield Fault(_KIND, f"{statement} uses {buffer.name} as if it held {buffer.array}", "")
        if statement in program.copies and not _fills(program, statement, ref):
            yield Fault(_KIND, f"{statement} takes cells of {buffer.array} out of {buffer.name}", "")


def _fills(program: Program, copy: str, ref: str) -> bool:
    return any(a.ref == ref and a.kind is AccessKind.WRITE for a in program.statements[copy].accesses)


def _form(hoist: Hoist) -> c.Expr:
    """The expression without what differs from place to place: labels, and the cell's subscripts."""

    def change(node: c.Node) -> c.Node | None:
        if not isinstance(node, c.ArrayRef):
            return None
        if node.ref == hoist.ref:
            return _CELL
        return replace(node, ref="") if _is_settled(node) else None

    return c.rewrite(hoist.value, change)


def _is_settled(node: c.ArrayRef) -> bool:
    """Whether a reference is to one place, `t` or `alpha[0]`."""
    return all(isinstance(subscript, c.Literal) for subscript in node.subscripts)


def _is_constant_but_for_its_cell(scop: Scop, hoist: Hoist, array: str) -> bool:
    written = scop.written
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
            case c.ArrayRef(array=name, subscripts=subscripts) if _is_settled(node):
                if name in written or scop.arrays[name].rank != len(subscripts):
                    return False
            case _:
                return False
    return keeps_type(hoist.value, scop.arrays[array].element, scop.arrays, ())
