"""Faults of `interleave`, which runs several rows at once, and of copies of nests in the tiles of several readers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import polyc.passes.fusion.fuser as clusters
import polyc.passes.loops.interleave as interleave
from polyc.model.program import Program
from polyc.model.tree import Band, Domain, Node
from tests.mutation import edits as e
from tests.mutation.install import Install, adding_to, always, patched, together
from tests.mutation.runner import Edit, Fault, after_pass

FAULTS: list[Fault] = []
add = adding_to(FAULTS)


def interleaved(edit: Edit) -> Install:
    return after_pass("interleave", edit)


def bands(change: Callable[[Band], Band | None]) -> Install:
    return interleaved(e.everywhere(e.band_edit(change)))


# --- interleave ------------------------------------------------------------------------------------------------------

add("interleave", "loops interchanged", "", bands(e.swapped_members))
add("interleave", "last loops backwards", "", bands(e.reversed_last))
add("interleave", "first loops backwards", "", bands(e.reversed_first))
add("interleave", "loops coincident", "all of each band", bands(e.all_coincident))
add("interleave", "a loop lost", "", bands(e.lost_last))
add("interleave", "even iterations first", "", bands(e.strip_of_all_at_once))
add("interleave", "strips of one more", "", interleaved(e.nth(e.band_edit(e.tile_of_another_size))))
add("interleave", "strips moved", "", interleaved(e.nth(e.band_edit(e.tile_corner_moved))))
add("interleave", "no strips", "", interleaved(e.nth(e.band_edit(e.tile_loop_dropped))))
add("interleave", "steps reversed", "", interleaved(e.everywhere(e.reversed_steps)))
add("interleave", "first steps dropped", "", interleaved(e.everywhere(e.first_step_dropped)))
add("interleave", "a row lost", "in last steps", interleaved(e.everywhere(e.filter_loses_a_row)))
add("interleave", "rows that depend", "on each other run at once", lambda patch: _any_rows(patch))
add("interleave", "private scalars", "of all rows at once", always(interleave, "_keeps_privately", False))
add(
    "interleave",
    "rows ahead of the one before",
    "",
    together(patched(interleave, "BEHIND", lambda _original: (-1,)), always(interleave._Stagger, "is_in_order", True)),
)


def _any_rows(patch: Any) -> None:
    """The outermost loop of each band is one over independent rows, whatever it carries."""
    original = interleave.rows_of

    def rows_of(program: Program, band: Band) -> Any:
        free = replace(band, members=tuple(replace(m, coincident=True) for m in band.members))
        return original(program, free)

    patch.setattr(interleave, "rows_of", rows_of)


# --- copies ----------------------------------------------------------------------------------------------------------


def copies(edit: Edit) -> Install:
    return after_pass("basteln", edit)


def second(change: e.Change) -> Edit:
    """A change of the second reader's copy alone."""
    return e.nth(change, 1)


add("copies", "the second tile has none", "", copies(second(e.extension_dropped)))
add("copies", "a copy is late by a row", "", copies(second(e.extension_edit(e.range_shift(0, 1)))))
add("copies", "a copy is aside", "", copies(second(e.extension_edit(e.range_shift(1, 1)))))
add("copies", "a copy lacks a row", "", copies(second(e.extension_edit(e.range_shrunk(0, True)))))
add("copies", "a copy lacks a column", "", copies(second(e.extension_edit(e.range_shrunk(1, True)))))
add("copies", "a copy is another tile's", "", copies(second(e.extension_edit(e.other_tile(1)))))
add("copies", "only the first tile", "", copies(second(e.extension_edit(e.extension_only_first_tile))))
add("copies", "one buffer for both", "", copies(e.buffers_share_a_name))
add("copies", "a buffer less for the second", "", copies(e.buffer_edit(e.access_lost(-1))))
add("copies", "steps reversed", "", copies(e.everywhere(e.reversed_steps)))
add("copies", "sources not stored", "what only copies read", copies(lambda p: _first_step_gone(p)))
add("copies", "all is served", "who reads as well is forgotten", lambda patch: _served(patch, True))
add("copies", "nobody is served", "", lambda patch: _served(patch, False))
add("copies", "nothing is reserved", "", patched(clusters.Fuser, "_reserved", lambda _o: _none_of))
add("copies", "sources come along never", "", always(clusters.Fuser, "without_sources", set()))
add("copies", "copies of all", "whatever else reads them", lambda patch: _always_copied(patch))


def _none_of(_self: Any, _cluster: Any, _nest: Any, extension: Any, _shared: Any) -> Any:
    return extension.range().subtract(extension.range())


def _first_step_gone(program: Program) -> Program:
    child: Node = e.first_step_dropped(program.tree.child) or program.tree.child
    return replace(program, tree=Domain(program.tree.domain, child))


def _served(patch: Any, everybody: bool) -> None:
    original = clusters.Fuser.served

    def served(self: Any, cluster: Any) -> None:
        if not everybody:
            return
        original(self, cluster)
        copied = [p.nest.instances for p in cluster.producers if p.nest.copied]
        if copied:
            self.flow = self.flow.subtract_domain(copied[0])

    patch.setattr(clusters.Fuser, "served", served)


def _always_copied(patch: Any) -> None:
    def copy_of(self: Any, position: int, nest: Any) -> Any:
        return self.copies.of(position, nest)

    patch.setattr(clusters.Fuser, "copy_of", copy_of)
