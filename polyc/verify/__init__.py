"""The static check: a transformed program against the original one."""

from __future__ import annotations

from dataclasses import replace

from polyc.model.program import Program
from polyc.model.scop import Scop
from polyc.verify.dataflow import dataflow_faults
from polyc.verify.expand import expand
from polyc.verify.fault import Fault
from polyc.verify.fragments import fragment_faults
from polyc.verify.hoisted import hoist_faults
from polyc.verify.inlining import KIND as INLINING
from polyc.verify.inlining import inlining_faults
from polyc.verify.lanes import lane_faults
from polyc.verify.layout import layout_faults
from polyc.verify.lookups import lookup_faults
from polyc.verify.mapped import mapping_faults
from polyc.verify.padding import padding_faults, without_borders
from polyc.verify.races import race_faults
from polyc.verify.relocated import KIND as RELOCATION
from polyc.verify.relocated import relocation_faults
from polyc.verify.shared import sharing_faults
from polyc.verify.stages import stage_faults
from polyc.verify.wellformed import form_faults, scop_faults
from polyc.verify.windows import window_faults


def check(program: Program, original: Scop | None = None) -> list[Fault]:
    """Everything that is wrong with the program's tree; empty means that it is shown to be right.

    `original`: the region as the frontend read it; without it the program's own scop is trusted.
    """
    whole, program = program, without_borders(program)
    faults = _region_faults(program, original)
    expanded = expand(program)
    faults += form_faults(program, expanded)
    if any(fault.kind in ("form", "region", INLINING, RELOCATION) for fault in faults):
        return faults  # the rest takes for granted what does not hold
    faults += dataflow_faults(program, expanded) + race_faults(program, expanded)
    faults += mapping_faults(program, expanded) + padding_faults(whole, expanded)
    faults += [*stage_faults(program, expanded), *layout_faults(whole), *hoist_faults(program)]
    faults += [*sharing_faults(program, expanded, whole.padded), *window_faults(program, expanded, whole.padded)]
    return [*faults, *lane_faults(whole), *lookup_faults(whole), *fragment_faults(whole)]


def _region_faults(program: Program, original: Scop | None) -> list[Fault]:
    """What the passes made of the region itself: first without producers, then without temporaries."""
    step, whole = program.relocated, program
    if step is not None:
        program = replace(program, scop=step.before)
    if program.inlined:
        faults = inlining_faults(program, original or program.inlined[0].before)
    else:
        faults = scop_faults(program.scop, original) if original is not None else []
    return faults if faults or step is None else relocation_faults(whole, step)


__all__ = ["INLINING", "RELOCATION", "Fault", "check"]
