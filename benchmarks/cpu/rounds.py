"""All contestants of one kernel: built once, their values compared, then timed in turn, round after round."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from . import values
from .contestants import CONTESTANTS, Contestant, Job, reference
from .execute import Built, Failure, build, samples
from .kernels import Kernel
from .results import Entry, KernelResult
from .tools import Tools

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Plan:
    """How a run is done.

    threads: numbers of threads for those who use them. limit, build_limit: seconds of a process, of a build's step.
    budget: seconds for the timing of one kernel; once spent, no further round begins.
    """

    dataset: str
    element: str
    threads: tuple[int, ...]
    rounds: int
    limit: float
    build_limit: float
    budget: float
    contestants: tuple[str, ...]
    polyc_options: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()

    @property
    def chosen(self) -> list[Contestant]:
        return [c for c in CONTESTANTS if not self.contestants or c.name in self.contestants]


def run(kernel: Kernel, plan: Plan, tools: Tools, folder: Path, say: Say) -> KernelResult:
    """Build, compare and time one kernel. `folder` is the run's own and is emptied of this kernel at the end."""
    load = os.getloadavg()[0]
    job = Job(kernel, plan.dataset, plan.element, folder / kernel.name / "reference", tools, flags=plan.flags,
              polyc_options=plan.polyc_options)  # fmt: skip
    try:
        wanted = reference_values(job, plan)
        programs = {c.name: built(c, job, plan, say) for c in plan.chosen}
        found = [first(entry, job_of(job, entry.contestant), plan, wanted) for entry in entries(plan, programs)]
        found = timed(found, job, plan)
    finally:
        shutil.rmtree(folder / kernel.name, ignore_errors=True)
    sizes, flops = kernel.sizes(plan.dataset), kernel.operations(plan.dataset)
    traffic = kernel.traffic_bytes(plan.dataset, plan.element)
    element = "float" if kernel.bytes_each == 4 else plan.element
    return KernelResult(kernel.name, sizes, flops, traffic, element, load, found)


def job_of(job: Job, contestant: str) -> Job:
    return replace(job, folder=job.folder.parent / contestant)


def reference_values(job: Job, plan: Plan) -> values.Arrays:
    """The right arrays. A kernel without them cannot be run: that is an error of the harness, and ends the run."""
    job.folder.mkdir(parents=True)
    build(reference(job), plan.build_limit)
    return arrays_of(job, 1, 10 * plan.limit)[1]


def arrays_of(job: Job, threads: int, limit: float) -> tuple[list[float], values.Arrays]:
    """A process's samples and arrays."""
    dump = job.folder / "dump"
    try:
        runs = samples(job.program, threads, limit, dump)
        return runs, values.read(dump)
    finally:
        dump.unlink(missing_ok=True)


def built(contestant: Contestant, job: Job, plan: Plan, say: Say) -> Built | str:
    """Build a contestant's program; a text is the reason why there is none."""
    mine = job_of(job, contestant.name)
    missing = contestant.tool(job.tools).missing
    if missing:
        return f"blank: {missing}"
    if contestant.kernels and job.kernel.name not in contestant.kernels:
        return "blank: has no such kernel"
    if plan.element == "float" and not job.kernel.float_type:
        return "blank: integers"
    mine.folder.mkdir(parents=True)
    try:
        return build(contestant.steps(mine), plan.build_limit)
    except Failure as failure:
        say(f"{job.kernel.name}: {contestant.name}: {failure}")
        return str(failure)


def entries(plan: Plan, programs: dict[str, Built | str]) -> list[Entry]:
    """One entry for each contestant and number of threads, not run yet."""
    made: list[Entry] = []
    for contestant in plan.chosen:
        program = programs[contestant.name]
        status, seconds = (program, {}) if isinstance(program, str) else ("ok", program.seconds)
        counts = plan.threads if contestant.parallel else (1,)
        made += [Entry(contestant.name, threads, status, build_seconds=seconds) for threads in counts]
    return made


def first(entry: Entry, job: Job, plan: Plan, wanted: values.Arrays) -> Entry:
    """The entry after its first process, whose values are compared and whose times are the first round's."""
    if entry.status != "ok":
        return entry
    try:
        runs, arrays = arrays_of(job, entry.threads, plan.limit)
    except Failure as failure:
        return replace(entry, status=str(failure))
    outcome = values.compare(job.kernel.name, arrays, wanted)
    status = "ok" if outcome.right else f"wrong: {outcome.worst} off by {outcome.error:.1e}"
    return replace(entry, status=status, rounds=[runs], error=outcome.error, bits=outcome.bits)


def timed(found: Sequence[Entry], job: Job, plan: Plan) -> list[Entry]:
    """More rounds, each contestant in turn, as long as the kernel's budget lasts."""
    now = list(found)
    start = time.monotonic()
    for _ in range(plan.rounds - 1):
        if time.monotonic() - start > plan.budget:
            break
        for place, entry in enumerate(now):
            if entry.status != "ok":
                continue
            try:
                runs = samples(job_of(job, entry.contestant).program, entry.threads, plan.limit)
                now[place] = replace(entry, rounds=[*entry.rounds, runs])
            except Failure as failure:
                now[place] = replace(entry, status=str(failure))
    return now
