"""polyc's own sizes against all of a grid, over the same code shape: only `--sizes` differs.

A kernel has sizes of the kinds that `polyc explain` names: register tiles, time tiles, blocks, and so on. The grid has
all vectors of each kind, the other kinds being as polyc chose them. Every candidate is built, its values are compared
and it runs in one process; the best few and polyc's own choice then run in turn for some rounds. What counts is the
share: the best time of the grid over the time of polyc's own choice.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import shutil
import statistics
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from . import rounds, values
from .contestants import INCLUDES, Job, polyc, polyc_gcc
from .execute import ENOUGH_SECONDS, Failure, build, command, samples
from .kernels import Kernel
from .tools import Tools

OWN = "own"
Axes = tuple[tuple[int, ...], ...]
COARSE: dict[str, tuple[Axes, ...]] = {
    "tiles": (((8, 16, 32, 64, 128, 256, 512, 1024),), ((8, 32, 128), (32, 128, 512)), ((8, 32), (8, 32), (32, 128))),
    "register-tiles": (((64, 128, 256), (576, 2304), (128, 256, 384)),),
    "row-blocks": (((4, 8, 16, 32, 64, 128, 256),),),
    "blocks": (((24, 48, 96, 144, 192),),),
    "time-tiles": (((8, 16, 24, 32, 48, 64, 96, 128),), ((4, 8, 16, 32), (4, 8, 16, 32, 64))),
}
"""The values of each loop, by kind, for vectors of one size, of two, and so on, as long as polyc's own."""
FINE: dict[str, tuple[Axes, ...]] = COARSE | {
    "tiles": (
        ((4, 8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 512, 1024, 2048),),
        ((4, 8, 16, 32, 64, 128, 256), (16, 32, 64, 128, 256, 512, 1024)),
        ((4, 8, 16, 32, 64), (4, 8, 16, 32, 64), (16, 32, 64, 128, 256)),
    ),
    "register-tiles": (((32, 64, 96, 128, 192, 256, 384, 512), (192, 576, 1152, 2304), (64, 128, 192, 256, 384, 512)),),
}
NAMES = {
    "cpu-sizes": ("tiles", "sizes"),
    "register-tile": ("register-tiles", "tile"),
    "row-blocks": ("row-blocks", "sizes"),
    "blocked": ("blocks", "steps"),
    "time-tiled": ("time-tiles", "sizes"),
}
"""The remarks that tell sizes: of which kind, and under which name."""
FINALISTS = 5
SLOW = 4.0
"""A candidate that takes so many times as long as polyc's own choice is ended: it is not the best."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """Sizes as `--sizes` has them, or OWN; status as in results.Entry, or 'same as SIZES'; seconds by round."""

    sizes: str
    status: str
    seconds: list[float] = field(default_factory=list)

    @property
    def median(self) -> float:
        return statistics.median(self.seconds) if self.status == "ok" else float("inf")


@dataclass(frozen=True, slots=True)
class Sweep:
    """own_sizes: what polyc chose, for each kind and nest. share: the grid's best time over that of polyc's."""

    kernel: str
    dataset: str
    element: str
    threads: int
    own_sizes: dict[str, list[list[int]]]
    candidates: list[Candidate]

    @property
    def own(self) -> Candidate:
        return next(c for c in self.candidates if c.sizes == OWN)

    @property
    def best(self) -> Candidate:
        """The fastest of those that ran all rounds, polyc's own among them."""
        rounds_run = max(len(c.seconds) for c in self.candidates)
        return min((c for c in self.candidates if len(c.seconds) == rounds_run), key=lambda c: c.median)

    @property
    def share(self) -> float:
        return self.best.median / self.own.median

    def save(self, path: Path) -> None:
        path.write_text(json.dumps({**asdict(self), "share": self.share}, indent=1) + "\n")


def own_sizes(job: Job) -> dict[str, list[list[int]]]:
    """The sizes that polyc chooses, for each kind and nest."""
    argv = (sys.executable, "-m", "polyc", "explain", str(job.source), *INCLUDES, *job.defines, *job.polyc_options)
    scops = json.loads(command((*argv, "--format", "json"), 300.0, "polyc explain"))["scops"]
    found: dict[str, list[list[int]]] = {}
    for remark in (remark for scop in scops for remark in scop["remarks"] if remark["code"] in NAMES):
        kind, name = NAMES[remark["code"]]
        sizes = remark["data"].get(name, [])
        found.setdefault(kind, []).append(sizes if isinstance(sizes, list) else [sizes])
    return found


def grid(own: dict[str, list[list[int]]], axes: dict[str, tuple[Axes, ...]]) -> list[str]:
    """All vectors of each kind. Where polyc has no sizes there is none."""
    found = []
    for kind, vectors in own.items():
        longest = max(map(len, vectors))
        for values_of in axes[kind]:
            if len(values_of) <= longest or len(axes[kind]) == 1:
                found += [f"{kind}={','.join(map(str, vector))}" for vector in itertools.product(*values_of)]
    return found


def sweep(kernel: Kernel, plan: rounds.Plan, tools: Tools, axes: dict[str, tuple[Axes, ...]], folder: Path,
          say: Callable[[str], None]) -> Sweep:  # fmt: skip
    """Run the whole grid for one kernel, with the last number of threads of the plan."""
    threads = plan.threads[-1]
    job = Job(kernel, plan.dataset, plan.element, folder / kernel.name / "reference", tools, plan.polyc_options,
              plan.flags)  # fmt: skip
    try:
        wanted = rounds.reference_values(job, plan)
        chosen = own_sizes(job)
        runner = Runner(plan, threads, wanted, {})
        tried = [runner.first(job, OWN, plan.limit)]
        if tried[0].status != "ok":
            raise Failure(f"{kernel.name}: polyc's own choice: {tried[0].status}")
        limit = SLOW * (tried[0].median + ENOUGH_SECONDS)  # a process runs a short kernel several times
        every = grid(chosen, axes)
        for place, vector in enumerate(every):
            tried.append(runner.first(job, vector, min(limit, plan.limit)))
            say(f"{kernel.name} {place + 1}/{len(every)}: {vector}: {told(tried[-1])}")
        return Sweep(kernel.name, plan.dataset, plan.element, threads, chosen, finals(tried, job, plan, threads))
    finally:
        shutil.rmtree(folder / kernel.name, ignore_errors=True)


@dataclass(frozen=True, slots=True)
class Runner:
    """Builds and runs candidates once; `seen` maps a digest of a printed text to the sizes that led to it first."""

    plan: rounds.Plan
    threads: int
    wanted: values.Arrays
    seen: dict[str, str]

    def first(self, job: Job, sizes: str, limit: float) -> Candidate:
        mine = candidate_job(job, sizes)
        mine.folder.mkdir(parents=True)
        try:
            build([polyc(mine)], self.plan.build_limit)
            text = hashlib.sha256(mine.transformed.read_bytes()).hexdigest()
            if text in self.seen:
                shutil.rmtree(mine.folder)
                return Candidate(sizes, f"same as {self.seen[text]}")
            self.seen[text] = sizes
            build(polyc_gcc(mine)[1:], self.plan.build_limit)
            runs, arrays = rounds.arrays_of(mine, self.threads, limit)
        except Failure as failure:
            return Candidate(sizes, str(failure))
        outcome = values.compare(job.kernel.name, arrays, self.wanted)
        status = "ok" if outcome.right else f"wrong: {outcome.worst} off by {outcome.error:.1e}"
        return Candidate(sizes, status, [statistics.median(runs)])


def candidate_job(job: Job, sizes: str) -> Job:
    options = job.polyc_options if sizes == OWN else (*job.polyc_options, "--sizes", sizes)
    return replace(job, folder=job.folder.parent / f"sizes-{sizes}", polyc_options=options)


def finals(tried: list[Candidate], job: Job, plan: rounds.Plan, threads: int) -> list[Candidate]:
    """The best few and polyc's own choice, timed in turn; the others as they were."""
    order = sorted((c for c in tried if c.status == "ok"), key=lambda c: c.median)
    chosen = {c.sizes for c in order[:FINALISTS]} | {OWN}
    now = {c.sizes: c for c in tried}
    for _ in range(plan.rounds - 1):
        for sizes in chosen:
            runs = samples(candidate_job(job, sizes).program, threads, plan.limit)
            now[sizes] = replace(now[sizes], seconds=[*now[sizes].seconds, statistics.median(runs)])
    return list(now.values())


def told(candidate: Candidate) -> str:
    return f"{candidate.median:.5f} s" if candidate.status == "ok" else candidate.status


def lines(found: Sweep) -> list[str]:
    """What a person wants to know of it."""
    different = sum(c.status == "ok" for c in found.candidates)
    chosen = {kind: " ".join(",".join(map(str, one)) for one in sizes) for kind, sizes in found.own_sizes.items()}
    own = "; ".join(f"{kind} {sizes}" for kind, sizes in chosen.items())
    threads = f"{found.threads} thread{'s' if found.threads > 1 else ''}"
    heads = [
        f"{found.kernel}, {found.dataset}, {found.element}, {threads}: {len(found.candidates) - 1} vectors, "
        f"{different} different programs that ran",
        f"  polyc's own choice ({own or 'no sizes'}): {found.own.median:.5f} s",
    ]
    finalists = sorted((c for c in found.candidates if len(c.seconds) > 1), key=lambda c: c.median)
    body = [f"  {c.sizes}: {c.median:.5f} s" for c in finalists or [found.best] if c.sizes != OWN]
    wrong = [f"  {c.sizes}: {c.status}" for c in found.candidates if c.status.startswith(("wrong", "fails"))]
    return [*heads, *body, *wrong, f"  share reached: {found.share:.0%}"]
