"""Faults of what is printed for instances outside of a statement's domain: conditions, and the zeros of copies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from polyc.codegen.loops.instances import InstancePrinter, block_of
from polyc.model import ctree as c
from tests.mutation.install import Install, adding_to, patched
from tests.mutation.runner import Fault

FAULTS: list[Fault] = []
add = adding_to(FAULTS)


def conditions(change: Callable[[c.Expr], c.Expr | None]) -> Install:
    """Another condition, where there is one."""

    def make(original: Any) -> Any:
        def condition(self: InstancePrinter) -> c.Expr | None:
            found = original(self)
            return None if found is None else change(found)

        return condition

    return patched(InstancePrinter, "_condition", make)


def bodies(change: Callable[[InstancePrinter, c.Stmt, c.Stmt], c.Stmt]) -> Install:
    """Another statement than the one that is padded. change: the printer, the statement without and with it"""

    def make(original: Any) -> Any:
        def inside_domain(self: InstancePrinter, body: c.Stmt) -> c.Stmt:
            found = original(self, body)
            return body if found is body else change(self, body, found)

        return inside_domain

    return patched(InstancePrinter, "inside_domain", make)


def one_short(condition: c.Expr) -> c.Expr:
    def change(node: c.Node) -> c.Node | None:
        match node:
            case c.Binary(op="<" | "<=", left=left):
                return replace(node, left=c.Binary("+", left, c.Literal("1")))
        return None

    return c.rewrite(condition, change)


def one_wide(condition: c.Expr) -> c.Expr:
    def change(node: c.Node) -> c.Node | None:
        match node:
            case c.Binary(op="<" | "<=", right=right):
                return replace(node, right=c.Binary("+", right, c.Literal("1")))
        return None

    return c.rewrite(condition, change)


def part(which: int) -> Callable[[c.Expr], c.Expr]:
    """Only one side of each conjunction."""

    def change(node: c.Node) -> c.Node | None:
        match node:
            case c.Binary(op="&&", left=left, right=right):
                return (left, right)[which]
        return None

    return lambda condition: c.rewrite(condition, change)


def swapped(operator: str, instead: str) -> Callable[[c.Expr], c.Expr]:
    def change(node: c.Node) -> c.Node | None:
        return c.Binary(instead, node.left, node.right) if isinstance(node, c.Binary) and node.op == operator else None

    return lambda condition: c.rewrite(condition, change)


def other_value(change: Callable[[c.Ternary], c.Expr]) -> Install:
    """Copies that store another value."""

    def stored(_self: InstancePrinter, _body: c.Stmt, found: c.Stmt) -> c.Stmt:
        match found:
            case c.ExprStmt(expr=c.Assign(value=c.Ternary() as value) as assignment):
                return replace(found, expr=replace(assignment, value=change(value)))
        return found

    return bodies(stored)


def next_element(value: c.Ternary) -> c.Expr:
    def change(node: c.Node) -> c.Node | None:
        if isinstance(node, c.ArrayRef) and node.subscripts:
            *rest, last = node.subscripts
            return replace(node, subscripts=(*rest, c.Binary("+", last, c.Literal("1"))))
        return None

    return replace(value, then=c.rewrite(value.then, change))


def not_copied(self: InstancePrinter, body: c.Stmt, found: c.Stmt) -> c.Stmt:
    """A copy runs inside of its domain only: there is no zero outside."""
    inside = self._condition()
    return found if isinstance(found, c.If) or inside is None else c.If(inside, block_of((body,)))


def with_else(_self: InstancePrinter, body: c.Stmt, found: c.Stmt) -> c.Stmt:
    return replace(found, otherwise=body) if isinstance(found, c.If) else found


for name_, what_, install_ in (
    ("no conditions", "whatever is outside", conditions(lambda _found: None)),
    ("an instance short", "each upper bound", conditions(one_short)),
    ("an instance wide", "each upper bound", conditions(one_wide)),
    ("the last bound lost", "of a conjunction", conditions(part(0))),
    ("the first bounds lost", "of a conjunction", conditions(part(1))),
    ("either bound", "|| for &&", conditions(swapped("&&", "||"))),
    ("both pieces", "&& for ||", conditions(swapped("||", "&&"))),
    ("equal as less", "> for >=", conditions(swapped(">=", ">"))),
    ("the values outside", "zeros inside", other_value(lambda v: replace(v, then=v.otherwise, otherwise=v.then))),
    ("ones outside", "for zeros", other_value(lambda v: replace(v, otherwise=c.Literal("1")))),
    ("zeros everywhere", "", other_value(lambda v: v.otherwise)),
    ("the next element", "of each row", other_value(next_element)),
    ("nothing outside", "no zeros", bodies(not_copied)),
    ("outside as well", "in another branch", bodies(with_else)),
):
    add("padding", name_, what_, install_)
