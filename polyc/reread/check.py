"""The second check: the printed loops are the program's tree, whose values are the region's (`polyc/verify`).

math: region = program is shown on the tree; program = text here, of the C tree that is printed, by what each of its
      statements claims to be: the instances (`instances.py`), their order (`order.py`), their expressions and places
      (`bodies.py`), the lives of buffers (`storage.py`), and what runs at once (`concurrent.py`). No flow is computed.
source: loopy and pet check generated code against the schedule in this way; Verdoolaege and Grosser 2012, Section 6
"""

from __future__ import annotations

from polyc.analysis.order import runs
from polyc.model import ctree as c
from polyc.model.fault import Fault
from polyc.model.program import Program
from polyc.reread.bodies import Bodies
from polyc.reread.concurrent import concurrency_faults
from polyc.reread.instances import images_of, instance_faults
from polyc.reread.order import order_faults
from polyc.reread.parts import Refused, Walk
from polyc.reread.storage import storage_faults


def program_faults(program: Program, body: tuple[c.Stmt, ...]) -> list[Fault]:
    """In what the printed statements, with their notes, differ from the program; empty means in nothing. Raises
    NotComparable."""
    text = Walk(program, program.scop.known)
    every = runs(program.tree)
    bodies = Bodies(program)
    try:
        text.run(body)
        images = images_of(program, every, text.parts)
        for image in images:
            bodies.compare(image)
    except Refused as refused:
        return [refused.fault]
    faults = instance_faults(program, every, images)
    if faults:
        return faults
    faults = order_faults(program, images)
    faults += storage_faults(program, bodies.uses, text.declared)
    return faults + concurrency_faults(program, text.loops, images)
