"""Faults of `interchange` and `regroup`: other orders of loops, and outer loops that nests share."""

from __future__ import annotations

from typing import Any

import polyc.passes.fusion.regroup as regroup
from tests.mutation import edits as e
from tests.mutation.install import adding_to, patched
from tests.mutation.runner import Fault, after_pass

FAULTS: list[Fault] = []
add = adding_to(FAULTS)


def nothing_between(original: Any) -> Any:
    def between(every: Any, one: Any, two: Any) -> Any:
        return every.subtract(every)

    return between


for name_, edit_ in (
    ("loops interchanged", e.everywhere(e.band_edit(e.swapped_members))),
    ("inner loop backwards", e.nth(e.band_edit(e.reversed_last))),
    ("outer loops backwards", e.everywhere(e.band_edit(e.reversed_first))),
    ("all loops coincident", e.everywhere(e.band_edit(e.all_coincident))),
):
    add("interchange", name_, "", after_pass("interchange", edit_))

add("regroup", "whatever depends", "what another line makes too", patched(regroup, "between", nothing_between))
for name_, edit_ in (
    ("steps reversed", e.everywhere(e.reversed_steps)),
    ("first step twice", e.nth(e.first_step_twice)),
    ("outer loops backwards", e.everywhere(e.band_edit(e.reversed_first))),
    ("all loops coincident", e.everywhere(e.band_edit(e.all_coincident))),
):
    add("regroup", name_, "", after_pass("regroup", edit_))
