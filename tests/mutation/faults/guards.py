"""Faults of the condition around a region's text: sizes, memory that has to be apart, and the two branches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import polyc.codegen.render as render
import polyc.codegen.text.printer as printer
from polyc.codegen.text.macros import APART
from polyc.model import ctree as c
from polyc.model.scop import Region
from tests.mutation.install import Install, adding_to, always, patched
from tests.mutation.runner import Fault

FAULTS: list[Fault] = []
add = adding_to(FAULTS)

Pairs = Callable[[list[c.Expr]], list[c.Expr]]


def apart(change: Pairs) -> Install:
    """The conditions on memory changed."""
    return patched(render, "compared", lambda original: lambda scop: change(original(scop)))


def argument(place: int, change: Callable[[c.Expr], c.Expr]) -> Install:
    """An argument of each condition on memory changed."""

    def every(conditions: list[c.Expr]) -> list[c.Expr]:
        return [at(one) for one in conditions]

    def at(call: c.Expr) -> c.Expr:
        assert isinstance(call, c.Call)
        arguments = list(call.arguments)
        arguments[place] = change(arguments[place])
        return replace(call, arguments=tuple(arguments))

    return apart(every)


def less(end: c.Expr) -> c.Expr:
    return c.Binary("-", end, c.Literal("1"))


def more(start: c.Expr) -> c.Expr:
    return c.Binary("+", start, c.Literal("1"))


def with_itself(call: c.Expr) -> c.Expr:
    assert isinstance(call, c.Call)
    return replace(call, arguments=(*call.arguments[:2], *call.arguments[:2]))


def sizes(change: Callable[[c.Expr], c.Expr | None]) -> Install:
    """The condition on sizes changed, where there is one."""

    def make(original: Any) -> Any:
        def guard(program: Any) -> c.Expr | None:
            found = original(program)
            return None if found is None else change(found)

        return guard

    return patched(render, "guard_of", make)


def bounds_one_wider(condition: c.Expr) -> c.Expr:
    def change(node: c.Node) -> c.Node | None:
        match node:
            case c.Binary(op="<=" | "<", right=right):
                return replace(node, right=c.Binary("+", right, c.Literal("1")))
            case c.Binary(op=">=" | ">", left=left):
                return replace(node, left=c.Binary("+", left, c.Literal("1")))
        return None

    return c.rewrite(condition, change)


def other(operator: str, instead: str) -> Callable[[c.Expr], c.Expr]:
    def change(node: c.Node) -> c.Node | None:
        match node:
            case c.Binary(op=op, left=left, right=right) if op == operator:
                return c.Binary(instead, left, right)
        return None

    return lambda condition: c.rewrite(condition, change)


def first_part(condition: c.Expr) -> c.Expr:
    return condition.left if isinstance(condition, c.Binary) and condition.op in ("&&", "||") else condition


def conjoined(change: Callable[[list[c.Expr]], list[c.Expr]]) -> Install:
    """Other conditions than those that were found."""
    return patched(render, "conjunction", lambda original: lambda conditions: original(change(list(conditions))))


def printed(change: Callable[[str], str]) -> Install:
    """The text of the condition changed."""
    return patched(render, "broken", lambda original: lambda expr, column: change(original(expr, column)))


def or_binds_as_and(patch: Any) -> None:
    """The disjunction of sizes loses its parentheses."""
    patch.setitem(printer._BINARY, "||", printer._BINARY["&&"] + 1)
    patch.setattr(printer, "_MIXED", printer._MIXED - {("&&", "||"), ("||", "&&")})


def without_or_parentheses(text: str) -> str:
    head, opened, rest = text.partition("(")
    inside, closed, after = rest.partition(")")
    return f"{head}{inside}{after}" if opened and closed and not head and "||" in inside else text


def without_last_line(text: str) -> str:
    return text.rpartition("\n")[0] or text


def told(condition: c.Expr | None) -> Install:
    """The `if` of the file says something else than what is recorded for its check."""

    def make(original: Any) -> Any:
        def text(*arguments: Any) -> Any:
            found = original(*arguments)
            if found.condition is None:
                return found
            guard = printer.broken(found.condition, render._COLUMN)
            wrong = "1" if condition is None else printer.expression(condition)
            return replace(found, text=found.text.replace(f"if ({indented(found.text, guard)})", f"if ({wrong})", 1))

        return text

    return patched(render, "_region_text", make)


def indented(text: str, guard: str) -> str:
    """The condition as it stands in the text, whatever its lines are indented by."""
    head, *rest = guard.split("\n")
    lines = text.split("\n")
    for number, line in enumerate(lines):
        if line.endswith(f"if ({head}" + ("" if rest else ") {")):
            return "\n".join([head, *lines[number + 1 : number + 1 + len(rest)]]).removesuffix(") {")
    return guard


def otherwise(change: Callable[[str], str]) -> Install:
    """The other branch is another text than the user's."""

    def make(original: Any) -> Any:
        def text(program: Any, region: Region, *arguments: Any) -> Any:
            return original(program, replace(region, original=change(region.original)), *arguments)

        return text

    return patched(render, "_region_text", make)


def late(text: str) -> str:
    return text.replace("= 0;", "= 1;", 1)


def shorter(text: str) -> str:
    return text.replace(" < ", " < -1 + ", 1)


def without_last_statement(text: str) -> str:
    kept, semicolon, rest = text.rpartition(";")
    before = max(kept.rfind(mark) for mark in ";{})") + 1
    return f"{kept[:before]}{semicolon}{rest}"


def branches_swapped(original: Any) -> Any:
    """The loops run where the condition does not hold."""

    def text(expr: c.Expr, column: int) -> str:
        return f"!({original(expr, column)})"

    return text


for name_, what_, install_ in (
    ("no condition on memory", "", apart(lambda _conditions: [])),
    ("a pair dropped", "the first one", apart(lambda conditions: conditions[1:])),
    ("another pair dropped", "the last one", apart(lambda conditions: conditions[:-1])),
    ("the first piece an element short", "its end", argument(1, less)),
    ("the second piece an element short", "its end", argument(3, less)),
    ("the first piece begins late", "by an element", argument(0, more)),
    ("the second piece begins late", "by an element", argument(2, more)),
    ("pieces compared with themselves", "", apart(lambda conditions: [with_itself(one) for one in conditions])),
    ("either pair", "for both of them", conjoined(lambda conditions: _any_apart(conditions))),
    ("no condition on sizes", "", always(render, "guard_of", None)),
    ("sizes one wider", "each bound", sizes(bounds_one_wider)),
    ("sizes at least", "for at most", sizes(other("<=", ">="))),
    ("only one size", "the first", sizes(first_part)),
    ("a condition for none", "conjunction says nothing", conjoined(lambda _conditions: [])),
    ("conditions without the last", "in the conjunction", conjoined(lambda conditions: conditions[:-1])),
    ("|| binds as &&", "in all that is printed", or_binds_as_and),
    ("parentheses of || lost", "in the condition", printed(without_or_parentheses)),
    ("a line of the condition lost", "where it is too wide for one", printed(without_last_line)),
    ("the condition negated", "the branches swapped", patched(render, "broken", branches_swapped)),
    ("always", "the file's condition is 1", told(None)),
    ("the other branch begins late", "at 1", otherwise(late)),
    ("the other branch ends early", "an iteration less", otherwise(shorter)),
    ("the other branch loses a statement", "the last one", otherwise(without_last_statement)),
):
    add("guards", name_, what_, install_)


def _any_apart(conditions: list[c.Expr]) -> list[c.Expr]:
    """One condition that holds where some of those on memory do."""
    calls = [one for one in conditions if isinstance(one, c.Call) and one.function == APART]
    if len(calls) < 2:
        return conditions
    found = calls[0]
    either: c.Expr = found
    for one in calls[1:]:
        either = c.Binary("||", either, one)
    return [*(one for one in conditions if one not in calls), either]
