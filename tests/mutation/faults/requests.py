"""Faults of `prefetch`: loops on data that come out as other loops, and requests that compute something."""

from __future__ import annotations

from dataclasses import replace

from polyc.model import ctree as c
from polyc.model.program import Program
from polyc.model.scop import Statement
from tests.mutation.edits import Edit
from tests.mutation.install import adding_to
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
