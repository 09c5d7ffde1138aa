"""Faults of the front end: of pointers that a condition chooses, of structs of pointers, and of designators."""

from __future__ import annotations

from typing import Any

import polyc.frontend.c.expressions as expressions
import polyc.frontend.idioms.exchange as exchange
from polyc.model import ctree as c
from polyc.records import replace
from tests.mutation.install import adding_to, patched
from tests.mutation.runner import Fault

FAULTS: list[Fault] = []
add = adding_to(FAULTS)


def never_turned(original: Any) -> Any:
    """`t % 2 != 0` is taken for `t % 2 == 0`."""
    return lambda one, other: None if original(one, other) is None else False


def other_branch(original: Any) -> Any:
    return lambda item, turned: original(item, not turned)


def one_branch(original: Any) -> Any:
    """Both branches have the values of the first one."""
    return lambda item, turned: (original(item, turned)[0],) * 2


def first_part(original: Any) -> Any:
    """Each designator stands for the part before its own."""
    return lambda self, links, parts: max(original(self, links, parts) - 1, 0)


def ones(original: Any) -> Any:
    """What an initialiser leaves out is one."""

    def zero(self: Any, shape: Any, span: Any) -> c.Expr:
        return c.rewrite(original(self, shape, span), lambda n: replace(n, text="1") if n == c.Literal("0") else None)

    return zero


add("buffers", "the opposite condition is the same", "", patched(exchange, "_is_turned", never_turned))
add("buffers", "the other branch", "", patched(exchange, "_ways", other_branch))
add("buffers", "one branch for both", "", patched(exchange, "_ways", one_branch))
add("buffers", "a designator stands for the part before", "", patched(expressions.Expressions, "place_of", first_part))
add("buffers", "what is left out is one", "", patched(expressions.Expressions, "zero", ones))
