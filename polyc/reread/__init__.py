"""The second check: the printed text is the program that the first one has shown to be right.

A Program and its text -> faults. Knows no pass, and not how the text was made.
"""

from __future__ import annotations

from polyc.model.fault import Fault
from polyc.model.printed import Rendered
from polyc.model.program import Program
from polyc.model.scop import Region
from polyc.reread.check import program_faults
from polyc.reread.exchanges import exchange_faults
from polyc.reread.guards import guard_faults
from polyc.reread.literal import literal_faults
from polyc.reread.parts import NotComparable, Refused
from polyc.reread.special import both_faults, next_version_faults, special_faults
from polyc.reread.steps import Step, step_faults


def text_faults(program: Program, region: Region, rendered: Rendered) -> list[Fault]:
    """What is wrong with a printed text; empty means that it is the program. Raises NotComparable."""
    steps = tuple(Step(name, before, after) for name, before, after in rendered.steps)
    if steps and steps[0].before != rendered.body:
        return [Fault("text", "what is printed starts from other statements than what is compared", "")]
    faults = guard_faults(program.scop, rendered) or program_faults(program, rendered.body)
    faults = faults or step_faults(program, steps, rendered.vectors)
    if faults or not rendered.text:
        return faults
    faults = exchange_faults(program.scop, rendered)
    if faults:
        return faults
    try:
        literal_faults(region, rendered)
    except Refused as refused:
        return [refused.fault]
    return []


__all__ = ["NotComparable", "both_faults", "next_version_faults", "special_faults", "text_faults"]
