"""Programs that are mapped to a GPU: every instance runs once, and threads meet wherever they hand on a value.

math: an instance x below a kernel belongs to the block of its block-mapped values and to the thread of its
      thread-mapped ones. Let p be the first step of the paths at which x and y differ, x before y. One of these holds:
        - a thread-mapped loop, or `once`, stands above p: both run in one thread, in their order;
        - p is a mapped loop: `races.py` shows that they touch no cell together;
        - p is a step of a sequence, or a loop that all threads run: x and y touch no cell together with a write,
          or they are of one block, and its threads meet between them: at the start of y's step, or of each iteration.
      A barrier counts only on y's own way: a step that is empty at some sizes takes its barrier with it.
      All threads of a block come to a barrier equally often: none stands where they have parted, below a thread-mapped
      loop or `once`, and none on the host.
      What a block shares is one place in memory for all its tiles: a loop around its declaration needs a barrier.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

import islpy as isl

from polyc.analysis.expand import Expanded
from polyc.analysis.order import Run, parting
from polyc.model.fault import Fault
from polyc.model.fragments import LANES
from polyc.model.program import Program
from polyc.model.scop import Access
from polyc.model.tree import (
    ALL_THREADS,
    BLOCK_AXES,
    GLOBAL_AXES,
    LINEAR,
    PART_AXES,
    THREAD_AXES,
    WARP_AXES,
    Mark,
    Member,
    Path,
    Role,
    Step,
    deals_to_threads,
)
from polyc.poly import out_name
from polyc.records import dataclass
from polyc.verify.order.races import carried_by, conflicts
from polyc.verify.order.reduced import Parts, parts_of

_BLOCKS = (*BLOCK_AXES, *GLOBAL_AXES)
Uses = tuple[Run, tuple[tuple[Access, isl.Map], ...]]


@dataclass(frozen=True, slots=True, eq=False)
class _Kernel:
    mark: Mark
    start: int
    """Steps of the paths above it."""
    uses: tuple[Uses, ...]

    @property
    def single(self) -> bool:
        """Whether a block has one thread, which waits for nobody. There may be many blocks."""
        return prod(self.mark.sizes) == 1


def mapping_faults(program: Program, now: Expanded) -> list[Fault]:
    """What is wrong with the kernels of a program; nothing for one that has none."""
    faults: list[Fault] = []
    kernels: dict[int, _Kernel] = {}
    for run, accesses in now.per_run:
        found = [(m, k) for m, k in zip(run.path.marks, run.path.mark_steps, strict=True) if m.kind == "kernel"]
        outside = found[0][1] if found else len(run.path.steps)
        if any(isinstance(s, Member) and s.mapped for s in run.path.steps[:outside]):
            faults.append(Fault("mapping", f"{run.statement} is mapped outside of a kernel", ""))
        above = run.path.marks[: run.path.marks.index(found[0][0])] if found else run.path.marks
        if any(m.kind == "once" for m in above):
            faults.append(Fault("mapping", f"{run.statement} is left to one thread outside of a kernel", ""))
        if len(found) != 1:
            if found or (program.options.gpu and _mapped_anywhere(now)):
                faults.append(Fault("mapping", f"{run.statement} is in {len(found)} kernels", ""))
            continue
        mark, start = found[0]
        accesses = tuple((a, m) for a, m in accesses if not _in_registers(program, out_name(m)))
        before = kernels.get(id(mark))
        uses = (*(before.uses if before else ()), (run, accesses))
        kernels[id(mark)] = _Kernel(mark, start, uses)
    parts = parts_of(program, now)
    for kernel in kernels.values():
        faults += [
            *_dealt_faults(kernel, parts),
            *_order_faults(program, kernel, parts),
            *_reuse_faults(program, kernel),
        ]
    return [*faults, *_meeting_faults(now)]


def _in_registers(program: Program, array: str) -> bool:
    """Whether a cell is one thread's own (`padding.py` shows it)."""
    buffer = program.buffers.get(array)
    return buffer is not None and buffer.storage == "register"


def _mapped_anywhere(now: Expanded) -> bool:
    return any(m.kind == "kernel" for run in now.runs for m in run.path.marks)


# --- every instance once ---------------------------------------------------------------------------------------------


def _dealt_faults(kernel: _Kernel, parts: Parts) -> Iterator[Fault]:
    """Each path deals its iterations out to the same blocks, and to all threads of a block or to one."""
    blocks: tuple[str, ...] | None = None
    for run, _ in kernel.uses:
        steps = run.path.steps[kernel.start :]
        if any(isinstance(s, Member) and s.mapped == LINEAR and not _counted(steps, k) for k, s in enumerate(steps)):
            yield Fault("mapping", f"a loop around {run.statement} has no index that it is counted in", "")
        if any(isinstance(s, Member) and s.mapped and (s.role is Role.REGISTER or s.stages > 1) for s in steps):
            yield Fault("mapping", f"a loop around {run.statement} is dealt out, and printed as one of each thread", "")
        axes = [s.mapped for s in steps if isinstance(s, Member) and s.mapped not in ("", LINEAR)]
        whole = {a[-1] for a in axes if a in GLOBAL_AXES}
        here = tuple(sorted(a[-1] for a in axes if a in _BLOCKS))
        before = [a[-1] for a in axes if a in PART_AXES]
        if before and not parts.has(run):
            yield Fault("mapping", f"{run.statement} leaves no part of a reduction for another kernel", "")
        if len({*here, *before}) != len(here) + len(before) or (blocks is not None and here != blocks):
            yield Fault("mapping", f"{run.statement} is not dealt out to the blocks as the rest of its kernel is", "")
        blocks = here
        dealt = sorted(a for a in axes if a in (*THREAD_AXES, ALL_THREADS))
        once = _once(run.path, kernel.start) is not None
        square = [*THREAD_AXES] if len(kernel.mark.sizes) > 1 else [ALL_THREADS]
        lanes = [s for s in steps if isinstance(s, Member) and s.mapped in WARP_AXES]
        if lanes and not dealt and lanes_deal_out(lanes, kernel.mark.sizes):
            dealt = square
        elif lanes:
            dealt = [*dealt, *(m.mapped for m in lanes)]
        ways = [
            once and not dealt and not whole,
            not once and not whole and dealt in ([ALL_THREADS], square),
            not once and not dealt and len(whole) == len(kernel.mark.sizes),
        ]
        if sum(ways) != 1 and not (kernel.single and not axes):
            yield Fault("mapping", f"{run.statement} is not dealt out to the threads of a block", ", ".join(axes))


def lanes_deal_out(members: list[Member], sizes: tuple[int, ...]) -> bool:
    """Whether loops that are mapped to warps and lanes are dealt out to all threads of blocks of these sizes."""
    widths = {m.mapped: m.size for m in members}
    warps, lanes = (prod(widths.get(axis, 1) for axis in axes) for axes in (WARP_AXES[:2], WARP_AXES[2:]))
    return len(widths) == len(members) and lanes == LANES and sizes == (LANES, warps)


def _counted(steps: tuple[Step | Member, ...], position: int) -> bool:
    """Whether the step right outside of a loop has the index that it is counted in, or is counted in it too."""
    before = steps[position - 1] if position else None
    return isinstance(before, Member) and before.mapped in (ALL_THREADS, GLOBAL_AXES[0], LINEAR)


def _once(path: Path, start: int) -> int | None:
    """The step at which a mark lets one thread of a block go on alone."""
    for mark, position in zip(path.marks, path.mark_steps, strict=True):
        if mark.kind == "once" and position >= start:
            return position
    return None


def _alone_from(path: Path, start: int) -> int:
    """The first step below which two instances of one iteration belong to one thread: their block is known, too."""
    below = [(k + 1, s.mapped) for k, s in enumerate(path.steps) if k >= start and isinstance(s, Member) and s.mapped]
    blocks = max([k for k, axis in below if axis in _BLOCKS], default=start)
    threads = [k for k, axis in below if axis not in (*BLOCK_AXES, *PART_AXES)]
    once = _once(path, start)
    return max(blocks, min([*threads[-1:], *([] if once is None else [once])], default=len(path.steps)))


# --- order -----------------------------------------------------------------------------------------------------------


def _order_faults(program: Program, kernel: _Kernel, parts: Parts) -> Iterator[Fault]:
    yield from _loop_faults(program, kernel, parts)
    for first, one in enumerate(kernel.uses):
        for two in kernel.uses[first + 1 :]:
            at = parting(one[0].path, two[0].path)
            if at is None or at < kernel.start or at >= _alone_from(one[0].path, kernel.start):
                continue
            earlier, later = (one, two) if _index(one, at) < _index(two, at) else (two, one)
            step = later[0].path.steps[at]
            assert isinstance(step, Step)
            if (step.barrier or kernel.single) and _one_block(one[0].path, kernel.start, at):
                continue
            for array, witness in conflicts(one, two, at, program.scop):
                message = f"no barrier between {earlier[0].statement} and {later[0].statement}, which touch {array}"
                yield Fault("barrier", message, witness)


def _loop_faults(program: Program, kernel: _Kernel, parts: Parts) -> Iterator[Fault]:
    """Loops that all threads of a block run, and that carry a dependence without a barrier."""
    loops: dict[tuple[int, int], list[Uses]] = {}
    members: dict[tuple[int, int], Member] = {}
    for run, accesses in kernel.uses:
        for position in range(kernel.start, min(_alone_from(run.path, kernel.start), len(run.path.steps))):
            step = run.path.steps[position]
            inside = kernel.single or _meets_inside(run.path, position)
            meets = inside and _one_block(run.path, kernel.start, position)
            if isinstance(step, Member) and not step.mapped and not meets:
                shared = tuple((a, m) for a, m in accesses if not parts.private(run, a, position))
                loops.setdefault((id(step), position), []).append((run, shared))
                members[id(step), position] = step
    for key, below in loops.items():
        for array, witness in carried_by(below, key[1], program.scop):
            yield Fault("barrier", f"no barrier in the loop {members[key].name}, which carries {array}", witness)


def _meeting_faults(now: Expanded) -> Iterator[Fault]:
    """Barriers that not all threads of a block come to, and barriers of the host."""
    for run in now.runs:
        path = run.path
        start = next((k for m, k in zip(path.marks, path.mark_steps, strict=True) if m.kind == "kernel"), None)
        inside = len(path.steps) if start is None else start
        if any(step.barrier for step in path.steps[:inside]):
            yield Fault("barrier", f"the host comes to a barrier on the way to {run.statement}", "")
        if start is not None and any(step.barrier for step in path.steps[_parted_from(path, start) :]):
            yield Fault("barrier", f"not all threads of a block come to a barrier on the way to {run.statement}", "")


def _parted_from(path: Path, start: int) -> int:
    """The first step that threads of a block do not run together."""
    dealt = [k for k, s in enumerate(path.steps) if k >= start and isinstance(s, Member) and deals_to_threads(s)]
    once = _once(path, start)
    return min([*dealt, *([] if once is None else [once])], default=len(path.steps))


def _one_block(path: Path, start: int, at: int) -> bool:
    """Whether instances that agree in the steps before `at` belong to one block: others do not wait for each other."""
    axes = [k for k, s in enumerate(path.steps) if k >= start and isinstance(s, Member) and s.mapped in _BLOCKS]
    return all(k < at for k in axes)


def _meets_inside(path: Path, position: int) -> bool:
    """Whether the threads meet at the start of each iteration: of the loop, or of one right inside of it."""
    for step in path.steps[position:]:
        if not isinstance(step, Member):
            return False
        if step.barrier:
            return True
        if step.mapped:
            return False
    return False


def _reuse_faults(program: Program, kernel: _Kernel) -> Iterator[Fault]:
    """Shared arrays that a next iteration overwrites while a thread still reads them."""
    if kernel.single:
        return
    seen: set[str] = set()
    for run, _ in kernel.uses:
        for mark, position in zip(run.path.marks, run.path.mark_steps, strict=True):
            shared = kernel.start <= position < _alone_from(run.path, kernel.start)
            own = {n for n in mark.names if _in_registers(program, n)}
            if mark.kind != "allocate" or not shared or set(mark.names) <= seen | own:
                continue
            seen |= set(mark.names)
            around = [s for s in run.path.steps[kernel.start : position] if isinstance(s, Member)]
            if around and not around[-1].barrier:
                names = ", ".join(program.buffers[n].name for n in mark.names)
                yield Fault("barrier", f"no barrier in the loop {around[-1].name} around {names}", "")


def _index(uses: Uses, position: int) -> int:
    step = uses[0].path.steps[position]
    assert isinstance(step, Step)
    return step.index
