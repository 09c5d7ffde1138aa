"""What stands in the place of a step that failed: the program before it, or one that is right, and a remark why."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import islpy as isl

from polyc.analysis.order import runs
from polyc.bounded import isl_answer, isl_started, within
from polyc.model.program import Pass, Program, Remark
from polyc.model.scop import Scop
from polyc.model.tree import Mark, walk
from polyc.passes.windows import in_strips
from polyc.poly import OverBudget, budget
from polyc.verify import INLINING, RELOCATION, Fault, check
from polyc.verify.expand import buffer_of

OVER_BUDGET = "budget"
"""The kind of a fault that is none: the check did not end."""


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


def last_right(programs: list[Program], finished: Pass, meanwhile: Callable[[], None]) -> tuple[Program, bool]:
    """The last program that the static check accepts. Parallel marks and private copies belong together, so the
    program without them is tried as a whole before passes are taken back one by one.

    finished: the passes that a tree of any earlier one needs before it is printed
    meanwhile: what to do beside the first check, which most often is the only one
    """
    initial, final = programs[0], programs[-1]
    faults = faults_of(final, initial.scop, meanwhile)
    if not faults:
        return final, True
    tried = final
    over = False
    wrong_region = any(fault.kind in (INLINING, RELOCATION) for fault in faults)  # all later programs are orders of it
    for candidate in reversed(programs[1:-1]) if not wrong_region else ():
        if candidate.tree is tried.tree or candidate.tree is initial.tree or (over and candidate.groups):
            continue
        tried = candidate
        remade = declined_at_budget("privatize", finished, candidate)
        if remade.tree is final.tree or in_memory(remade):
            continue
        left = faults_of(remade, initial.scop)
        if not left:
            return with_failure(remade, final, faults), True
        if only_budget(left) and only_budget(faults):
            if over:
                break
            over = True  # a simpler program also takes too long; the next one would too while it has tiles
    # What was written is right by itself.
    return with_failure(initial, final, faults), True


def faults_of(program: Program, original: Scop, meanwhile: Callable[[], None] = lambda: None) -> list[Fault]:
    """What the check finds, in a child process: its operations may take any time."""
    context, operations = program.scop.domain.get_ctx(), 5 * program.operations
    try:
        if operations == 0:
            return check(program, original)
        checking = isl_started(within(context, operations, lambda: check(program, original)))
        try:
            meanwhile()
            return isl_answer(checking)
        finally:
            checking.end()
    except OverBudget:
        return [Fault(OVER_BUDGET, "the check did not end within its budget of isl operations", "")]
    except isl.Error as error:
        return [Fault("isl", f"isl failed in the check ({first_line(error)})", "")]


def only_budget(faults: list[Fault]) -> bool:
    return all(fault.kind == OVER_BUDGET for fault in faults)


def with_failure(program: Program, failed: Program, faults: list[Fault]) -> Program:
    first = faults[0]
    if only_budget(faults):
        message = (
            "checking the optimised program took more isl operations than the budget allows; an earlier form stays"
        )
        told = program.remark("budget", "verify", message)
        return replace(told, remarks=(*(r for r in failed.remarks if r not in told.remarks), *told.remarks))
    told = program.remark(
        "verification-failed",
        "verify",
        f"the static check refused the optimised program ({first.message}); "
        "an earlier, less optimised one that it accepts was printed",
        tuple(program.scop.statements),
        faults=[{"kind": f.kind, "message": f.message, "witness": f.witness} for f in faults],
    )
    kept = [r for r in failed.remarks if r not in program.remarks]
    return replace(told, remarks=(*program.remarks, *kept, told.remarks[-1]))


def of_failure(program: Program) -> tuple[Remark, ...]:
    """What is left to tell of a program that was given up: the remarks of the check."""
    return tuple(remark for remark in program.remarks if remark.stage == "verify")


def not_mapped(program: Program, reason: str) -> Program:
    message = f"the region stays on the CPU, as it was written: {reason}"
    return program.remark("not-mapped", "codegen", message, tuple(program.scop.statements))


def in_memory(program: Program) -> bool:
    """Whether a temporary's new array is needed as a whole: it might be larger than the stack."""
    step = program.relocated
    made = set() if step is None else set(step.after.arrays) - set(step.before.arrays)
    return bool(made) and any(
        access.array in made and buffer_of(program, run, access) is None
        for run in runs(program.tree)
        for access in program.statements[run.statement].accesses
    )


def sliding(program: Program) -> bool:
    return any(buffer.window is not None for buffer in program.buffers.values())


def nearly_as_good(program: Program) -> bool:
    """Whether strips were chosen that save little, of tiles that do without them."""
    return sliding(program) and any(r.code == "cpu-sizes" and "near" in r.data for r in program.remarks)


def stand_still(program: Program) -> bool:
    """Whether tiles whose sizes were chosen for strips are in none."""
    groups = (n for n in walk(program.tree.child) if isinstance(n, Mark) and n.kind == "group" and n.strips)
    return any(not in_strips(group) for group in groups)


def first_line(error: isl.Error) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]
