"""Faults of the front end: of live ranges, whose values take another variable, and of elements put in order."""

from __future__ import annotations

from typing import Any

import polyc.frontend.c.first_use as first_use
import polyc.frontend.idioms.webs as webs
import polyc.frontend.sets.opaque as opaque
import polyc.frontend.statements.extract as extract
from polyc.frontend.c.first_use import Use
from polyc.model import ctree as c
from polyc.records import replace
from tests.mutation.install import adding_to, patched
from tests.mutation.runner import Fault

FAULTS: list[Fault] = []
add = adding_to(FAULTS)


def all_dead(_original: Any) -> Any:
    return lambda _self, items, _live: [False for _ in items]


def one_branch_kills(original: Any) -> Any:
    """What one branch writes counts as what each path writes."""
    return lambda uses: Use.KILL if Use.KILL in uses else original(uses)


def old_names(original: Any) -> Any:
    """Nothing gets the name of its web but the first statement of it."""
    return lambda self, node, own: node if own and self.fresh else original(self, node, own)


def new_value_compared(original: Any) -> Any:
    """The second element is compared with what is in the place of the first one by now."""

    def exchange(node: c.If, region: Any) -> c.Block | None:
        found = original(node, region)
        if found is None:
            return None
        *first, last = found.body
        value = replace(last.expr.value, condition=node.condition)
        return replace(found, body=(*first, replace(last, expr=replace(last.expr, value=value))))

    return exchange


def turned_around(original: Any) -> Any:
    """The elements get the other order."""

    def exchange(node: c.If, region: Any) -> c.Block | None:
        match node.then:
            case c.Block(body=(_, c.ExprStmt(expr=c.Assign(target=first, value=second)), _)):
                return original(replace(node, condition=replace(node.condition, left=first, right=second)), region)
        return None

    return exchange


def one_way(original: Any) -> Any:
    """What one branch stores counts as stored on each way."""

    def stored(node: c.Stmt, raws: Any) -> Any:
        match node:
            case c.If(then=then, otherwise=otherwise) if otherwise is not None:
                return {**original(then, raws), **original(otherwise, raws)}
        return original(node, raws)

    return stored


add("webs", "nothing is read behind", "", patched(webs.Webs, "_live_behind", all_dead))
add("webs", "a branch kills", "", patched(first_use, "joined", one_branch_kills))
add("webs", "uses keep the old name", "", patched(webs.Webs, "_renamed", old_names))
add("choice", "compared with the new value", "", patched(extract, "as_exchange", new_value_compared))
add("choice", "turned around", "", patched(extract, "as_exchange", turned_around))
add("choice", "one way is enough", "", patched(opaque, "_stored", one_way))
