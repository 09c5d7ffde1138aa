"""The static check: a transformed program against the original one."""

from __future__ import annotations

from polyc.model.program import Program
from polyc.verify.dataflow import Fault, dataflow_faults
from polyc.verify.expand import expand
from polyc.verify.races import race_faults


def check(program: Program) -> list[Fault]:
    """Everything that is wrong with the program's tree; empty means that it is shown to be right."""
    expanded = expand(program)
    return dataflow_faults(program, expanded) + race_faults(program, expanded)


__all__ = ["Fault", "check"]
