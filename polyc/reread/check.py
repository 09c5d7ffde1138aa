"""The second check: the printed loops are the program's tree, whose values are the region's (`polyc/verify`).

math: region = program is shown on the tree; program = text here, of the C tree that is printed, by what each of its
      statements claims to be: the instances (`instances.py`), their order (`order.py`), their expressions and places
      (`bodies.py`), the lives of buffers (`storage.py`), and what runs at once (`concurrent.py`). No flow is computed.
source: loopy and pet check generated code against the schedule in this way; Verdoolaege and Grosser 2012, Section 6
"""

from __future__ import annotations

from polyc.analysis.order import runs
from polyc.model import ctree as c
from polyc.model.program import Program
from polyc.model.scop import Scop
from polyc.reread.affine import NotAffine, Reader, parameter_space
from polyc.reread.bodies import Bodies
from polyc.reread.concurrent import concurrency_faults
from polyc.reread.instances import images_of, instance_faults
from polyc.reread.order import order_faults
from polyc.reread.parts import NotComparable, Refused, Walk
from polyc.reread.storage import storage_faults
from polyc.verify.fault import Fault


def program_faults(program: Program, body: tuple[c.Stmt, ...], guard: c.Expr | None) -> list[Fault]:
    """In what the printed statements differ from the program; empty means in nothing. Raises NotComparable.

    body: the statements with their notes; guard: the condition on the sizes under which they run
    """
    weak = guard_faults(program.scop, guard)
    if weak:
        return weak
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


def guard_faults(scop: Scop, guard: c.Expr | None) -> list[Fault]:
    """Sizes at which the text runs though the model does not hold."""
    space = parameter_space(scop).add_unnamed_tuple_ui(0)
    inside = isl_params(scop.context, space)
    if guard is not None:
        reader = Reader({p.expr: p.name for p in scop.parameters}, {}, space)
        try:
            inside = inside.intersect(reader.condition(guard))
        except NotAffine as what:
            raise NotComparable(f"the condition around the text is not affine ({what})") from None
    wrong = inside.subtract(isl_params(scop.guard, space))
    if wrong.is_empty():
        return []
    return [Fault("text", "the condition around the text is too weak", str(wrong.sample_point()))]


def isl_params(sizes, space):  # type: ignore[no-untyped-def]
    """Sizes as a set at a place without loops."""
    import islpy as isl

    return isl.Set.universe(space).intersect_params(sizes)
