"""What the frontend does not read: pragmas, and how long variables live."""

from __future__ import annotations

import re

from polyc.codegen.instances import c_name
from polyc.codegen.loops import section
from polyc.codegen.printer import ATOMIC, UNROLL_ON_CPU
from polyc.model import ctree as c
from polyc.model.program import Program
from polyc.model.tree import Band, walk
from polyc.verify.fault import Fault

_CLAUSE = re.compile(r"reduction\((\S+): (\w+(?:\[:\d+\])*)\)")


def pragma_faults(program: Program, body: tuple[c.Stmt, ...]) -> list[Fault]:
    """Pragmas that say something else than the notes, which is what is read again."""
    arrays = program.scop.arrays
    members = [m for node in walk(program.tree.child) if isinstance(node, Band) for m in node.members]
    allowed = {(operator, section(arrays[array])) for m in members for operator, array in m.reductions}
    shared = {c_name(arrays[array]) for m in members for _, array in m.atomics}
    owned = {c_name(arrays[array]) for m in members for _, array in m.owned}
    found = [
        Fault("race", f"the owners of {loop.owned} are not what the check knows of their loop", "")
        for loop in (n for item in body for n in c.walk(item) if isinstance(n, c.For) and n.owned)
        if _noted(loop.body) != {loop.owned} or loop.owned not in owned or loop.pragmas
    ]
    for loop in (n for item in body for n in c.walk(item) if isinstance(n, c.For) and n.pragmas):
        if loop.pragmas[0].startswith(UNROLL_ON_CPU):
            continue  # changes no order
        said = {pair for pragma in loop.pragmas for pair in _CLAUSE.findall(pragma)}
        noted = _noted(loop.body)
        named = {name.partition("[")[0] for _, name in said}
        atomic = {name for name in shared if noted and name in noted - named and _is_atomic(name, loop.body)}
        if noted is None or noted != named | atomic or not said <= allowed:
            found.append(Fault("race", f"the pragma '{loop.pragmas[0]}' is not what the check knows of its loop", ""))
    return found


def storage_faults(body: tuple[c.Stmt, ...]) -> list[Fault]:
    """Declarations that are no locals of their block: the frontend reads them as if they were."""
    declared = [n for item in body for n in c.walk(item) if isinstance(n, c.Decl)]
    shared = [d for d in declared if {"static", "extern", "_Thread_local"} & set(d.type.split())]
    return [Fault("text", f"{d.name} outlives its block", d.type) for d in shared]


def _is_atomic(name: str, body: c.Stmt) -> bool:
    """Whether all uses of an array in a loop's body are atomic updates."""
    uses = [n for n in c.walk(body) if isinstance(n, c.ArrayRef) and n.array == name]
    updates = [n for n in c.walk(body) if isinstance(n, c.ExprStmt) and ATOMIC in n.pragmas]
    inside = {id(n) for item in updates for n in c.walk(item)}
    return bool(updates) and all(id(n) in inside for n in uses)


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
