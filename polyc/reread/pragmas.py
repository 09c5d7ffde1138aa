"""What the frontend does not read: pragmas, and how long variables live."""

from __future__ import annotations

import re

from polyc.codegen.instances import c_name
from polyc.codegen.printer import UNROLL_ON_CPU
from polyc.model import ctree as c
from polyc.model.program import Program
from polyc.model.tree import Band, walk
from polyc.verify.fault import Fault

_CLAUSE = re.compile(r"reduction\((\S+): (\w+)\)")


def pragma_faults(program: Program, body: tuple[c.Stmt, ...]) -> list[Fault]:
    """Pragmas that say something else than the notes, which is what is read again."""
    allowed = {
        (operator, c_name(program.scop.arrays[array]))
        for node in walk(program.tree.child)
        if isinstance(node, Band)
        for member in node.members
        for operator, array in member.reductions
    }
    found: list[Fault] = []
    for loop in (n for item in body for n in c.walk(item) if isinstance(n, c.For) and n.pragmas):
        if loop.pragmas[0].startswith(UNROLL_ON_CPU):
            continue  # changes no order
        said = {pair for pragma in loop.pragmas for pair in _CLAUSE.findall(pragma)}
        noted = _noted(loop.body)
        if noted is None or noted != {name for _, name in said} or not said <= allowed:
            found.append(Fault("race", f"the pragma '{loop.pragmas[0]}' is not what the check knows of its loop", ""))
    return found


def storage_faults(body: tuple[c.Stmt, ...]) -> list[Fault]:
    """Declarations that are no locals of their block: the frontend reads them as if they were."""
    declared = [n for item in body for n in c.walk(item) if isinstance(n, c.Decl)]
    shared = [d for d in declared if {"static", "extern", "_Thread_local"} & set(d.type.split())]
    return [Fault("text", f"{d.name} outlives its block", d.type) for d in shared]


def _noted(body: c.Stmt) -> set[str] | None:
    """The names that the note in front of a loop's body says are reduced into; None without a note."""
    first = body.body[0] if isinstance(body, c.Block) and body.body else body
    if not isinstance(first, c.Note) or first.kind not in ("parallel", "vector"):
        return None
    targets = [n.expr for n in first.stands_for if isinstance(n, c.ExprStmt)]
    return {
        t.value.array
        for t in targets
        if isinstance(t, c.Assign) and isinstance(t.target, c.ArrayRef) and isinstance(t.value, c.ArrayRef)
    }
