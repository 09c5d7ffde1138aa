"""Faults of the printer: what the check of the text has to find."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import islpy as isl

import polyc.codegen.instances as instances
import polyc.codegen.loops as loops
import polyc.codegen.printer as printer
import polyc.codegen.render as render
from polyc.codegen.exprs import ExprPrinter
from polyc.codegen.to_isl import Annotated
from polyc.model import ctree as c
from polyc.model.tree import Domain, Member, Node, Role, rewrite
from tests.mutation import edits as e
from tests.mutation.install import Install, adding_to, always, patched
from tests.mutation.runner import Fault

FAULTS: list[Fault] = []
add = adding_to(FAULTS)

# --- codegen ---------------------------------------------------------------------------------------------------------


def printed_tree(change: Callable[[Domain], Domain]) -> Install:
    """The tree that isl gets is not the one that was checked."""

    def make(original: Any) -> Any:
        def wrong(tree: Domain) -> Annotated:
            return original(change(tree))  # type: ignore[no-any-return]

        return wrong

    return patched(loops, "to_isl", make)


def node_edit(change: e.Change, position: int | None = 0) -> Callable[[Domain], Domain]:
    def edit(tree: Domain) -> Domain:
        seen = 0

        def visit(node: Node) -> Node:
            nonlocal seen
            changed = change(node)
            if changed is None:
                return node
            seen += 1
            return changed if position is None or seen == position + 1 else node

        return Domain(tree.domain, rewrite(tree.child, visit))

    return edit


def shift_wrong(original: Any) -> Any:
    def shift(buffer: Any) -> isl.Map:
        changed = e.corner_moved(len(buffer.extents) - 1, 1)(buffer)
        return original(changed or buffer)  # type: ignore[no-any-return]

    return shift


def division_truncates(original: Any) -> Any:
    def operation(self: Any, op: str, values: list[Any]) -> Any:
        return original(self, "div" if op == "fdiv_q" else op, values)

    return operation


def minimum_as_maximum(original: Any) -> Any:
    def operation(self: Any, op: str, values: list[Any]) -> Any:
        return original(self, {"min": "max", "max": "min"}.get(op, op), values)

    return operation


def subscripts_reversed(original: Any) -> Any:
    return lambda buffer, subscripts: tuple(reversed(original(buffer, subscripts)))


def first_branch_only(_original: Any) -> Any:
    def branch(self: Any, node: isl.AstNode, scope: Any) -> c.Stmt:
        return loops.block_of(self.statements(node.if_get_then_node(), scope))

    return branch


def else_lost(_original: Any) -> Any:
    def branch(self: Any, node: isl.AstNode, scope: Any) -> c.Stmt:
        condition = self.printer(scope).convert(node.if_get_cond())
        return c.If(condition, loops.block_of(self.statements(node.if_get_then_node(), scope)))

    return branch


def step_lost(original: Any) -> Any:
    def loop(self: Any, node: isl.AstNode, scope: Any) -> c.Stmt:
        found = original(self, node, scope)
        if isinstance(found, c.For) and isinstance(found.step, c.Assign):
            assert isinstance(found.init, c.Decl)
            return replace(found, step=c.Postfix("++", c.Name(found.init.name)))
        return found  # type: ignore[no-any-return]

    return loop


def pragma_everywhere(_original: Any) -> Any:
    def pragmas(self: Any, member: Member | None, condition: c.Expr, body: c.Stmt) -> tuple[str, ...]:
        del self, condition, body
        return () if member is None else ("omp parallel for",)

    return pragmas


def clause_not_printed(_original: Any) -> Any:
    return lambda _self, _member: ""


def declared(change: Callable[[c.Decl], c.Decl]) -> Callable[[Any], Any]:
    def make(original: Any) -> Any:
        def declare(self: Any, buffer: Any) -> c.Decl:
            return change(original(self, buffer))

        return declare

    return make


def short(found: c.Decl) -> c.Decl:
    if not found.extents or not isinstance(found.extents[0], c.Literal):
        return found
    return replace(found, extents=(c.Literal("2"), *found.extents[1:]))


def loops_renamed(original: Any) -> Any:
    """A loop variable is printed as its neighbour."""

    def found(self: Any) -> dict[str, c.Expr]:
        known = original(self)
        return dict(zip(known, reversed(list(known.values())), strict=True))

    return found


def iterator_one_late(original: Any) -> Any:
    def loop(self: Any, node: isl.AstNode, scope: Any) -> c.Stmt:
        found = original(self, node, scope)
        if isinstance(found, c.For) and isinstance(found.init, c.Decl) and found.init.init is not None:
            late = replace(found.init, init=c.Binary("+", found.init.init, c.Literal("1")))
            return replace(found, init=late)
        return found  # type: ignore[no-any-return]

    return loop


def no_parentheses(original: Any) -> Any:
    return lambda expr, _level: original(expr)[0]


def braces_lost(_original: Any) -> Any:
    return lambda _node: True


CODEGEN: list[tuple[str, str, Install]] = [
    ("filter loses a row", "instances with 5 in front", printed_tree(node_edit(e.filter_loses_a_row))),
    ("steps reversed", "the innermost sequence", printed_tree(node_edit(e.reversed_steps))),
    ("all steps reversed", "every sequence", printed_tree(node_edit(e.reversed_steps, None))),
    ("first step dropped", "of a sequence", printed_tree(node_edit(e.first_step_dropped))),
    ("inner loop backwards", "the innermost band", printed_tree(node_edit(e.band_edit(e.reversed_last)))),
    ("loops interchanged", "in every band", printed_tree(node_edit(e.band_edit(e.swapped_members), None))),
    ("extension shrunk", "without its last row", printed_tree(node_edit(e.extension_edit(e.range_shrunk(0, True))))),
    ("extension shifted", "by one", printed_tree(node_edit(e.extension_edit(e.range_shift(0, 1))))),
    ("tile corner moved", "by one", printed_tree(node_edit(e.band_edit(e.tile_corner_moved, Role.TILE)))),
    ("guard not printed", "of the region", always(render, "guard_of", None)),
    ("buffer's subscripts shifted", "by one", patched(instances, "shift", shift_wrong)),
    ("buffers not used", "the array instead", always(loops.InstancePrinter, "_buffer", None)),
    ("division truncates", "instead of rounding down", patched(ExprPrinter, "_operation", division_truncates)),
    ("min as max", "and max as min", patched(ExprPrinter, "_operation", minimum_as_maximum)),
    ("upper bounds one short", "< for <=", patched(ExprPrinter, "exclusive", lambda _o: ExprPrinter.convert)),
    ("subscripts reversed", "of every access", patched(instances, "_around", subscripts_reversed)),
    ("conditions dropped", "of branches", patched(loops.LoopPrinter, "branch", first_branch_only)),
    ("else dropped", "of branches", patched(loops.LoopPrinter, "branch", else_lost)),
    ("steps of one", "in tile loops", patched(loops.LoopPrinter, "loop", step_lost)),
    ("loops start late", "by one", patched(loops.LoopPrinter, "loop", iterator_one_late)),
    ("every loop parallel", "pragmas", patched(loops.LoopPrinter, "pragmas", pragma_everywhere)),
    ("reduction clause not printed", "pragmas", patched(loops.LoopPrinter, "reductions", clause_not_printed)),
    (
        "buffers static",
        "shared by the threads",
        patched(loops.LoopPrinter, "declare", declared(lambda d: replace(d, type=f"static {d.type}"))),
    ),
    ("buffers short", "two elements", patched(loops.LoopPrinter, "declare", declared(short))),
    ("loop variables mixed up", "in statements", patched(loops.InstancePrinter, "_loops", loops_renamed)),
    ("no parentheses", "in expressions", patched(printer, "_at_least", lambda _o: lambda x, _l: printer._expr(x)[0])),
    ("braces lost", "around several statements", patched(printer, "_needs_no_braces", braces_lost)),
]
for name_, what_, install_ in CODEGEN:
    add("codegen", name_, what_, install_)
