"""Build the contestants of one pipeline, compare their values, and time them in turn."""

from __future__ import annotations

import os
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from benchmarks.cpu import values
from benchmarks.cpu.execute import Failure, build, command, samples, settings

from .pipelines import CONTESTANTS, EXACT, OPTIMISE, Contestant, Job, compiled, translated

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Entry:
    """A contestant with a number of threads.

    status: "ok", "blank: why", "wrong: …", "fails: …", "timeout 60 s"; only "ok" has samples that count.
    bits: without contraction (Halide: as timed) its values are those of the naive nests to the last bit. error: the
    largest relative error as timed. seconds: for "kept" and "fresh" pages, the median run of each process.
    build_seconds: of each step.
    """

    contestant: str
    threads: int
    status: str = "ok"
    bits: bool | None = None
    error: float | None = None
    seconds: dict[str, list[float]] = field(default_factory=dict)
    build_seconds: dict[str, float] = field(default_factory=dict)

    def time(self, pages: str) -> float | None:
        """The median over the processes, in seconds."""
        runs = self.seconds.get(pages, [])
        return statistics.median(runs) if self.status == "ok" and runs else None


@dataclass(frozen=True, slots=True)
class Plan:
    """threads: for those who use them. limit, build_limit: seconds of a process, of a build's step."""

    threads: tuple[int, ...]
    rounds: int
    limit: float
    build_limit: float
    contestants: tuple[str, ...] = ()

    @property
    def chosen(self) -> list[Contestant]:
        return [c for c in CONTESTANTS if not self.contestants or c.name in self.contestants]


def run(job: Job, plan: Plan, say: Say) -> list[Entry]:
    """All entries of a pipeline in one form; the gcc build of the nests gives the values."""
    gcc = CONTESTANTS[0]
    build(compiled(job, gcc, EXACT), plan.build_limit)
    wanted = arrays_of(job, gcc, 1, 10 * plan.limit)
    made: list[Entry] = []
    for contestant in plan.chosen:
        if not contestant.has(job):
            continue
        counts = plan.threads if contestant.parallel else (1,)
        entry = first(job, contestant, max(counts), wanted, plan)
        if not entry.status.startswith(("ok", "blank")):
            say(f"{job.name} ({job.form}): {contestant.name}: {entry.status}")
        made += [replace(entry, threads=count) for count in counts]
    for _ in range(plan.rounds):
        made = [one_round(entry, job, plan) for entry in made]
    return made


def first(job: Job, contestant: Contestant, threads: int, wanted: values.Arrays, plan: Plan) -> Entry:
    """Compare a contestant's values, exact and as timed, with so many threads. The timed program stays.

    Halide has no flag for the values of C to the last bit: it is compared as timed only.
    """
    entry = Entry(contestant.name, threads)
    missing = contestant.tool(job.tools).missing
    if missing:
        return replace(entry, status=f"blank: {missing}")
    try:
        seconds = build([translated(job)], plan.build_limit).seconds if contestant.polyc else {}
        if not contestant.schedule:
            build(compiled(job, contestant, EXACT), plan.build_limit)
            exact = values.compare(job.name, arrays_of(job, contestant, threads, plan.limit), wanted)
            if not exact.bits:
                return replace(entry, bits=False, status=f"wrong: {exact.worst} is not the same to the last bit")
        seconds = {**seconds, **build(compiled(job, contestant, OPTIMISE), plan.build_limit).seconds}
        outcome = values.compare(job.name, arrays_of(job, contestant, threads, plan.limit), wanted)
    except Failure as failure:
        return replace(entry, status=str(failure))
    status = "ok" if outcome.right else f"wrong: {outcome.worst} off by {outcome.error:.1e}"
    bits = outcome.bits if contestant.schedule else True
    return replace(entry, status=status, bits=bits, error=outcome.error, build_seconds=seconds)


def arrays_of(job: Job, contestant: Contestant, threads: int, limit: float) -> values.Arrays:
    """The live-out arrays of one process with one run."""
    dump = job.folder / "dump"
    variables = {**settings(threads), "BENCH_RUNS": "1", "BENCH_DUMP": str(dump)}
    try:
        command((str(job.program(contestant.name)),), limit, "run", variables)
        return values.read(dump)
    finally:
        dump.unlink(missing_ok=True)


def one_round(entry: Entry, job: Job, plan: Plan) -> Entry:
    """The entry with one more process of each way to treat pages."""
    if entry.status != "ok":
        return entry
    seconds = {pages: list(entry.seconds.get(pages, [])) for pages in job.suite.pages}
    try:
        for pages in job.suite.pages:
            seconds[pages].append(statistics.median(with_pages(job, entry, pages, plan.limit)))
    except Failure as failure:
        return replace(entry, status=str(failure))
    return replace(entry, seconds=seconds)


def with_pages(job: Job, entry: Entry, pages: str, limit: float) -> Sequence[float]:
    """The seconds of a process's runs, the first one left out."""
    before = os.environ.get("BENCH_PAGES")
    os.environ["BENCH_PAGES"] = pages
    try:
        return samples(job.program(entry.contestant), entry.threads, limit)
    finally:
        if before is None:
            del os.environ["BENCH_PAGES"]
        else:
            os.environ["BENCH_PAGES"] = before
