"""The static check: a transformed program against the original one.

Two Programs -> faults with witnesses. Knows no pass.
"""

from __future__ import annotations

from dataclasses import replace

from polyc.analysis.expand import expand
from polyc.model.fault import Fault
from polyc.model.program import Program
from polyc.model.scop import Scop
from polyc.verify.flow.dataflow import dataflow_faults
from polyc.verify.gpu.fragment_faults import fragment_faults
from polyc.verify.gpu.layout import layout_faults
from polyc.verify.gpu.mapped import mapping_faults
from polyc.verify.gpu.stages import stage_faults
from polyc.verify.order.ended import ended_faults
from polyc.verify.order.lanes import lane_faults
from polyc.verify.order.races import race_faults
from polyc.verify.places.padding import padding_faults, without_borders
from polyc.verify.places.shared import sharing_faults
from polyc.verify.places.windows import window_faults
from polyc.verify.region.hoisted import hoist_faults
from polyc.verify.region.inlining import KIND as INLINING
from polyc.verify.region.inlining import inlining_faults
from polyc.verify.region.members import member_faults
from polyc.verify.region.ordered import order_faults
from polyc.verify.region.parted import KIND as PARTING
from polyc.verify.region.parted import parting_faults
from polyc.verify.region.relocated import KIND as RELOCATION
from polyc.verify.region.relocated import relocation_faults
from polyc.verify.region.table_rows import lookup_faults
from polyc.verify.region.wellformed import form_faults, scop_faults


def check(program: Program, original: Scop | None = None) -> list[Fault]:
    """Everything that is wrong with the program's tree; empty means that it is shown to be right.

    `original`: the region as the frontend read it; without it the program's own scop is trusted.
    """
    whole, program = program, without_borders(program)
    faults = _region_faults(program, original)
    expanded = expand(program)
    faults += form_faults(program, expanded)
    if any(fault.kind in ("form", "region", PARTING, INLINING, RELOCATION) for fault in faults):
        return faults  # the rest takes for granted what does not hold
    faults += dataflow_faults(program, expanded) + race_faults(program, expanded)
    faults += mapping_faults(program, expanded) + padding_faults(whole, expanded)
    faults += [*stage_faults(program, expanded), *layout_faults(whole), *hoist_faults(program)]
    faults += [*sharing_faults(program, expanded, whole.padded), *window_faults(program, expanded, whole.padded)]
    return [
        *faults,
        *ended_faults(program, expanded),
        *lane_faults(whole),
        *lookup_faults(whole),
        *fragment_faults(whole),
    ]


def _region_faults(program: Program, original: Scop | None) -> list[Fault]:
    """What was made of the region itself: loops are parted first, members are arrays then, producers go, and then
    temporaries."""
    step, whole = program.relocated, program
    if original is not None and (faults := list(order_faults(program, original))):
        return faults
    if original is not None and original.whole is not None and (faults := parting_faults(original.whole, original)):
        return faults
    if original is not None and program.parted is not None:
        if faults := member_faults(original, program.parted):
            return faults
        original = program.parted
    if step is not None:
        program = replace(program, scop=step.before)
    if program.inlined:
        faults = inlining_faults(program, original or program.inlined[0].before)
    else:
        faults = scop_faults(program.scop, original) if original is not None else []
    return faults if faults or step is None else relocation_faults(whole, step)


__all__ = ["INLINING", "RELOCATION", "Fault", "check"]
