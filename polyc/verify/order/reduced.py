"""Cells into which the threads of a GPU's kernel combine parts of their own, below a mark `reduce`.

What is printed of such a mark: each thread starts with the operator's neutral element in a variable of its own,
combines into it what the band deals out to it, and then the parts of all threads are combined into the cell. So below
the mark no thread touches what another one does, if
  - reassociation is allowed, or the array has whole numbers, whose bits no order changes, and the band's members name
    the array and its operator;
  - every statement below that touches the array only combines a value into it, by that operator;
  - or the array belongs to a record, whose own order the iterations decide: every statement below that touches one of
    its arrays runs in each iteration in which another one does, the one that changes the record itself at the end;
  - it is one cell for each iteration of the steps above the mark;
  - all threads of a block come to the mark, and to its end, together: nothing above it is dealt out to threads;
  - where blocks share the loops below, it is all that its kernel does: the cell belongs to a second kernel then.

A thread may also have a cell to itself, of which blocks of a kernel that runs before leave parts (PART_AXES). What is
below the mark runs before all else in its kernel then, but for the last step, which combines these parts. So
  - the kernel has no other such mark, and only loops over cells stand above it;
  - nothing else in the kernel writes what is read below the mark, or touches what is written there, but for the cells;
  - a part starts with a number, and not with the cell, unless nothing else in the kernel writes that.
"""

from __future__ import annotations

import islpy as isl

from polyc.analysis.expand import Expanded
from polyc.analysis.expressions.records import record_of, records_of
from polyc.analysis.expressions.updates import any_order, only_combines
from polyc.analysis.order import Run
from polyc.model.program import Program
from polyc.model.scop import Access, AccessKind
from polyc.model.tree import BLOCK_AXES, GLOBAL_AXES, PART_AXES, Member, Path, Step, deals_to_threads
from polyc.poly import empty_map, same_relation
from polyc.records import dataclass, field

_STARTS = ("+", "*", "&", "|", "^")
"""Operators that leave any value as it is beside some number."""
_ANY, _WRITES = (True, False), (True,)


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """For each run, the arrays of which its threads have parts of their own, from which step on."""

    steps: dict[tuple[int, str], int] = field(default_factory=dict)
    """(the run's identity, array) -> position of the mark among the steps."""

    def private(self, run: Run, access: Access, position: int) -> bool:
        """Whether the access goes to a thread's own part, for a loop or parting at a position of the path."""
        start = self.steps.get((id(run), access.array))
        return start is not None and start <= position

    def has(self, run: Run) -> bool:
        """Whether a thread has a part of its own of some array there."""
        return any(identity == id(run) for identity, _ in self.steps)


def parts_of(program: Program, now: Expanded) -> Parts:
    """The arrays that threads may combine in any order."""
    found = Parts()
    below: dict[tuple[int, int], list[tuple[Run, tuple[tuple[Access, isl.Map], ...]]]] = {}
    for run, accesses in now.per_run:
        marks = [(m, k) for m, k in zip(run.path.marks, run.path.mark_steps, strict=True) if m.kind == "reduce"]
        if len(marks) == 1:
            below.setdefault((id(marks[0][0]), marks[0][1]), []).append((run, accesses))
    for (_, position), uses in below.items():
        path = uses[0][0].path
        first = path.steps[position] if position < len(path.steps) else None
        by_threads = all(_meets(run.path, position) for run, _ in uses)
        if not isinstance(first, Member) or not (by_threads or _leaves_parts(uses, position, first, now)):
            continue
        named = [array for _, array in first.reductions]
        records = _records(first.reductions, [run for run, _ in uses], position, program)
        for operator, array in first.reductions:
            if named.count(array) > 1:
                continue  # each would have parts of its own, and both would be combined
            if (operator, array) in records and _one_cell(array, uses, position, program):
                found.steps.update({(id(run), array): position for run, _ in uses})
                continue
            if not (program.options.reassociate or any_order(operator, array, program.scop)):
                continue
            if _one_cell(array, uses, position, program) and all(
                only_combines(program.statements[run.statement], operator, array, program.scop.arrays)
                for run, accesses in uses
                if any(a.array == array for a, _ in accesses)
            ):
                found.steps.update({(id(run), array): position for run, _ in uses})
    return found


def _records(
    reductions: tuple[tuple[str, str], ...], runs: list[Run], position: int, program: Program
) -> set[tuple[str, str]]:
    """Those of a mark's arrays and operators that are records as the statements below keep them, each as a whole."""
    statements = [program.statements[run.statement] for run in runs]
    if len({s.name for s in statements}) < len(statements):
        return set()
    found = records_of(statements, program.scop.arrays)
    by_name = {run.statement: run for run in runs}
    whole: set[tuple[str, str]] = set()
    for own in {record_of(array, operator) for array, (operator, _) in found.items()}:
        cells = {(op, a): by_name[s.name] for a, (op, s) in found.items() if record_of(a, op) == own}
        last = by_name[found[own][1].name]
        if cells.keys() <= set(reductions) and all(_runs_with(run, last, position) for run in cells.values()):
            whole |= cells.keys()
    return whole


def _runs_with(run: Run, last: Run, position: int) -> bool:
    """Whether a statement runs once in each iteration of the loops in which another one does, before it if at all."""
    one, other = run.path.steps, last.path.steps
    loops = [k for k, step in enumerate(other) if isinstance(step, Member)]
    inside = {step.reductions if isinstance(step, Member) else () for step in other[position : loops[-1] + 1]}
    if len(inside) > 1 or () in inside or one[: loops[-1] + 1] != other[: loops[-1] + 1]:
        return False
    behind, before = ([s.index if isinstance(s, Step) else -1 for s in p[loops[-1] + 1 :]] for p in (other, one))
    if len(before) != len(behind) or before > behind or -1 in before:
        return False
    times = [r.prefix(len(loops)).set_tuple_name(isl.dim_type.in_, "") for r in (run, last)]
    return bool(times[1].is_injective()) and same_relation(*times)


def _meets(path: Path, position: int) -> bool:
    """Whether all threads of a block come to the mark together, and no other block has a part where it is not the whole
    kernel, whose blocks have a bound: there is room for a part of each."""
    found = [(m, k) for m, k in zip(path.marks, path.mark_steps, strict=True) if m.kind == "kernel"]
    if len(found) != 1 or found[0][1] > position:
        return False
    kernel, start = found[0]
    if any(m.kind == "once" for m in path.marks):
        return False
    above = path.steps[start:position]
    if any(isinstance(s, Member) and deals_to_threads(s) for s in above):
        return False
    blocks = (*BLOCK_AXES, *GLOBAL_AXES)
    shared = any(isinstance(s, Member) and s.mapped in blocks for s in path.steps[position:])
    return not shared or (start == position and kernel.blocks > 0)


def _leaves_parts(
    uses: list[tuple[Run, tuple[tuple[Access, isl.Map], ...]]], position: int, first: Member, now: Expanded
) -> bool:
    """Whether blocks of a kernel before may run what is below a mark, for threads that have a cell each."""
    path = uses[0][0].path
    found = [(m, k) for m, k in zip(path.marks, path.mark_steps, strict=True) if m.kind == "kernel"]
    if len(found) != 1 or found[0][1] > position or not found[0][0].blocks:
        return False
    kernel, start = found[0]
    above, inside = path.steps[start:position], {id(run) for run, _ in uses}
    loops = [s for s in above if isinstance(s, Member)]
    if len(above) - len(loops) > 1 or not all(s.mapped in (GLOBAL_AXES[0], BLOCK_AXES[1]) for s in loops):
        return False
    for run, _ in uses:
        below = {s.mapped for s in run.path.steps[position:] if isinstance(s, Member)}
        if not below <= {"", *PART_AXES} or any(m.kind == "once" for m in run.path.marks):
            return False
    beside = [(run, found) for run, found in now.per_run if kernel in run.path.marks and id(run) not in inside]
    if any(m.kind == "reduce" for run, _ in beside for m in run.path.marks):
        return False
    cells = {array: operator for operator, array in first.reductions}
    read, written = (
        {a.array for _, found in uses for a, _ in found if _writes(a) in kinds} for kinds in (_ANY, _WRITES)
    )
    others, changed = (
        {a.array for _, found in beside for a, _ in found if _writes(a) in kinds} for kinds in (_ANY, _WRITES)
    )
    started = {array for array, operator in cells.items() if operator not in _STARTS}
    return not ((read - cells.keys()) & changed or (written - cells.keys()) & others or started & changed)


def _writes(access: Access) -> bool:
    return access.kind is not AccessKind.READ


def _one_cell(
    array: str, uses: list[tuple[Run, tuple[tuple[Access, isl.Map], ...]]], position: int, program: Program
) -> bool:
    """Whether the array has one cell below the mark, in each iteration of the steps above."""
    found = empty_map(program.scop.domain)
    for run, accesses in uses:
        for access, relation in accesses:
            if access.array == array:
                found = found.union(isl.UnionMap.from_map(run.beside(relation, position).range().unwrap()))
    return found.is_single_valued()
