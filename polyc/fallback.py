"""Steps that fail: the program before takes their place. Refusals of a check, and the remarks that tell of them."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import islpy as isl

from polyc.analysis.loop_facts import achieved
from polyc.bounded import FaultOfMemory, careful, isl_answer, isl_in_child, isl_started, within
from polyc.model.program import Pass, Program, Remark
from polyc.model.scop import Scop
from polyc.passes.forms import Broken
from polyc.poly import OverBudget, budget
from polyc.records import dataclass, replace
from polyc.verify import Fault, check

REFUSED = "verification-failed"
FAILED = "pass-failed"
OVER_BUDGET = "budget"
"""The kind of a fault that is none: the check did not end."""
UNFINISHED = (OVER_BUDGET, "schedule-budget", "isl-failed", FAILED)
"""Remarks on what was not tried to its end."""
ONLY_FASTER = "orders"
"""A pass that makes no loop parallel."""
NOT_MAPPED = "not-mapped"
"""The code of a region that no kernel can run: no pass is at fault."""
CHECKING, FOUND = 5, 2
"""How many times the isl operations of a pass the check of the tree may take, and finding the dependences: without
either, nothing is done to a region."""
ALL = "all"
"""In the place of a pass's name: all passes are left out."""


def checking(scop: Scop) -> int:
    """How many times the budget of a pass a check may take: fewer for what nobody marked, as there is much of that."""
    return FOUND if scop.unmarked else CHECKING


def declined_at_budget(name: str, run: Pass, program: Program, message: str = "") -> Program:
    """The pass's program, or the one before with a remark where isl would take too long."""
    context = program.scop.domain.get_ctx()
    try:
        with budget(context, program.operations):
            return run(program)
    except OverBudget:
        why = f"the pass {name} took more isl operations than the budget allows and was left out"
        return program.remark("budget", name, message or why)
    except isl.Error as error:
        return program.remark(
            "isl-failed", name, f"isl failed in the pass {name}, which was left out ({first_line(error)})"
        )
    except Exception as error:  # the user's region does not pay for a bug of a pass
        if os.environ.get("POLYC_RAISE"):
            raise
        return program.remark(FAILED, name, f"the pass {name} failed and was left out: {_told(error)}")


def was_left_out(name: str, program: Program) -> bool:
    """Whether a pass that was the last to run declined with a remark."""
    last = program.remarks[-1] if program.remarks else None
    return last is not None and last.stage == name and last.code in ("budget", "isl-failed", FAILED)


def is_finished(program: Program) -> bool:
    """Whether all was tried to its end that could make a loop parallel, and nothing was refused."""
    told = (one for one in program.remarks if one.stage != ONLY_FASTER)
    return not any(one.code in UNFINISHED or "left_out" in one.data for one in told)


def faults_of(program: Program, original: Scop, meanwhile: Callable[[], None] = lambda: None) -> list[Fault]:
    """What the check finds, in a child process: its operations may take any time."""
    context, operations = program.scop.domain.get_ctx(), checking(program.scop) * program.operations
    step = within(context, operations, lambda: check(program, original))
    try:
        if operations == 0:
            return check(program, original)
        started = isl_started(step)
        try:
            meanwhile()
            return isl_answer(started)
        except FaultOfMemory:
            with careful():
                return isl_in_child(step)
        finally:
            started.end()
    except OverBudget:
        return [Fault(OVER_BUDGET, "the check did not end within its budget of isl operations", "")]
    except isl.Error as error:
        return [Fault("isl", f"isl failed in the check ({first_line(error)})", "")]


def only_budget(faults: list[Fault]) -> bool:
    return all(fault.kind == OVER_BUDGET for fault in faults)


@dataclass(frozen=True, slots=True, eq=False)
class Refusal:
    """Why a program is not printed: a check refused it or took too long, or it has no text."""

    code: str
    stage: str
    why: str
    data: dict[str, Any]

    @property
    def over(self) -> bool:
        """Whether nothing is known to be wrong, but for the time that it takes."""
        return self.code == OVER_BUDGET

    def told(self, program: Program, consequence: str, left_out: str = ALL) -> Program:
        """The program with a remark that says why there is no other one.

        left_out: the pass that is left out for it, or ALL
        """
        statements = tuple(program.scop.statements) if self.stage == "verify" else ()
        span = program.scop.span
        if statements:
            span = program.scop.statements[statements[0]].span
        data = {**self.data, "left_out": left_out}
        remark = Remark(self.code, self.stage, f"{self.why}; {consequence}", span, statements, data)
        return replace(program, remarks=(*program.remarks, remark))


def refused_tree(faults: list[Fault]) -> Refusal:
    """The refusal of the static check."""
    if only_budget(faults):
        why = "checking the optimised program took more isl operations than the budget allows"
        return Refusal(OVER_BUDGET, "verify", why, {})
    why = f"the static check refused the optimised program ({faults[0].message})"
    return Refusal(REFUSED, "verify", why, {"faults": [told_fault(one) for one in faults]})


def unfinished(program: Program, needed: tuple[str, ...]) -> Refusal | None:
    """The refusal of a program in which a pass that it needed came to no end; None where all of these did."""
    for remark in program.remarks:
        if remark.code == OVER_BUDGET and remark.stage in needed:
            return Refusal(
                OVER_BUDGET,
                remark.stage,
                f"the pass {remark.stage} took more isl operations than the budget allows",
                {},
            )
    return None


def refused_text(remark: Remark) -> Refusal:
    """The refusal of a text that is wrong, or that a program does not have."""
    faults = remark.data.get("faults")
    why = f"the printed text was refused ({faults[0]['message']})" if faults else remark.message
    return Refusal(remark.code, remark.stage, why, remark.data)


def told_fault(fault: Fault) -> dict[str, str]:
    return {"kind": fault.kind, "message": fault.message, "witness": fault.witness}


def with_losses(final: Program, refused: Program, original: Scop) -> Program:
    """The final program, whose remarks of refusals say what the first refused program had and this one lacks.

    original: the region as it was written
    """
    statements = set(original.statements)
    before, now = achieved(refused, statements), achieved(final, statements)
    lost = {what: sorted(before[what] - now[what]) for what in before if before[what] - now[what]}
    told = (
        replace(one, data={**one.data, "lost": lost}) if lost and "left_out" in one.data else one
        for one in final.remarks
    )
    return replace(final, remarks=tuple(told))


def not_mapped(program: Program, reason: str, form: bool = False) -> Program:
    """The program with a remark on why its region is no kernel.

    form: the form of its loops is, which other passes leave in another one
    """
    message = f"the region stays on the CPU, as it was written: {reason}"
    data = {"form": reason} if form else {}
    return program.remark(NOT_MAPPED, "codegen", message, tuple(program.scop.statements), left_out=ALL, **data)


def _told(error: Exception) -> str:
    """What went wrong in a pass, with the place in polyc."""
    if isinstance(error, Broken):
        return str(error)
    where = traceback.extract_tb(error.__traceback__)[-1]
    return f"{first_line(error)} ({type(error).__name__} at {Path(where.filename).name}:{where.lineno})"


def first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]
