"""Faults of the passes that declare what an iteration has for itself: `contract` and `privatize`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polyc.passes.buffers.contract as contract
import polyc.passes.buffers.privatize as privatize
import polyc.pipeline as pipeline
from polyc.model.program import Program
from polyc.model.tree import Node
from tests.mutation import edits as e
from tests.mutation.faults.before_tiles import dependences, no_false
from tests.mutation.install import adding_to, always, patched, together
from tests.mutation.runner import Fault, after_pass

FAULTS: list[Fault] = []
add = adding_to(FAULTS)

# --- contract --------------------------------------------------------------------------------------------------------


def declared_around(node: Node) -> Node | None:
    return e.allocation_above_the_band(node)


def every_array_contracted(program: Program) -> list[str]:
    """Also what is needed afterwards, or has a value from before."""
    kept = {b.array for b in program.buffers.values()}
    return [name for name, array in program.scop.arrays.items() if array.rank and name not in kept]


def only_written(original: Any) -> Any:
    """The reads go to the array, the writes to the variable."""

    def whole(program: Program, array: str) -> Any:
        found = original(program, array)
        writes = {(s.name, a.ref) for s in program.statements.values() for a in s.accesses if a.kind.value != "read"}
        return replace(found, accesses=found.accesses & writes)

    return whole


add(
    "contract",
    "every array",
    "needed afterwards or not",
    patched(contract, "_unbuffered", lambda _o: every_array_contracted),
)
add("contract", "reads forgotten", "they see the array", patched(contract, "_whole", only_written))
CONTRACT: list[tuple[str, str, e.Edit]] = [
    ("declared above the loop", "one for all iterations", e.everywhere(declared_around)),
    ("declared in each step", "marks moved in", e.everywhere(e.allocation_into_each_step)),
    ("declared nowhere", "marks dropped", e.everywhere(e.allocation_dropped)),
    ("corner moved", "by one", e.buffer_edit(e.corner_moved(0, 1))),
    ("extent one less", "no element at all", e.buffer_edit(e.extent_changed(0, -1))),
    ("depth -1", "of the variables", e.buffer_edit(e.depth_changed(-1))),
    ("an access is not redirected", "it stays on the array", e.buffer_edit(e.access_lost(0))),
    ("two of one name", "in one iteration", e.buffers_share_a_name),
]
for name_, what_, edit_ in CONTRACT:
    add("contract", name_, what_, after_pass("contract", edit_))

# --- privatize -------------------------------------------------------------------------------------------------------


def everything_private(original: Any) -> Any:
    """Every scalar that is written counts as private, also where its value is needed afterwards."""

    def place(program: Program) -> Program:
        scalars = {n for n, a in program.scop.arrays.items() if a.rank == 0 and n in program.dependences.flow_by_array}
        scop = program.scop
        wide = replace(program, scop=replace(scop, privatizable=scop.privatizable | scalars))
        return replace(original(wide), scop=scop)

    return place


add("privatize", "no copies", "scalars are shared", patched(pipeline, "place_private_arrays", lambda _o: lambda p: p))
add(
    "privatize",
    "declared as deep as can be",
    "values do not stay in an iteration",
    always(privatize._Placing, "_stays", True),
)
add(
    "privatize",
    "declared at the outermost loop",
    "no loop keeps its values inside",
    always(privatize._Placing, "_stays", False),
)
add("privatize", "steps not connected", "each declares its own", always(privatize._Placing, "_connected", False))
add(
    "privatize",
    "private though live-out",
    "scalars that are needed afterwards",
    together(dependences(no_false), patched(pipeline, "place_private_arrays", everything_private)),
    "last_value",
    "private",
)
add("privatize", "declared above the loop", "marks moved out", after_pass("privatize", e.everywhere(declared_around)))
add(
    "privatize",
    "declared below the next band",
    "marks moved in",
    after_pass("privatize", e.everywhere(e.allocation_below_the_next_band)),
)
add(
    "privatize",
    "declared in each step",
    "marks moved in",
    after_pass("privatize", e.everywhere(e.allocation_into_each_step)),
)
add("privatize", "declared nowhere", "marks dropped", after_pass("privatize", e.everywhere(e.allocation_dropped)))
for distance_ in (-1, 1):
    add(
        "privatize",
        f"depth {distance_:+d}",
        "of the copies",
        after_pass("privatize", e.buffer_edit(e.depth_changed(distance_), "private")),
    )
add(
    "privatize",
    "an access is not redirected",
    "it stays on the shared one",
    after_pass("privatize", e.buffer_edit(e.access_lost(0), "private")),
)
