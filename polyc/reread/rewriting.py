"""What was done to the printed loops as C: each step is held against the loops that it started from."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from polyc.model import ctree as c
from polyc.model.program import Program
from polyc.reread.lookups import lookup_faults
from polyc.reread.nontemporal import row_faults
from polyc.reread.owners import owner_faults
from polyc.verify import Fault

Body = tuple[c.Stmt, ...]
Check = Callable[[Program, Body, Body], list[Fault]]

CHECKS: Mapping[str, Check] = {
    "lookups": lookup_faults,
    "owners": owner_faults,
    "nontemporal": row_faults,
}


def rewriting_faults(program: Program, rewritten: tuple[tuple[str, Body, Body], ...]) -> list[Fault]:
    """Where a step is not known to leave the values as they are.

    rewritten: of each step its name, a key of CHECKS, and the statements before and after it
    """
    return [fault for name, before, after in rewritten for fault in CHECKS[name](program, before, after)]
