"""Faults of `share`: buffers in one place that are in use at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import polyc.passes.buffers.share as sharing
from polyc.cost.storage import Life, Place
from tests.mutation.install import Install, adding_to, patched
from tests.mutation.runner import Fault

FAULTS: list[Fault] = []
add = adding_to(FAULTS)


def lives(change: Callable[[Life], Life]) -> Install:
    """Places for buffers that are thought to be in use at other times."""

    def make(original: Any) -> Any:
        def places_for(found: Iterable[Life]) -> list[Place]:
            return original([change(life) for life in found])  # type: ignore[no-any-return]

        return places_for

    return patched(sharing, "places_for", make)


def of_the_last(original: Any) -> Any:
    """A place has the size of its last buffer, the least of a chain of stencils."""

    def places_for(found: Iterable[Life]) -> list[Place]:
        return [replace(place, extents=place.lives[-1].extents) for place in original(found)]

    return places_for


add("share", "done a step early", "what reads last is forgotten", lives(lambda one: replace(one, last=one.last - 1)))
add("share", "done when made", "only the first step counts", lives(lambda one: replace(one, last=one.first)))
add("share", "begun a step late", "what writes is forgotten", lives(lambda one: replace(one, first=one.first + 1)))
add("share", "never in use", "one place for all", lives(lambda one: replace(one, first=0, last=-1)))
add("share", "types mixed up", "all are stored alike", lives(lambda one: replace(one, kind=())))
add("share", "size of the last", "not the largest", patched(sharing, "places_for", of_the_last))
