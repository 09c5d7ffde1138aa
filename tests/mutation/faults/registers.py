"""Faults of `registers`: sums in the threads' registers, panels in shared memory, tiles whose border lies outside."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import polyc.nests.contractions as contractions
import polyc.passes.products.panels as panels
import polyc.passes.products.register_nest as register_nest
import polyc.passes.products.registers as registers
from polyc.model.program import Program
from polyc.model.tree import Member, Role
from polyc.passes.buffers.promotion import RefFlow
from polyc.passes.products.register_nest import RegisterNest
from tests.mutation import edits as e
from tests.mutation import gpu_edits as g
from tests.mutation import register_edits as r
from tests.mutation.install import Install, adding_to, always, patched, together
from tests.mutation.runner import Fault, after_pass

FAULTS: list[Fault] = []
add = adding_to(FAULTS)


def two_stages_everywhere(member: Member) -> Member | None:
    return replace(member, stages=2) if not member.mapped and not member.coincident else None


EDITS: list[tuple[str, str, e.Edit]] = [
    ("digits turned", "rows as columns", e.everywhere(r.register_edit(r.digit_turned))),
    (
        "digits turned in the last step",
        "rows as columns",
        e.everywhere(r.last_step_only(r.register_edit(r.digit_turned))),
    ),
    ("all digits weigh one", "several cells a place", e.everywhere(r.register_edit(r.digit_weighs(1)))),
    ("all digits weigh four", "places that there are not", e.everywhere(r.register_edit(r.digit_weighs(4)))),
    ("no digits", "one place for all", e.everywhere(r.register_edit(lambda m: replace(m, digit=None)))),
    ("register loops are points", "not unrolled", e.everywhere(r.register_edit(lambda m: replace(m, role=Role.POINT)))),
    ("fewer registers", "than the digits count", r.of_registers(r.fewer_registers)),
    ("no registers", "of any size", r.of_registers(lambda b: replace(b, registers=()))),
    ("results in shared memory", "no registers", r.of_registers(lambda b: replace(b, storage="tile", registers=()))),
    ("panels in registers", "of each thread", r.of_panels(lambda b: replace(b, storage="register", registers=(8, 8)))),
    ("threads turned", "x and y", e.everywhere(r.threads_turned)),
    ("threads turned in the last step", "x and y", e.everywhere(r.last_step_only(r.threads_turned))),
    ("blocks of another shape", "4 x 16", e.everywhere(r.threads_mark(4, 16))),
    ("blocks with fewer threads", "4 x 4", e.everywhere(r.threads_mark(4, 4))),
    ("blocks in a row", "64 x 1", e.everywhere(r.threads_mark(64, 1))),
    ("panels less deep", "than their copies", e.everywhere(r.panel_step(4))),
    ("panels deeper", "than their copies", e.everywhere(r.panel_step(32))),
    ("panels shifted against their loop", "by one", e.buffer_edit(e.corner_moved(0, 1))),
    ("panels one place aside", "by one", e.buffer_edit(e.corner_moved(1, -1))),
    ("panels one column short", "", e.buffer_edit(e.extent_changed(1, -1))),
    ("panels one row short", "", e.buffer_edit(e.extent_changed(0, -1))),
    ("results one place aside", "", e.buffer_edit(e.corner_moved(1, 1), "register")),
    ("results one row short", "", e.buffer_edit(e.extent_changed(0, -1), "register")),
    ("an access to a panel lost", "it stays on the array", e.buffer_edit(e.access_lost(0))),
    ("another access to a panel lost", "it stays on the array", e.buffer_edit(e.access_lost(-1))),
    ("an access to the result lost", "it stays on the array", e.buffer_edit(e.access_lost(0), "register")),
    ("another access to the result lost", "", e.buffer_edit(e.access_lost(-1), "register")),
    ("panels stored in one dimension twice", "", r.of_panels(lambda b: replace(b, order=(b.order[0],) * len(b.order)))),
    ("panels with rows that overlap", "pad -1", r.of_panels(lambda b: replace(b, pad=-1))),
    ("panels stored the other way round", "", r.of_panels(lambda b: replace(b, order=tuple(reversed(b.order))))),
    ("panels above their loop", "one for all", e.everywhere(r.panel_above_its_loop)),
    ("nothing declared", "marks dropped", e.everywhere(e.allocation_dropped)),
    ("declared above the tiles", "marks moved out", e.everywhere(e.allocation_above_the_band)),
    ("declared below the next loop", "marks moved in", e.everywhere(e.allocation_below_the_next_band)),
    ("declared in each step", "marks moved in", e.everywhere(e.allocation_into_each_step)),
    ("three places for panels", "", e.everywhere(r.panel_loop(lambda m: replace(m, stages=3)))),
    ("one place for panels", "no copies ahead", e.everywhere(r.panel_loop(lambda m: replace(m, stages=1)))),
    ("two places in every loop", "", e.everywhere(g.members_edit(two_stages_everywhere))),
    ("much unrolled", "64 steps", e.everywhere(g.members_edit(lambda m: replace(m, unroll=64)))),
    ("borders not told", "", r.padding(lambda _n, _k: None)),
    ("zeros not told", "panels have no border", r.kind_as("zero", None)),
    ("no zeros", "panels are filled inside only", r.kind_as("zero", "guarded")),
    ("zeros copied from outside", "", r.kind_as("zero", "free")),
    ("guards forgotten", "results outside are stored", r.kind_as("guarded", "free")),
    ("zeros for guards", "zeros are stored outside", r.kind_as("guarded", "zero")),
    ("guards for all", "sums stay inside", r.kind_as("free", "guarded")),
    ("guarded sums", "of S1 alone", r.padding(lambda n, k: "guarded" if n == "S1" else k)),
    ("zeros for sums", "", r.kind_as("free", "zero")),
    ("no copies in", "neither panels nor results", r.copies_lost("in")),
    ("no copies out", "", r.copies_lost("out")),
    ("panels of A not copied", "", r.copies_lost("in3")),
    ("panels of B not copied", "", r.copies_lost("in4")),
    ("copies of the next cells", "", r.extension_of("in", e.range_shift(1, 1))),
    ("copies without the last row", "", r.extension_of("in", e.range_shrunk(0, True))),
    ("copies without the first column", "", r.extension_of("in", e.range_shrunk(1, False))),
    ("copies of a row more", "", r.extension_of("in", e.range_grown(0, 1))),
    ("copies out without the last row", "", r.extension_of("out", e.range_shrunk(0, True))),
    ("copies out of a row more", "", r.extension_of("out", e.range_grown(0, 1))),
    ("producers of the next cells", "", r.extension_of("S", e.range_shift(1, 1))),
    ("producers without the last row", "", r.extension_of("S", e.range_shrunk(0, True))),
    ("copies turned round", "", e.statement_edit(e.copies_turned_round, True)),
    ("copies add one", "", e.statement_edit(e.value_plus_one, True)),
    ("copies take the neighbour", "", e.statement_edit(e.copy_of_the_neighbour, True)),
    ("sums too long", "past the end of k", r.domain_grown(2)),
    ("tiles too many", "past the end of i", r.domain_grown(0)),
    ("vectors of two stored", "8 bytes", e.everywhere(r.stored_at_once(lambda m: replace(m, lanes=2)))),
    ("vectors of eight stored", "32 bytes", e.everywhere(r.stored_at_once(lambda m: replace(m, lanes=8)))),
    ("vectors shifted", "by one place", e.everywhere(r.stored_at_once(r.shifted_by_one))),
    ("vectors backwards", "", e.everywhere(r.stored_at_once(lambda m: replace(m, schedule=m.schedule.neg())))),
    ("vectors everywhere", "sums, too", e.everywhere(r.register_edit(lambda m: replace(m, vector=True, lanes=4)))),
    ("steps reversed", "every sequence", e.everywhere(e.reversed_steps)),
    ("inner steps reversed", "use before copy", e.nth(e.reversed_steps)),
    ("last steps swapped", "", e.everywhere(e.swapped_last_steps)),
    ("first step dropped", "of each sequence", e.everywhere(e.first_step_dropped)),
    ("last step dropped", "of one sequence", e.nth(e.last_step_dropped, 1)),
    ("first step again at the end", "", e.everywhere(e.first_step_again_at_the_end)),
    ("extension dropped", "", e.nth(e.extension_dropped)),
    ("loops interchanged", "in every band", e.everywhere(e.band_edit(e.swapped_members))),
    ("panels backwards", "the last first", e.everywhere(r.panel_loop(lambda m: replace(m, schedule=m.schedule.neg())))),
    ("inner loops backwards", "", e.nth(e.band_edit(e.reversed_last))),
    ("a loop lost", "of every band with several", e.everywhere(e.band_edit(e.lost_last))),
]
for name_, what_, edit_ in EDITS:
    add("registers", name_, what_, after_pass("registers", edit_))
    add("registers", f"{name_}, at the end", what_, after_pass("barriers", edit_))


# --- what the pass asks ----------------------------------------------------------------------------------------------


def of_domain_alone(_original: Any) -> Any:
    """Tiles are cut at the end of the domain, but nothing says so."""
    return lambda self, name: self.domain(name)


def answered(value: Any) -> Callable[[Any], Any]:
    return lambda _original: lambda *_args: value


def every_producer(original: Any) -> Any:
    """Whoever writes an operand is run for each panel."""

    def producer_of(program: Program, access: Any, reader: str, alone: Any) -> Any:
        found = original(program, access, reader, alone)
        if found is not None:
            return found
        writers = [
            s
            for s in program.scop.statements.values()
            if s.name != reader and any(a.array == access.array and a.kind.value != "read" for a in s.accesses)
        ]
        return writers[0] if writers else None

    return producer_of


def vectors_anywhere(original: Any) -> Any:
    """Rows of four, whatever begins where."""

    def vector_of(array: Any, box: Any, extents: tuple[int, ...], *rest: Any) -> int:
        return 4 if extents[-1] % 4 == 0 else int(original(array, box, extents, *rest))

    return vector_of


def pairs_turned(original: Any) -> Any:
    def pair(*args: Any) -> Any:
        found = original(*args)
        return None if found is None else (found[1], found[0])

    return pair


def any_pair(_original: Any) -> Any:
    """Whether an operand stays with a loop is not asked."""
    return lambda _program, members, *_rest: (0, 1) if len(members) > 1 else None


def depth_of(factor: int) -> Install:
    return patched(RegisterNest, "depth", lambda original: lambda self: factor * original(self))


ALL_STATEMENTS: Install = patched(registers, "alone_in", lambda _o: lambda _node: iter(f"S{k}" for k in range(10)))

add("registers", "tiles end with the domain", "whole() is the domain", patched(RegisterNest, "whole", of_domain_alone))
add("registers", "everything harmless", "outside of the domain", always(RegisterNest, "harmless", True))
add("registers", "nothing harmless", "outside of the domain", always(RegisterNest, "harmless", False))
add("registers", "result not copied", "neither in nor out", always(RegisterNest, "copies_of_result", (None, None)))
add("registers", "old results not read", "reads_own_values says yes", always(RefFlow, "reads_own_values", True))
add("registers", "old results read", "reads_own_values says no", always(RefFlow, "reads_own_values", False))
add("registers", "every writer a producer", "run for panels", patched(register_nest, "producer_of", every_producer))
add(
    "registers",
    "every writer a producer, with a nest or without",
    "and its nest is left out",
    together(ALL_STATEMENTS, patched(register_nest, "producer_of", every_producer)),
)
add("registers", "every statement alone", "producers lose their nests", ALL_STATEMENTS)
add("registers", "producers not cheap", "run for panels", patched(panels, "operations", answered(0.0)))
add("registers", "producers read what is written", "elementwise is not asked", always(panels, "_is_elementwise", True))
add("registers", "vectors anywhere", "16 bytes", patched(register_nest, "vector_of", vectors_anywhere))
add("registers", "rows stored at once", "their cells lie apart", always(RegisterNest, "stored_at_once", 0))
add(
    "registers",
    "columns stored at once",
    "rows of any length",
    always(RegisterNest, "stored_at_once", 1),
    "any_columns",
)
add(
    "registers",
    "values afterwards in loops of their own",
    "what one step leaves to the next",
    patched(RegisterNest, "together", lambda _o: lambda _self, listed: [[name] for name in listed]),
)
add(
    "registers",
    "nothing is private afterwards",
    "loops of their own, and outside of the domain",
    always(RegisterNest, "private_of", set()),
)
add("registers", "rows and columns turned", "", patched(contractions, "_pair", pairs_turned))
add("registers", "any two loops", "rows and columns", patched(contractions, "_pair", any_pair))
add("registers", "no loop moves the result", "chains", patched(contractions, "moves", answered(False)))
add("registers", "no operand varies", "", patched(contractions, "varies", answered(False)))
add("registers", "every operand varies", "", patched(contractions, "varies", answered(True)))
add("registers", "panels twice as deep", "", depth_of(2))
add("registers", "shared memory without an end", "", patched(register_nest, "STATIC_SHARED_BYTES", lambda _o: 1 << 30))
add("registers", "bytes not counted", "", patched(register_nest, "buffer_bytes", answered(0)))
