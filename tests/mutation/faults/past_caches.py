"""Faults of `nontemporal`: rows that have other elements than the loop stores, or that nobody waits for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polyc.codegen.blocks.stream_block as printing
from polyc.analysis.expressions.linear import Linear, linear
from polyc.model import ctree as c
from tests.mutation.install import adding_to, patched
from tests.mutation.runner import Fault

FAULTS: list[Fault] = []
add = adding_to(FAULTS)


def argument(place: int, change: Any) -> Any:
    """Calls with another argument."""

    def edit(node: c.Node) -> c.Node | None:
        if isinstance(node, c.Call) and node.function == printing.STREAM:
            return replace(node, arguments=tuple(change(a) if k == place else a for k, a in enumerate(node.arguments)))
        return None

    return patched(printing._Loop, "call", lambda o: lambda s, row, start, end: c.rewrite(o(s, row, start, end), edit))


def next_element(node: c.Expr) -> c.Expr:
    assert isinstance(node, c.Unary)
    assert isinstance(node.operand, c.ArrayRef)
    *places, last = node.operand.subscripts
    moved = linear(last).plus(Linear((), 1)).expr()
    return replace(node, operand=replace(node.operand, subscripts=(*places, moved)))


def longer(by: int) -> Any:
    def change(node: c.Expr) -> c.Expr:
        assert isinstance(node, c.Binary)
        return replace(node, left=linear(node.left).plus(Linear((), by)).expr())

    return change


def fewer(original: Any) -> Any:
    def at_most(start: c.Expr, end: c.Expr) -> int | None:
        found = original(start, end)
        return None if found is None else max(found - 16, 1)

    return at_most


add("nontemporal", "to the next element", "", argument(0, next_element))
add("nontemporal", "from the next element", "", argument(1, next_element))
add("nontemporal", "an element less", "", argument(2, longer(-1)))
add("nontemporal", "an element more", "", argument(2, longer(1)))
add("nontemporal", "rows too short", "", patched(printing, "at_most", fewer))
add("nontemporal", "no fences", "", patched(printing, "_fenced", lambda _o: lambda item: iter((item,))))
