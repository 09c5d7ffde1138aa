"""The second check: what is printed is the program that the first one has shown to be right."""

from __future__ import annotations

from polyc.model.printed import Rendered
from polyc.model.program import Program
from polyc.model.scop import Region
from polyc.reread.check import program_faults
from polyc.reread.guards import guard_faults
from polyc.reread.literal import literal_faults
from polyc.reread.parts import NotComparable, Refused
from polyc.reread.steps import Step, step_faults
from polyc.verify.fault import Fault


def text_faults(program: Program, region: Region, rendered: Rendered) -> list[Fault]:
    """What is wrong with a printed text; empty means that it is the program. Raises NotComparable."""
    steps = tuple(Step(name, before, after) for name, before, after in rendered.steps)
    if steps and steps[0].before != rendered.body:
        return [Fault("text", "what is printed starts from other statements than what is compared", "")]
    faults = guard_faults(program.scop, rendered) or program_faults(program, rendered.body)
    faults = faults or step_faults(program, steps, rendered.vectors)
    if faults or not rendered.text:
        return faults
    try:
        literal_faults(region, rendered)
    except Refused as refused:
        return [refused.fault]
    return []


__all__ = ["NotComparable", "text_faults"]
