"""The check of the printed text: polyc's own frontend reads it again, and its flow is the original's.

The static check proves the schedule tree right. What is printed of it (loops, conditions, subscripts, declarations,
pragmas) is read here like a user's program, in C with notes beside each statement that say which instance it is.

math: let t be an instance of the text, c(t) the instance of the region that its note names, and R the relation from a
      cell of the region's array to the cell of a local array that the text uses for it. Shown is that
        (1) the text of t is that of c(t), with loop variables replaced by their values at c(t),
        (2) each exact reference touches the cell that c(t) touches, or R of it,
        (3) R is a one-to-one function during the life of the local array, and stays inside it,
        (4) under c the flow, the first reads and the last writers are the original's (`verify/dataflow.py`),
        (5) no loop with a pragma carries a dependence (as in `verify/races.py`).
source: pet checks its generated code by (4) alone, Verdoolaege and Grosser 2012, Section 6
"""

from __future__ import annotations

from polyc.model import ctree as c
from polyc.model.program import Program
from polyc.model.scop import Region
from polyc.reread.twice.flow import flow_faults
from polyc.reread.twice.local_arrays import local_faults
from polyc.reread.twice.places import place_faults, reference_faults, value_faults
from polyc.reread.twice.pragmas import pragma_faults, storage_faults
from polyc.reread.twice.program import NotComparable, Undeclared, read_again
from polyc.reread.twice.text import Text
from polyc.verify.fault import Fault


def text_faults(program: Program, region: Region, body: tuple[c.Stmt, ...], guard: c.Expr | None) -> list[Fault]:
    """What is wrong with the printed text; empty means that it is shown to be right. Raises NotComparable.

    `body`: the printed statements with their notes; `guard`: the condition under which they run.
    """
    faults = header_faults(program, body)
    if faults:
        return faults
    try:
        text = Text(program, read_again(program, region, body, guard))
    except Undeclared as what:
        return [Fault("text", str(what), "")]
    return statement_faults(text) or flow_faults(text)


def header_faults(program: Program, body: tuple[c.Stmt, ...]) -> list[Fault]:
    """What needs no reading: pragmas, and how long variables live. Raises NotComparable."""
    if program.padded:
        raise NotComparable("its tiles run whole at the border of the iteration space")
    if any(buffer.places is not None for buffer in program.buffers.values()):
        raise NotComparable("a scalar has a place for each iteration of a loop")
    return pragma_faults(program, body) + storage_faults(body)


def statement_faults(text: Text) -> list[Fault]:
    """(1) to (3): what is a matter of each statement, and of each local array. Raises NotComparable."""
    foreign = text.sort()
    if foreign is not None:
        return [foreign]
    faults = [fault for part in text.parts for fault in place_faults(text, part)]
    if faults:
        return faults  # the flow would be that of other instances
    faults = [f for part in text.parts for f in (*value_faults(text, part), *reference_faults(text, part))]
    return [*faults, *local_faults(text)]
