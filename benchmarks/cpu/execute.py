"""Commands of a build, and one process of a built program."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .contestants import Step
from .kernels import ROOT

WARM = 5
"""Runs of a short kernel in one process, the first of them to warm up."""
LAUNCHER = "BENCH_LAUNCHER"
"""The environment's name for what each timed process is started with: `taskset -c 2,3`, or `nice -n -5`."""
ENOUGH_SECONDS = 1.0
"""No further run in a process once its runs took so long together: a long kernel runs once, cold."""


class Failure(Exception):
    """A command that did not do its work. The text is what stands in the results: 'fails: …' or 'timeout 60 s'."""


@dataclass(frozen=True, slots=True)
class Built:
    """How long the commands of a build took, by the step's name, in seconds."""

    seconds: dict[str, float]


def build(steps: Sequence[Step], limit: float) -> Built:
    """Run the commands; a Failure names the step. Each may take `limit` seconds."""
    seconds: dict[str, float] = {}
    for step in steps:
        start = time.perf_counter()
        command(step.argv, limit, step.what)
        seconds[step.what] = time.perf_counter() - start
    return Built(seconds)


def samples(program: Path, threads: int, limit: float, dump: Path | None = None) -> list[float]:
    """The seconds of a process's runs, without the first one where there are others."""
    environment = settings(threads)
    if dump is not None:
        environment["BENCH_DUMP"] = str(dump)
    argv = (*shlex.split(os.environ.get(LAUNCHER, "")), str(program))
    found = [float(line) for line in command(argv, limit, "run", environment).split()]
    if not found:
        raise Failure("fails: no time printed")
    return found[1:] or found


def settings(threads: int) -> dict[str, str]:
    """The environment of a timed program."""
    return {
        "OMP_NUM_THREADS": str(threads),
        "OMP_PROC_BIND": "close",
        "OMP_PLACES": "cores",
        "OPENBLAS_NUM_THREADS": str(threads),
        "HL_NUM_THREADS": str(threads),
        "BENCH_RUNS": str(WARM),
        "BENCH_ENOUGH": str(ENOUGH_SECONDS),
    }


def command(argv: Sequence[str], limit: float, what: str, variables: dict[str, str] | None = None) -> str:
    """Standard output of a command. It has a process group of its own, which is ended as a whole at the limit."""
    environment = {**os.environ, **(variables or {})}
    with subprocess.Popen(
        argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", cwd=ROOT, env=environment,
        start_new_session=True,
    ) as process:  # fmt: skip
        try:
            out, err = process.communicate(timeout=limit)
        except BaseException as stopped:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            if isinstance(stopped, subprocess.TimeoutExpired):
                raise Failure(f"timeout {limit:g} s ({what})" if what != "run" else f"timeout {limit:g} s") from None
            raise
    if process.returncode != 0:
        raise Failure(f"fails: {what}: {reason(err, process.returncode)}")
    return out


def reason(err: str, code: int) -> str:
    """The first line of an error text that says what is wrong."""
    if code < 0:
        return signal.Signals(-code).name
    lines = [line.strip() for line in err.splitlines() if line.strip()]
    told = [line for line in lines if "error" in line.lower()] or lines
    return told[0][:200] if told else f"exit code {code}"
