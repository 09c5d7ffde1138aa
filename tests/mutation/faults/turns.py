"""Faults of the front end: of loops in steps of a size, and of what is computed of sizes."""

from __future__ import annotations

from typing import Any

import polyc.frontend.idioms.turns as turns
import polyc.frontend.sets.affine as affine
from polyc.model import ctree as c
from polyc.records import replace
from tests.mutation.install import adding_to, patched
from tests.mutation.runner import Fault

FAULTS: list[Fault] = []
add = adding_to(FAULTS)


def one_turn_less(original: Any) -> Any:
    def counted(self: Any, node: c.For) -> Any:
        found = original(self, node)
        if found is None:
            return None
        asked, loop = found
        return asked, replace(loop, condition=replace(loop.condition, op="<"))

    return counted


def as_long_as_it_is(original: Any) -> Any:
    """Rounded down, and one turn more: right but where the step divides the length."""

    def counted(self: Any, node: c.For) -> Any:
        found = original(self, node)
        if found is None:
            return None
        asked, loop = found
        match loop.condition.right:
            case c.Binary(op="/", left=c.Binary(op="-", left=length), right=step):
                return asked, replace(loop, condition=replace(loop.condition, right=c.Binary("/", length, step)))
        return found

    return counted


def another_operator(original: Any) -> Any:
    """A remainder is the quotient."""

    def invariant(self: Any, expr: c.Expr, op: str, left: c.Expr, right: c.Expr, env: Any) -> Any:
        return original(self, replace(expr, op="/") if op == "%" else expr, op, left, right, env)

    return invariant


add("turns", "one turn less", "", patched(turns._Turns, "counted", one_turn_less))
add("turns", "one turn more", "", patched(turns._Turns, "counted", as_long_as_it_is))
add("turns", "a remainder is a quotient", "", patched(affine.Affine, "invariant", another_operator))
