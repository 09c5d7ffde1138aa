"""Faults of the front end: of calls that move memory, as loops."""

from __future__ import annotations

from typing import Any

import polyc.frontend.idioms.transfers as transfers
from polyc.model import ctree as c
from polyc.records import replace
from tests.mutation.install import adding_to, patched
from tests.mutation.runner import Fault

FAULTS: list[Fault] = []
add = adding_to(FAULTS)


def one_element_less(original: Any) -> Any:
    def factors(self: Any, length: c.Expr) -> Any:
        found = original(self, length)
        if found is None or not found[1]:
            return found
        first, *others = found[1]
        return found[0], [c.Binary("-", first, c.Literal("1")), *others]

    return factors


def from_the_start(original: Any) -> Any:
    """Offsets that are added to a pointer are lost."""

    def at(self: Any, piece: Any, index: c.Expr) -> Any:
        return piece if original(self, piece, index) is not None else None

    return at


def zero_anyway(original: Any) -> Any:
    def value(self: Any, expr: c.Expr, shape: Any) -> Any:
        return None if original(self, expr, shape) is None else c.Literal("0")

    return value


def first_row_only(original: Any) -> Any:
    """Elements of a row that is cut from a flat array are those of its first row."""

    def element(self: Any, counters: Any, sizes: Any) -> Any:
        found = original(self, counters, sizes)
        return replace(found, index=counters[-1]) if len(self.shape.dims) == 1 and sizes else found

    return element


add("transfers", "one element less", "", patched(transfers._Transfers, "factors", one_element_less))
add("transfers", "no offset", "", patched(transfers._Transfers, "at", from_the_start))
add("transfers", "0 for each value", "", patched(transfers._Transfers, "value", zero_anyway))
add("transfers", "the first row again", "", patched(transfers._Piece, "element", first_row_only))
