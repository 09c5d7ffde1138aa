"""What a generated program is made of, by name: tests and summaries count it."""

from __future__ import annotations

from tests.fuzz import helpers
from tests.fuzz.model import (
    FLOATS,
    Access,
    Assert,
    Call,
    Clamp,
    Data,
    DataTest,
    Declare,
    Exchange,
    Fresh,
    If,
    Let,
    Loop,
    Program,
    Read,
    Stop,
    Temporary,
    Ternary,
    Update,
    Wrap,
    nodes,
)

STRAIGHT = 16
"""Statements of a body that polyc schedules as one."""


def traits(program: Program) -> list[str]:
    """The names of all that is in the program."""
    parts = list(nodes(program.nests))
    accesses = [part for part in parts if isinstance(part, Access)]
    flat = {array.name for array in program.arrays if array.flat}
    types = {array.type for array in program.arrays if not array.index}
    updated = {part.name for part in parts if isinstance(part, Update)}
    sums = updated & {part.name for part in parts if isinstance(part, Declare)}
    found = {
        "regions found by polyc": program.detected,
        "statements of macros": program.worded,
        "an included file": program.included,
        "two marked regions": program.split > 0,
        "flat rows": bool(flat),
        "flat rows at data": any(a.array in flat and any(isinstance(s, Data) for s in a.subscripts) for a in accesses),
        "rows that subscripts leave": any(array.narrow for array in program.arrays),
        "scalar accumulators": any(isinstance(part, Temporary) and part.name in sums for part in parts),
        "variables used again": program.scratch,
        "sizes made of others": program.made,
        "steps that calls pass": program.called and any(isinstance(p, Loop) and p.step > 1 for p in parts),
        "calls that move memory": program.transfers,
        "loops between pointers": program.walked,
        "index temporaries": any(isinstance(part, Let) for part in parts),
        "straight-line code": any(
            isinstance(part, Loop) and sum(not isinstance(one, Loop) for one in part.body) >= STRAIGHT for part in parts
        ),
        "loops in the same outer loop": any(
            isinstance(part, Loop) and sum(isinstance(one, Loop) for one in part.body) > 1 for part in parts
        ),
        "places that are clamped": any(isinstance(part, Let) and bool(part.form) for part in parts),
        "borders that are joined": any(isinstance(part, Wrap) for part in parts),
        "functions for subscripts": any(array.flat and array.helper and array.rank == 2 for array in program.arrays),
        "clamps": any(isinstance(part, Clamp | Ternary) for part in parts),
        "helper functions": any(
            isinstance(part, Clamp)
            or (isinstance(part, Wrap) and part.helper)
            or (isinstance(part, Call) and part.name in helpers.VALUES)
            for part in parts
        ),
        "assertions": any(isinstance(part, Assert) for part in parts),
        "conditions on numbers": any(
            isinstance(part, DataTest) and isinstance(part.left, Read) and not part.left.access.subscripts
            for part in parts
        ),
        "arrays of a body": any(isinstance(part, Fresh) for part in parts),
        "conditions with names": any(isinstance(part, If) and bool(part.form) for part in parts),
        "loops that data decide": any(
            isinstance(part, If)
            and isinstance(part.condition, DataTest)
            and any(isinstance(one, Loop) for one in nodes(part.then))
            for part in parts
        ),
        "loops that end early": any(isinstance(part, Stop) for part in parts),
        "pointers to rows": program.rows and bool(flat),
        "pointers that data move": program.packed,
        "arrays in structs": program.views and bool(flat),
        "elements put in order": any(isinstance(part, Exchange) for part in parts),
        "float beside double": types >= set(FLOATS),
        "integers beside floats": bool(types & set(FLOATS)) and bool(types - set(FLOATS)),
        "state between calls": any(array.kind == "static" for array in program.arrays),
        "calls in a row": any(run.calls > 1 for run in program.runs),
        "no memory": any(run.starved for run in program.runs),
        "few or no iterations": any(value <= 2 for run in program.runs for _, value in run.sizes),
        "negative sizes": any(value < 0 for run in program.runs for _, value in run.sizes),
    }
    names = [name for name, there in found.items() if there]
    names += [f"counters {program.counter}"]
    names += [f"arguments {place.shift}" for run in program.runs for place in run.placed]
    if program.detected and any(not run.placed for run in program.runs):
        names.append("arguments apart")
    return list(dict.fromkeys(names))
