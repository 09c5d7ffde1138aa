"""A process a file, with limits on time and memory: what a file does to one of them harms no other."""

from __future__ import annotations

import multiprocessing as mp
import os
import signal
import sys
import time
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path

from tests.limits import more_memory_at_most
from tests.peers.one import compile_file
from tests.peers.outcome import BUG, Outcome, Settings

DEEPEST_NESTING = 20_000
"""As the command line sets it."""


@dataclass(slots=True)
class Job:
    name: str
    mode: str
    process: BaseProcess
    answers: Connection
    start: float
    verify: bool
    """Whether its regions are run."""
    whole: bool
    """Whether the whole program is run."""
    outcome: Outcome | None = None


def outcomes(
    files: list[Path], folder: Path, settings: Settings, jobs: int, modes: Sequence[str] = ("default",)
) -> list[Outcome]:
    """The outcome of each file in each mode, in the order of the files."""
    every = [(file, mode) for file in files for mode in modes]
    waiting = list(reversed(every))
    running: list[Job] = []
    found: dict[tuple[str, str], Outcome] = {}
    while waiting or running:
        while waiting and len(running) < jobs:
            file, mode = waiting.pop()
            running.append(started(file, file.relative_to(folder).as_posix(), replace(settings, mode=mode)))
        ready = set(wait([job.answers for job in running], timeout=0.5))
        for job in list(running):
            ended = receive(job) if job.answers in ready else False
            late = time.monotonic() - job.start > settings.seconds
            if not (ended or late):
                continue
            if not ended:
                end(job)
            job.process.join()
            running.remove(job)
            found[job.name, job.mode] = final(job, late and not ended)
            show(len(found), len(every))
    show(0, 0)
    return [found[file.relative_to(folder).as_posix(), mode] for file, mode in every]


def started(file: Path, name: str, settings: Settings) -> Job:
    answers, ours = mp.Pipe(duplex=False)
    process = mp.get_context("fork").Process(target=work, args=(file, name, settings, ours))
    process.start()
    ours.close()
    return Job(name, settings.mode, process, answers, time.monotonic(), settings.verify, settings.run)


def end(job: Job) -> None:
    """End the process, and what it started."""
    assert job.process.pid is not None
    try:
        os.killpg(job.process.pid, signal.SIGKILL)
    except ProcessLookupError:
        job.process.kill()  # it has no group of its own yet


def work(file: Path, name: str, settings: Settings, answers: Connection) -> None:
    """What the process does: a group of its own, the limits, and the file."""
    os.setpgid(0, 0)
    sys.setrecursionlimit(DEEPEST_NESTING)
    with more_memory_at_most(settings.memory_mib << 20) if settings.memory_mib else nullcontext():
        compile_file(file, name, settings, answers.send)


def receive(job: Job) -> bool:
    """Take an answer; True when there will be no more."""
    try:
        outcome: Outcome = job.answers.recv()
    except EOFError:
        return True
    if job.outcome is None:
        outcome = replace(outcome, seconds=round(time.monotonic() - job.start, 2))
        job.start = time.monotonic()  # what it takes to run is another matter
    else:
        outcome = replace(outcome, seconds=job.outcome.seconds)
    job.outcome = outcome
    return False


def final(job: Job, late: bool) -> Outcome:
    """The outcome of a process that ended or was ended."""
    known = job.outcome
    if known is None:
        code = job.process.exitcode
        problem = "takes too long to compile" if late else f"the process died with {code}"
        return Outcome(job.name, BUG, problem, mode=job.mode)
    if late or job.process.exitcode != 0:
        reason = "takes too long" if late else "the run died"
        runs = known.runs or (f"not run: {reason}",) * (known.regions * job.verify)
        return replace(
            known, runs=runs, output=f"not run: {reason}" if job.whole and not known.output else known.output
        )
    return known


def show(done: int, total: int) -> None:
    """How far we are, on a terminal."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r{done}/{total}" if total else "\r\033[K")
        sys.stderr.flush()
