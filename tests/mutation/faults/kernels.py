"""Faults of the passes that make kernels: `mapping` and `barriers`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import polyc.passes.gpu.barriers as barriers
import polyc.passes.gpu.mapping as mapping
import polyc.pipeline as pipeline
from polyc.model.program import Program
from polyc.model.tree import Band, Member
from tests.mutation import edits as e
from tests.mutation import gpu_edits as g
from tests.mutation.install import Install, adding_to, always, patched, together
from tests.mutation.runner import Fault, after_pass

FAULTS: list[Fault] = []
add = adding_to(FAULTS)


# --- barriers: where threads meet ------------------------------------------------------------------------------------


def touches(change: Callable[[set[str], set[str]], tuple[set[str], set[str]]]) -> Install:
    """The pass sees other arrays than those that a step reads and writes."""

    def make(original: Any) -> Any:
        return lambda *args: change(*original(*args))

    return patched(barriers._Barriers, "touched", make)


BARRIERS: list[tuple[str, str, e.Edit]] = [
    ("no barrier before a step", "all dropped", e.everywhere(g.step_barriers_dropped)),
    ("first barrier dropped", "of a sequence", e.everywhere(g.barrier_dropped(0))),
    ("second barrier dropped", "of a sequence", e.everywhere(g.barrier_dropped(1))),
    ("last barrier dropped", "of a sequence", e.everywhere(g.barrier_dropped(-1))),
    ("no barrier in a loop", "all dropped", e.everywhere(g.loop_barriers_dropped)),
    (
        "no barrier at all",
        "steps and loops",
        e.everywhere(lambda n: g.step_barriers_dropped(n) or g.loop_barriers_dropped(n)),
    ),
    ("barriers a step early", "before the writer", e.everywhere(g.barriers_moved(-1))),
    ("barriers a step late", "behind the reader", e.everywhere(g.barriers_moved(1))),
    ("a loop's barrier moved out", "into the loop around", e.everywhere(g.loop_barrier_moved_out)),
    ("a barrier in every step", "also where one thread is", g.in_kernels(e.everywhere(g.barrier_in_every_step))),
    ("a barrier in every loop", "also where one thread is", g.in_kernels(e.everywhere(g.barrier_in_every_loop))),
    ("barriers among single threads", "in their loops", e.everywhere(g.barrier_among_single_threads)),
    ("barriers on the host", "around kernels", g.barriers_on_the_host),
    ("steps reversed", "in a kernel", g.in_kernels(e.everywhere(e.reversed_steps))),
    ("last steps swapped", "in a kernel", g.in_kernels(e.everywhere(e.swapped_last_steps))),
    ("buffers one element short", "in the last dimension", e.buffer_edit(g.last_extent_changed(-1))),
    ("buffers one row short", "in the first dimension", e.buffer_edit(e.extent_changed(0, -1))),
    ("buffers one place aside", "their corner", e.buffer_edit(e.corner_moved(0, 1))),
    ("buffers declared above the tiles", "marks moved out", e.everywhere(e.allocation_above_the_band)),
    ("buffers declared by each step", "marks moved in", e.everywhere(e.allocation_into_each_step)),
    ("buffers declared below the next loop", "marks moved in", e.everywhere(e.allocation_below_the_next_band)),
]
for name_, what_, edit_ in BARRIERS:
    add("barriers", name_, what_, after_pass("barriers", edit_))
add("barriers", "none placed", "the pass does nothing", patched(pipeline, "place_barriers", lambda _o: lambda p: p))
add("barriers", "readers forgotten", "only writers meet", touches(lambda _reads, writes: (set(), writes)))
add("barriers", "writers forgotten", "nothing is written", touches(lambda reads, _writes: (reads, set())))
add("barriers", "shared arrays forgotten", "loops around them", always(barriers._Barriers, "shares", False))

# --- mapping: who runs what ------------------------------------------------------------------------------------------


def coincident_before(program: Program) -> Program:
    """Every loop is taken for one without dependences."""
    return e.everywhere(e.band_edit(e.all_coincident))(program)


def without_sequential(_original: Any) -> Any:
    """A band's first loop is taken for a parallel one."""

    def split(band: Band) -> tuple[tuple[Member, ...], Band | None]:
        first = replace(band.members[0], coincident=True)
        return (), replace(band, members=(first, *band.members[1:]))

    return split


def one_axis(original: Any) -> Any:
    """Both loops go to the first axis."""
    return lambda members, positions, axes: original(members, positions, (axes[0],) * len(axes))


def axes_turned(original: Any) -> Any:
    return lambda members, positions, axes: original(members, positions, tuple(reversed(axes)))


MAPPING: list[tuple[str, str, e.Edit]] = [
    *(
        (
            f"sequential loops on {axis}, band {k}",
            "that is not coincident",
            g.in_kernels(e.nth(g.sequential_loop_mapped(axis), k)),
        )
        for axis in ("block.z", "thread", "thread.x", "global.x")
        for k in (0, 1)
    ),
    ("loops of the host dealt out", "around kernels", e.everywhere(g.sequential_loop_mapped("block.z"))),
    ("tiles not dealt out", "every block runs all", e.everywhere(g.axes_renamed({"block.x": "", "block.y": ""}))),
    ("one tile loop not dealt out", "along y", e.everywhere(g.axes_renamed({"block.y": ""}))),
    ("points not dealt out", "every thread runs all", e.everywhere(g.nobody)),
    ("one point loop not dealt out", "along y", e.everywhere(g.axes_renamed({"thread.y": ""}))),
    ("single loops not dealt out", "of the host", e.everywhere(g.axes_renamed({"global.x": "", "global.y": ""}))),
    ("tiles along one axis", "both on x", e.everywhere(g.axes_renamed({"block.y": "block.x"}))),
    ("points along one axis", "both on x", e.everywhere(g.axes_renamed({"thread.y": "thread.x"}))),
    ("points in a row and a square", "both over all", e.everywhere(g.axes_renamed({"thread.y": "thread"}))),
    ("a row on one axis", "of a square", e.everywhere(g.axes_renamed({"thread": "thread.x"}))),
    ("tiles and points on threads", "blocks are alone", e.everywhere(g.axes_renamed({"block.x": "thread.x"}))),
    ("points on blocks", "threads are alone", e.everywhere(g.axes_renamed({"thread.x": "block.z"}))),
    ("tiles on threads", "and points on blocks", e.everywhere(g.threads_above_blocks)),
    ("axes swapped", "blocks and threads", e.everywhere(g.axes_renamed(g.SWAPPED))),
    ("the last step's axes swapped", "threads", e.everywhere(g.last_step_edit(g.axes_renamed(g.SWAPPED)))),
    (
        "the last step on blocks",
        "one more axis",
        e.everywhere(g.last_step_edit(g.axes_renamed({"thread.x": "block.z"}))),
    ),
    (
        "the last step on a block axis twice",
        "",
        e.everywhere(g.last_step_edit(g.axes_renamed({"thread.x": "block.x"}))),
    ),
    ("the last step not dealt out", "every thread runs it", e.everywhere(g.last_step_edit(g.nobody))),
    ("once around threads", "most points are lost", e.everywhere(g.once_around_threads)),
    ("once around steps", "most points are lost", e.everywhere(g.once_around_steps)),
    ("once instead of threads", "one thread runs all", e.everywhere(g.once_instead_of_threads)),
    ("a square of other threads", "16 x 16", e.everywhere(g.kernel_of(16, 16))),
    ("a row of threads", "where loops want a square", e.everywhere(g.kernel_of(256))),
    ("a square of threads", "where loops want a row", e.everywhere(g.kernel_of(32, 8))),
    ("one thread", "and many blocks", e.everywhere(g.kernel_of(1))),
    ("kernels dropped", "", e.everywhere(g.kernel_dropped)),
    ("kernels in kernels", "", e.everywhere(g.kernel_twice)),
    ("kernels below their first loop", "mapped on the host", e.everywhere(g.kernel_below_its_first_loop)),
    ("kernels below an ordinary loop", "the tiles'", e.everywhere(g.kernel_below_its_first_loop_unmapped)),
    ("kernels around the host's loop", "time runs in the kernel", e.everywhere(g.kernel_around_the_host_loop)),
    ("kernels made one", "blocks do not wait", e.everywhere(g.kernels_made_one)),
    ("kernels made one with barriers", "blocks do not wait", e.everywhere(g.kernels_made_one_with_barriers)),
    ("kernels for single steps", "in tiles on the host", e.everywhere(g.kernel_into_steps)),
    ("first step dropped", "of a kernel", g.in_kernels(e.everywhere(e.first_step_dropped))),
    ("steps reversed", "before barriers are placed", g.in_kernels(e.everywhere(e.reversed_steps))),
    ("all steps reversed", "the host's, too", e.everywhere(e.reversed_steps)),
    ("tile corner moved", "by one", e.everywhere(e.band_edit(e.tile_corner_moved, e.Role.TILE))),
    ("loops interchanged", "in every band", e.everywhere(e.band_edit(e.swapped_members))),
]
for name_, what_, edit_ in MAPPING:
    add("mapping", name_, what_, after_pass("mapping", edit_))
    add("mapping", f"{name_}, at the end", what_, after_pass("barriers", edit_))
add(
    "mapping",
    "every loop parallel",
    "as if nothing depended",
    patched(pipeline, "map_to_kernels", lambda original: lambda p: original(coincident_before(p))),
)
add("mapping", "first loops parallel", "of each band", patched(mapping, "_split", without_sequential))
add("mapping", "all of a band parallel", "its prefix", patched(mapping, "_has_coincident", lambda _o: lambda _n: True))
add("mapping", "nothing parallel", "one thread for all", always(mapping, "_has_coincident", False))
add("mapping", "no loop moves", "each has one iteration", always(mapping._Block, "fixes", True))
add("mapping", "one axis for two loops", "the first", patched(mapping, "_mapped", one_axis))
add("mapping", "axes turned", "y is the fast one", patched(mapping, "_mapped", axes_turned))
add(
    "mapping",
    "one axis for two loops, and no barriers",
    "",
    together(patched(mapping, "_mapped", one_axis), patched(pipeline, "place_barriers", lambda _o: lambda p: p)),
)
