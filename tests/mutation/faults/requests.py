"""Faults of `prefetch` and `ahead`: loops that come out as other loops, and requests that compute something."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import islpy as isl

from polyc.model import ctree as c
from polyc.model.program import Program
from polyc.model.scop import Statement
from polyc.passes.memory import ahead
from tests.mutation import edits as e
from tests.mutation.edits import Edit
from tests.mutation.install import adding_to, patched
from tests.mutation.runner import Fault, after_pass

FAULTS: list[Fault] = []
add = adding_to(FAULTS)


def in_loops(*changes: tuple[str, c.Stmt]) -> Edit:
    """Change the bodies of statements that have requests: what stands at the request, the loop's step, or its sum."""

    def changed(node: c.Node) -> c.Node | None:
        for kind, other in changes:
            if isinstance(node, c.ExprStmt) and _kind(node) == kind:
                return other
        return None

    def edit(program: Program) -> Program:
        statements = {name: _changed(s, changed) for name, s in program.statements.items()}
        return replace(program, statements=statements)

    return edit


def _changed(statement: Statement, change: object) -> Statement:
    if not any(c.is_request(node) for node in c.walk(statement.body)):
        return statement
    return replace(statement, body=c.rewrite(statement.body, change))  # type: ignore[arg-type]


def _kind(node: c.ExprStmt) -> str:
    match node.expr:
        case c.Call():
            return "request"
        case c.Postfix():
            return "step"
        case c.Assign(op="+="):
            return "sum"
    return ""


K = c.ArrayRef("k", ())
STEP = c.ExprStmt(c.Postfix("++", K))


def asking(place: c.Expr) -> c.Stmt:
    address = c.Binary("+", c.Cast("unsigned long", c.Unary("&", c.ArrayRef("K", (place,)))), c.Literal("8192"))
    return c.ExprStmt(c.Call(c.PREFETCH, (c.Cast("const void *", address),)))


def written_back(program: Program) -> Program:
    """Requests that have accesses of their own left out: a statement that reads nothing."""
    statements = {
        name: replace(s, accesses=()) if any(c.is_request(n) for n in c.walk(s.body)) else s
        for name, s in program.statements.items()
    }
    return replace(program, statements=statements)


for name_, what_, edit_ in (
    ("the sum lost", "a request in its place", in_loops(("sum", asking(K)))),
    (
        "the step in the request",
        "and not after it",
        in_loops(("request", asking(c.Postfix("++", K))), ("step", c.Empty())),
    ),
    ("the step twice", "first in the loop too", in_loops(("request", STEP))),
    ("the step in the request too", "", in_loops(("request", asking(c.Postfix("++", K))))),
    ("a request that calls", "abort", in_loops(("request", asking(c.Call("abort", ()))))),
    ("the sum twice", "", in_loops(("request", c.ExprStmt(c.Assign("+=", K, c.Literal("1")))))),
    ("accesses forgotten", "", written_back),
):
    add("prefetch", name_, what_, after_pass("prefetch", edit_))


def storing(statement: Statement) -> Statement:
    """A request that sets the cell to zero."""
    if not (isinstance(statement.body, c.ExprStmt) and c.is_request(statement.body)):
        return statement
    (cell,) = (node for node in c.walk(statement.body) if isinstance(node, c.ArrayRef))
    return replace(statement, body=c.ExprStmt(c.Assign("=", cell, c.Literal("0"))))


def stores(program: Program) -> Program:
    return replace(program, statements={name: storing(s) for name, s in program.statements.items()})


def far_behind(ask: Callable[..., isl.Map]) -> Callable[..., isl.Map]:
    """Requests for cells that the array does not have."""

    def shifted(*arguments: object) -> isl.Map:
        read = ask(*arguments)
        cell = read.get_space().range().identity_multi_aff_on_domain()
        far = cell.set_at(0, cell.get_at(0).add_constant_val(isl.Val.int_from_si(read.get_ctx(), 1_000_000)))
        return read.apply_range(isl.Map.from_multi_aff(far))

    return shifted


for name_, what_, edit_ in (
    ("requests store", "zeros", stores),
    ("the strip dropped", "requests alone", e.nth(e.last_step_dropped, 1)),
    ("steps reversed", "", e.everywhere(e.reversed_steps)),
    ("the first step twice", "", e.nth(e.first_step_twice)),
):
    add("ahead", name_, what_, after_pass("ahead", edit_))
add("ahead", "far behind the end", "", patched(ahead._Asking, "read_ahead", far_behind))
