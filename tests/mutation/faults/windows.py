"""Faults of `windows`: rows that are overwritten too soon, or that no tile makes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import polyc.codegen.loops.instances as instances
import polyc.passes.buffers.windows as windows
from polyc.model.program import Buffer
from polyc.model.tree import Band, Node
from tests.mutation import edits as e
from tests.mutation.install import Install, adding_to, always, patched
from tests.mutation.runner import Fault, after_pass

FAULTS: list[Fault] = []
add = adding_to(FAULTS)


def rows(change: Callable[[int], int]) -> Install:
    """Another number of places than there are rows alive."""
    return patched(windows._Sliding, "rows", lambda o: lambda *arguments: change(o(*arguments)))


def new_only(**changed: Callable[[int], int]) -> Install:
    """What is new in a tile, with other numbers."""

    def make(original: Any) -> Any:
        def new(relation: Any, fresh: Any, depth: int, position: int, size: int, strip: int) -> Any:
            size_of, strip_of = changed.get("size", int), changed.get("strip", int)
            return original(relation, fresh, depth, position, size_of(size), strip_of(strip))

        return new

    return patched(windows, "_new_only", make)


def of_windows(change: Callable[[Buffer], Buffer | None]) -> Install:
    return after_pass("windows", e.buffer_edit(lambda b: None if b.window is None else change(b)))


def sliding_loop(change: Callable[[Band], Band]) -> Install:
    """Change the loop over the tiles of a strip."""

    def at(node: Node) -> Node | None:
        match node:
            case Band(members=(member,)) if not member.coincident and member.size:
                return change(node)
            case _:
                return None

    return after_pass("windows", e.everywhere(at))


def first(band: Band, **changed: Any) -> Band:
    return replace(band, members=(replace(band.members[0], **changed),))


add("windows", "a place less", "than rows are alive", rows(lambda n: max(1, n - 1)))
add("windows", "half of the places", "", rows(lambda n: max(1, n // 2)))
add("windows", "one place", "for all rows", rows(lambda _n: 1))
add("windows", "a place more", "", rows(lambda n: n + 1))
add("windows", "larger tiles before", "what is new is taken from two tiles before", new_only(size=lambda n: 2 * n))
add("windows", "smaller tiles before", "half a tile before made it all", new_only(size=lambda n: max(1, n // 2)))
add("windows", "strips of two", "the tile before may be in another strip", new_only(strip=lambda n: 2 * n))
add("windows", "nothing is new", "no tile makes what it adds", patched(windows, "_new_only", lambda o: _nothing(o)))
add("windows", "all is new", "each tile makes it again", patched(windows, "_new_only", lambda o: _everything(o)))
add("windows", "what others write", "is in a window too", always(windows._Sliding, "kept", True))
add("windows", "exact tiles", "no whole rows", patched(windows._Sliding, "boxed", lambda _o: lambda _s, r, _n: r))
add("windows", "another dimension", "", of_windows(lambda b: replace(b, window=1 - (b.window or 0))))
add("windows", "no window", "places stay as few", of_windows(lambda b: replace(b, window=None)))
add("windows", "corner one aside", "", of_windows(lambda b: e.corner_moved(b.window or 0, 1)(b)))
add("windows", "other corner one aside", "", of_windows(lambda b: e.corner_moved(1 - (b.window or 0), 1)(b)))
add("windows", "fewer columns", "", of_windows(lambda b: e.extent_changed(1 - (b.window or 0), -1)(b)))
add("windows", "tiles backwards", "", sliding_loop(lambda b: first(b, schedule=b.members[0].schedule.neg())))
add("windows", "tiles coincident", "", sliding_loop(lambda b: first(b, coincident=True)))
add("windows", "declared in each tile", "", after_pass("windows", e.everywhere(e.allocation_below_the_next_band)))
add("windows", "declared around the strips", "", after_pass("windows", e.everywhere(e.allocation_above_the_band)))
add("windows", "declared in each step", "", after_pass("windows", e.everywhere(e.allocation_into_each_step)))
add("windows", "an access lost", "", after_pass("windows", e.buffer_edit(e.access_lost(0))))
add("windows", "steps reversed", "", after_pass("windows", e.everywhere(e.reversed_steps)))
add("windows", "not around", "subscripts without remainders", patched(instances, "_around", lambda _o: lambda _b, s: s))
add("windows", "around too late", "", patched(instances, "_around", lambda o: lambda b, s: o(_longer(b), s)))


def _nothing(original: Any) -> Any:
    return lambda r, fresh, *rest: original(r, fresh, *rest).subtract(
        windows.reaching(original(r, fresh, *rest), fresh)
    )


def _everything(original: Any) -> Any:
    return lambda r, _fresh, *rest: original(r, frozenset(), *rest)


def _longer(buffer: Buffer | None) -> Buffer | None:
    if buffer is None or buffer.window is None:
        return buffer
    return e.extent_changed(buffer.window, 1)(buffer)
