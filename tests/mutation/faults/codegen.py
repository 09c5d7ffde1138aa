"""Faults of the printer: what the check of the text has to find."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import islpy as isl

import polyc.codegen.loops.first_values as first_values
import polyc.codegen.loops.instances as instances
import polyc.codegen.loops.loops as loops
import polyc.codegen.render as render
import polyc.codegen.text.counters as counters
import polyc.codegen.text.downward as downward
import polyc.codegen.text.printer as printer
from polyc.codegen.loops.exprs import ExprPrinter
from polyc.codegen.loops.to_isl import Annotated
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
    def pragmas(self: Any, member: Member | None, *_: Any) -> tuple[str, ...]:
        del self
        return () if member is None else ("omp parallel for",)

    return pragmas


def one_loop_more(original: Any) -> Any:
    """The loop inside of those that share threads shares them as well."""

    def collapsed(body: c.Stmt, counter: str) -> tuple[c.Stmt, int]:
        found, count = original(body, counter)
        return found, count + 1

    return collapsed


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


def other_branch(original: Any) -> Any:
    def truth(self: Any, condition: c.Expr) -> bool | None:
        held = original(self, condition)
        return None if held is None else not held

    return truth


def decided_everywhere(original: Any) -> Any:
    def truth(self: Any, condition: c.Expr) -> bool | None:
        held = original(self, condition)
        names = {node.name for node in c.walk(condition) if isinstance(node, c.Name)}
        return True if held is None and names & self.loops.keys() else held

    return truth


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
    ("one loop more shares threads", "pragmas", patched(loops, "collapsed", one_loop_more)),
    ("reduction clause not printed", "pragmas", patched(loops.LoopPrinter, "reductions", clause_not_printed)),
    (
        "buffers static",
        "shared by the threads",
        patched(loops.LoopPrinter, "declare", declared(lambda d: replace(d, type=f"static {d.type}"))),
    ),
    ("buffers short", "two elements", patched(loops.LoopPrinter, "declare", declared(short))),
    ("loop variables mixed up", "in statements", patched(loops.InstancePrinter, "_loops", loops_renamed)),
    ("other branch", "where a choice is decided", patched(loops.InstancePrinter, "_truth", other_branch)),
    ("choices decided", "where they are not", patched(loops.InstancePrinter, "_truth", decided_everywhere)),
    ("no parentheses", "in expressions", patched(printer, "_at_least", lambda _o: lambda x, _l: printer._expr(x)[0])),
    ("braces lost", "around several statements", patched(printer, "_needs_no_braces", braces_lost)),
]
for name_, what_, install_ in CODEGEN:
    add("codegen", name_, what_, install_)

# --- types of loops' variables


def never_widened(_original: Any) -> Any:
    def checked(_then: c.Expr, now: c.Expr, parts: list[Any], _place: Any) -> Any:
        return counters.Narrowed(now, max(part.bits for part in parts), max(part.before for part in parts))

    return checked


def all_in_int(_original: Any) -> Any:
    return lambda loop, _place: loop.counts == "int"


def casts_dropped(original: Any) -> Any:
    def same(node: c.Node, place: Any) -> c.Node:
        def change(part: c.Node) -> c.Node | None:
            return c.rewrite(part.operand, change) if isinstance(part, c.Cast) else None

        return c.rewrite(original(node, place), change)  # type: ignore[no-any-return]

    return same


COUNTERS: list[tuple[str, str, Install]] = [
    ("every counter an int", "whatever it counts", patched(counters, "_in_int", all_in_int)),
    ("sums in 32 bits", "whether they fit or not", patched(counters, "_checked", never_widened)),
    ("casts not printed", "that widen", patched(counters, "widened", lambda _o: lambda expr: expr)),
    ("casts dropped", "of the user's", patched(counters, "_same", casts_dropped)),
]


def value_of_the_last(_original: Any) -> Any:
    """Declared where the variable gets its last value of the block."""

    def joined(items: tuple[c.Stmt, ...]) -> tuple[c.Stmt, ...]:
        found = list(items)
        for item in items:
            if isinstance(item, c.Decl) and first_values._is_variable(item):
                places = [k for k, other in enumerate(found) if first_values._assigned(other, item.name) is not None]
                if places:
                    value = first_values._assigned(found[places[-1]], item.name)
                    found[places[-1]] = replace(item, init=value)
                    found.remove(item)
        return tuple(found)

    return joined


def value_lost(original: Any) -> Any:
    def joined(items: tuple[c.Stmt, ...]) -> tuple[c.Stmt, ...]:
        return tuple(replace(item, init=None) if isinstance(item, c.Decl) else item for item in original(items))

    return joined


VALUES: list[tuple[str, str, Install]] = [
    ("the last value", "of a block", patched(first_values, "_joined", value_of_the_last)),
    ("no value", "in declarations", patched(first_values, "_joined", value_lost)),
]


def not_negated(original: Any) -> Any:
    """A variable that counts down in a body that still has its negative, but for the first place."""

    def negated(body: c.Stmt, name: str) -> c.Stmt | None:
        found = original(body, name)
        done = False

        def back(node: c.Node) -> c.Node | None:
            nonlocal done
            if done or not isinstance(node, c.Name) or node.name != name:
                return None
            done = True
            return c.Binary("+", node, c.Literal("1"))

        return None if found is None else c.rewrite(found, back)

    return negated


def one_too_far(original: Any) -> Any:
    def negative(bound: c.Expr) -> c.Expr | None:
        found = original(bound)
        return None if found is None else c.Binary("-", found, c.Literal("1"))

    return negative


DOWNWARD: list[tuple[str, str, Install]] = [
    ("another place", "in the body of a loop that counts down", patched(downward, "_negated", not_negated)),
    ("other ends", "of a loop that counts down", patched(downward, "negative", one_too_far)),
]
for name_, what_, install_ in DOWNWARD:
    add("downward", name_, what_, install_, "swept")
for name_, what_, install_ in VALUES:
    add("values", name_, what_, install_, "private", "chain", "twice_set")
for name_, what_, install_ in COUNTERS:
    add("counters", name_, what_, install_, "widths")
