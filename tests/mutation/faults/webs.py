"""Faults of live ranges: values that somebody reads take another variable."""

from __future__ import annotations

from typing import Any

import polyc.frontend.c.first_use as first_use
import polyc.frontend.idioms.webs as webs
from polyc.frontend.c.first_use import Use
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


add("webs", "nothing is read behind", "", patched(webs.Webs, "_live_behind", all_dead))
add("webs", "a branch kills", "", patched(first_use, "joined", one_branch_kills))
add("webs", "uses keep the old name", "", patched(webs.Webs, "_renamed", old_names))
