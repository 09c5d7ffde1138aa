"""Faults of `feed`: scatters that run before what they read is made, or not as often as they should."""

from __future__ import annotations

from dataclasses import replace

import polyc.passes.scatter.feed as feed
from polyc.model.tree import Band, Node
from tests.mutation import edits as e
from tests.mutation.install import adding_to, patched
from tests.mutation.runner import Fault, after_pass

FAULTS: list[Fault] = []
add = adding_to(FAULTS)


def unmarked(node: Node) -> Node | None:
    """Loops in parallel that had copies, without them."""
    if not isinstance(node, Band) or not any(m.reductions for m in node.members):
        return None
    return replace(node, members=tuple(replace(m, reductions=()) for m in node.members))


for name_, what_, edit_ in (
    ("steps reversed", "counted before it is made", e.everywhere(e.reversed_steps)),
    ("inner steps reversed", "", e.nth(e.reversed_steps)),
    ("first step dropped", "", e.nth(e.first_step_dropped)),
    ("last step dropped", "", e.nth(e.last_step_dropped)),
    ("first step twice", "", e.nth(e.first_step_twice)),
    ("a row lost", "", e.nth(e.filter_loses_a_row)),
    ("no copies", "and still parallel", e.everywhere(unmarked)),
):
    add("feed", name_, what_, after_pass("feed", edit_))
add("feed", "dependences not looked at", "", patched(feed, "between", lambda _o: lambda r, _a, _b: r.subtract(r)))
