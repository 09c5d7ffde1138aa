"""Faults of `orders`: nests whose loops run in another order, some of them backwards."""

from __future__ import annotations

import polyc.passes.order.orders as orders
from tests.mutation import edits as e
from tests.mutation.install import adding_to, always
from tests.mutation.runner import Fault, after_pass

FAULTS: list[Fault] = []
add = adding_to(FAULTS)

add("orders", "any order", "whatever depends", always(orders, "_respects", True))
for name_, edit_ in (
    ("inner loop backwards", e.nth(e.band_edit(e.reversed_last))),
    ("second band backwards", e.nth(e.band_edit(e.reversed_last), 1)),
    ("outer loops backwards", e.everywhere(e.band_edit(e.reversed_first))),
    ("loops interchanged", e.everywhere(e.band_edit(e.swapped_members))),
    ("inner loop lost", e.everywhere(e.band_edit(e.lost_last))),
    ("all loops coincident", e.everywhere(e.band_edit(e.all_coincident))),
    ("steps reversed", e.everywhere(e.reversed_steps)),
    ("first step twice", e.nth(e.first_step_twice)),
    ("a row lost", e.nth(e.filter_loses_a_row)),
):
    add("orders", name_, "", after_pass("orders", edit_))
