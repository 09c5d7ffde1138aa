"""Long runs: batches of cases in worker processes, which may hang or die without ending the run."""

from __future__ import annotations

import multiprocessing as mp
import re
import signal
import tempfile
import threading
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path

from tests.fuzz.case import (
    LIMIT_SECONDS,
    Case,
    Outcome,
    as_built,
    build_of,
    check,
    command,
    numbered_case,
    set_limit,
    source_text,
)
from tests.fuzz.model import Run

BATCH = 20
BATCHES_A_WORKER = 20
"""A worker is replaced after so many, so that what leaks does not add up."""
SPAWN = mp.get_context("spawn")


def work(pipe: Connection, limit_seconds: int) -> None:
    """The life of a worker: cases in, the number of the one at hand and the outcomes out."""
    set_limit(limit_seconds)
    with tempfile.TemporaryDirectory(prefix="polyc-fuzz-") as folder:
        while (cases := pipe.recv()) is not None:
            try:
                outcomes = check(cases, Path(folder), lambda number: pipe.send(number))
            except Exception as error:
                outcomes = [Outcome(case.name, [("harness", repr(error))]) for case in cases]
            pipe.send(outcomes)


class Worker:
    """A process that checks cases, and the one that replaces it when it dies."""

    def __init__(self, limit_seconds: int = LIMIT_SECONDS) -> None:
        self.limit_seconds = limit_seconds
        self.start()

    def start(self) -> None:
        self.pipe, other = SPAWN.Pipe()
        self.process = SPAWN.Process(target=work, args=(other, self.limit_seconds), daemon=True)
        self.process.start()
        other.close()
        self.batches = 0

    def stop(self) -> None:
        self.pipe.send(None)
        self.process.join()

    def check(self, cases: list[Case]) -> list[Outcome]:
        """The outcome of each case; one on which the process dies has a fault that says so."""
        if self.batches >= BATCHES_A_WORKER:
            self.stop()
            self.start()
        self.batches += 1
        rest = list(cases)
        outcomes: list[Outcome] = []
        while rest:
            at = 0
            self.pipe.send(rest)
            try:
                while isinstance(answer := self.pipe.recv(), int):
                    at = answer
                return [*outcomes, *answer]
            except EOFError:
                self.process.join()
                code = self.process.exitcode
                kind = "hang" if code == -signal.SIGPROF else "died"
                outcomes.append(Outcome(rest[at].name, [(kind, f"polyc ended with {code}")]))
                del rest[at]
                self.start()
        return outcomes


def outcomes_of(seed: int, first: int, count: int, jobs: int, targets: str = "cpu") -> Iterator[Outcome]:
    """Check the cases first .. first + count - 1 in `jobs` processes; the outcomes as they come."""
    batches = iter(range(first, first + count, BATCH))
    lock, found, ended = threading.Lock(), [], threading.Semaphore(0)

    def serve() -> None:
        worker = Worker()
        while True:
            with lock:
                start = next(batches, None)
            if start is None:
                break
            numbers = range(start, min(start + BATCH, first + count))
            build = build_of(start // BATCH, targets)
            result = worker.check([as_built(numbered_case(seed, number, BATCH), build) for number in numbers])
            with lock:
                found.append(result)
            ended.release()
        worker.stop()
        ended.release()

    threads = [threading.Thread(target=serve, daemon=True) for _ in range(jobs)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads) or found:
        ended.acquire(timeout=1)
        while found:
            with lock:
                result = found.pop(0)
            yield from result


def key(fault: tuple[str, str]) -> str:
    """What faults of one cause have in common: the kind, and the last words without names and numbers."""
    kind, detail = fault
    if kind in ("internal-error", "harness"):
        lines = detail.strip().splitlines()
        places = [line for line in lines if "polyc/" in line]
        detail = f"{places[-1].strip() if places else ''} {lines[-1]}"
    elif kind == "undefined-behaviour":
        detail = re.sub(r"^.*runtime error: ", "", detail.splitlines()[0])
    elif kind == "warning":
        detail = detail.split(":")[0]
    elif kind in ("verification-failed", "not-printed", "pass-failed"):
        detail = re.sub(r"\b[A-Z]\d+\b", "X", detail.partition(": ")[2])
    elif kind == "wrong-result":
        detail = "nan or infinite" if re.search(r"result -?(nan|inf)", detail) else ""
    elif kind != "refused":
        detail = ""
    return f"{kind} {re.sub(r'[0-9]+', 'N', detail)}".strip()[:200]


def stored(case: Case, outcome: Outcome) -> str:
    """A failing case as a file."""
    detail = "\n".join(f"{kind}: {short(detail)}" for kind, detail in outcome.faults).replace("*/", "* /")
    runs = "; ".join(map(described, case.program.runs))
    head = f"{case.name}, built for {case.build}, at {runs or 'constant sizes'}\n   {command(case)}\n{detail}"
    return f"/* {head}\n*/\n{source_text(case)}"


def described(run: Run) -> str:
    """Sizes, and what else is special of a run."""
    words = [f"{name} = {value}" for name, value in run.sizes]
    words += [f"{place.array} on {place.on} ({place.shift})" for place in run.placed]
    words += [f"{run.calls} calls"] * (run.calls > 1) + ["no memory"] * run.starved
    return ", ".join(words)


def short(detail: str) -> str:
    """The last lines of a traceback, the first ones of what a sanitizer says."""
    lines = [line for line in detail.splitlines() if line.strip(" ^~=")]
    return "\n".join(lines[-5:] if lines and lines[0].startswith("Traceback") else lines[:40])
