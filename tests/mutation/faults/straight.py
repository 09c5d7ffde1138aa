"""Faults of straight-line code: its temporaries without isl's flow, and bodies that are scheduled as one statement."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import islpy as isl

import polyc.flow as flow
from polyc.flow import Flow
from polyc.model.tree import Domain
from polyc.passes.order.together import Together
from polyc.poly import empty_map, in_name, maps, out_name, union_of
from tests.mutation.install import Install, adding_to, patched
from tests.mutation.runner import Fault

FAULTS: list[Fault] = []
add = adding_to(FAULTS)


def order_where(kept: Callable[[isl.Map], bool]) -> Install:
    """Some dependences of what isl schedules are forgotten."""

    def make(original: Any) -> Any:
        def order(self: Together, dependences: isl.UnionMap) -> isl.UnionMap:
            found = original(self, dependences)
            return union_of(filter(kept, maps(found)), empty_map(found))

        return order

    return patched(Together, "order", make)


def inside(piece: isl.Map) -> bool:
    return in_name(piece) == out_name(piece)


def backwards(original: Any) -> Any:
    def expanded(self: Together, tree: Domain) -> Domain:
        found: Domain = original(replace(self, steps=tuple(reversed(self.steps))), tree)
        return found

    return expanded


def first_write(original: Any) -> Any:
    """Of several writes of a temporary the first one is taken for the last one."""

    def found(sinks: Any, must: Any, may: Any, order: Any) -> Flow | None:
        answer = original(sinks, must, may, order)
        if answer is None or must.n_map() < 2:
            return answer  # type: ignore[no-any-return]
        first = min(maps(must), key=lambda one: int(in_name(one)[1:]) if in_name(one)[1:].isdigit() else 0)
        only = original(sinks, isl.UnionMap.from_map(first), may, order)
        return only if only is not None else answer

    return found


def nothing_read(original: Any) -> Any:
    """Temporaries of a block seem to be read by nobody."""

    def found(*arguments: Any) -> Flow | None:
        answer = original(*arguments)
        return answer and replace(answer, dependence=empty_map(answer.dependence))

    return found


add("straight", "order between bodies forgotten", "isl sees them apart", order_where(inside))
add("straight", "order inside of bodies forgotten", "all loops parallel", order_where(lambda piece: not inside(piece)))
add("straight", "bodies backwards", "the last statement first", patched(Together, "expanded", backwards))
add("straight", "the first write is the last", "of a temporary", patched(flow, "_in_one_block", first_write))
add("straight", "temporaries that nobody reads", "no flow through them", patched(flow, "_in_one_block", nothing_read))
