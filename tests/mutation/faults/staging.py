"""Faults of `staging` and `gpu-scatters`: rows that blocks fetch, and what threads add at once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polyc.passes.gpu.gpu_scatters as scatters
import polyc.passes.gpu.staging as staging
import polyc.pipeline as pipeline
from polyc.model.program import Buffer
from polyc.model.tree import Band, Extension, Member, Node, Role, Sequence
from tests.mutation import edits as e
from tests.mutation import gpu_edits as g
from tests.mutation.install import adding_to, always, patched, together
from tests.mutation.runner import Fault, after_pass

FAULTS: list[Fault] = []
add = adding_to(FAULTS)
ROWS, COUNTS = "staging", "gpu-scatters"


def copies(node: Node) -> Sequence | None:
    """The steps below an extension."""
    match node:
        case Extension(child=Sequence() as steps) if len(steps.children) > 1:
            return steps
        case _:
            return None


def first_copy_left_out(node: Node) -> Node | None:
    steps = copies(node)
    return None if steps is None else replace(node, child=Sequence(steps.children[1:]))  # type: ignore[call-arg]


def last_step_left_out(node: Node) -> Node | None:
    steps = copies(node)
    return None if steps is None else replace(node, child=Sequence(steps.children[:-1]))  # type: ignore[call-arg]


def copies_behind(node: Node) -> Node | None:
    """What is fetched comes after what uses it."""
    steps = copies(node)
    return None if steps is None else replace(node, child=Sequence((*steps.children[1:], steps.children[0])))  # type: ignore[call-arg]


def two_places(node: Node) -> Node | None:
    """Each loop over parts fetches one iteration ahead, also of what it writes."""
    match node:
        case Band(members=members) if members[-1].role is Role.TILE and not members[-1].coincident:
            return replace(node, members=(*members[:-1], replace(members[-1], stages=2)))
        case _:
            return None


def parts(change: Any) -> e.Change:
    """An edit of the loops over parts of rows."""

    def at(node: Node) -> Node | None:
        match node:
            case Band(members=members) if members[-1].role is Role.TILE and not members[-1].coincident:
                return replace(node, members=(*members[:-1], change(members[-1])))
            case _:
                return None

    return at


def backwards(member: Member) -> Member:
    return replace(member, schedule=member.schedule.neg())


def shared(member: Member) -> Member:
    return replace(member, coincident=True)


def one_place(buffer: Buffer) -> Buffer | None:
    """All rows of a tile have the same state."""
    if buffer.places is None:
        return None
    return replace(buffer, places=buffer.places.subtract(buffer.places))


EDITS: list[tuple[str, str, e.Edit]] = [
    ("nothing fetched", "the first copy is left out", e.everywhere(first_copy_left_out)),
    ("nothing brought back", "the last step is left out", e.everywhere(last_step_left_out)),
    ("fetched too late", "", e.everywhere(copies_behind)),
    ("fetched ahead", "what the loop writes", e.everywhere(two_places)),
    ("parts backwards", "", e.everywhere(parts(backwards))),
    ("parts at once", "by blocks of threads", e.everywhere(parts(shared))),
    ("steps reversed", "", e.everywhere(e.reversed_steps)),
    ("first step dropped", "", e.everywhere(e.first_step_dropped)),
    ("panels one to the right", "", e.buffer_edit(e.corner_moved(1, 1))),
    ("panels one down", "", e.buffer_edit(e.corner_moved(0, 1))),
    ("panels too narrow", "", e.buffer_edit(e.extent_changed(1, -1))),
    ("state of another tile", "", e.buffer_edit(e.corner_moved(0, 1), "spread")),
    ("too few places", "for the rows of a tile", e.buffer_edit(e.extent_changed(0, -1), "spread")),
    ("no places", "for what rows keep", e.buffer_edit(one_place, "spread")),
    ("copies of the neighbour", "", e.statement_edit(e.copy_of_the_neighbour, True)),
    ("copies turned round", "", e.statement_edit(e.copies_turned_round, True)),
]
MAPPED: list[tuple[str, str, e.Edit]] = [
    ("no barrier", "steps", e.everywhere(g.step_barriers_dropped)),
    ("no barrier in loops", "", e.everywhere(g.loop_barriers_dropped)),
    ("first barrier dropped", "", e.everywhere(g.barrier_dropped(0))),
    ("last barrier dropped", "", e.everywhere(g.barrier_dropped(-1))),
    ("rows on all axes", "", e.everywhere(g.axes_renamed({"thread": "thread.x"}))),
]
for name_, what_, edit_ in EDITS:
    add(ROWS, name_, what_, after_pass("staging", edit_))
for name_, what_, edit_ in MAPPED:
    add(ROWS, f"{name_}, at the end", what_, after_pass("barriers", edit_))


def exact_boxes(_original: Any) -> Any:
    """Panels of what is written are filled with zeros where nobody reads."""

    def with_panels(self: Any, arrays: Any, *rest: Any) -> Any:
        return _original(self, [(array, read, None if read is not None else w) for array, read, w in arrays], *rest)

    return with_panels


def without_asking(_original: Any) -> Any:
    """Floats and products are added at once, too."""

    def scattered(self: Any, name: str) -> Any:
        return scatters.scatter_of(self.program.statements[name], self.program.scop.arrays)

    return scattered


def no_updates(original: Any) -> Any:
    """The loops are shared out, and the updates are as they were."""

    def marked(self: Any, band: Band) -> Node:
        made = original(self, band)
        if not isinstance(made, Band):
            return made
        return replace(made, members=tuple(replace(m, atomics=()) for m in made.members))

    return marked


def any_loop(_original: Any) -> Any:
    def marked(self: Any, band: Band) -> Node:
        pairs = tuple(sorted({*self.pairs.values()})) or (("+", "bins"),)
        members = tuple(replace(m, coincident=True, atomics=pairs) for m in band.members)
        self.pairs = self.pairs or {"": pairs[0]}
        return replace(band, members=members)

    return marked


add(ROWS, "what is written is not brought back", "", patched(staging._Staging, "with_panels", exact_boxes))
add(ROWS, "across in any loop", "what is along memory is not asked", always(staging._Staging, "is_along", True))
add(ROWS, "nothing has places", "state says nothing", always(staging._Staging, "state", []))
add(ROWS, "no barriers", "", patched(pipeline, "place_barriers", lambda _o: lambda p: p))
NOT_ASKED = together(patched(scatters._Marker, "scattered", without_asking), always(scatters._Marker, "is_race", False))
add(COUNTS, "anything is added at once", "floats", NOT_ASKED)
add(COUNTS, "updates one after the other", "by many threads", patched(scatters._Marker, "marked", no_updates))
add(COUNTS, "any loop is shared", "whatever it carries", patched(scatters._Marker, "marked", any_loop))


__all__ = ["FAULTS"]
