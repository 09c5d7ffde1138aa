"""Processes that wait for their turns: contestants that share no process are still timed side by side."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from benchmarks.cpu.execute import Failure, reason

PAUSE = 0.03
"""Seconds before a turn: threads of a process that had the last one look for work for some milliseconds more, on the
same processors."""


class Waiting:
    """A process of measure.py, from its start to its end. Raises Failure where it does not do its work."""

    def __init__(self, argv: Sequence[str], variables: Mapping[str, str], limit: float, errors: Path) -> None:
        """limit: seconds that an answer may take. errors: where its standard error goes."""
        self.limit, self.errors = limit, errors
        with errors.open("w") as told:
            self.process = subprocess.Popen(
                argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=told, env={**os.environ, **variables},
                start_new_session=True,
            )  # fmt: skip
        self.rest = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        self.end()

    def end(self) -> None:
        """Nobody waits for it any more."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                with suppress(BrokenPipeError):
                    stream.close()
        self.process.wait()

    def first(self) -> dict[str, Any]:
        """What it says when it is ready: who takes part, and how right each is. It is ended where it takes too long."""
        try:
            found: dict[str, Any] = json.loads(self.line())
        except Failure:
            self.end()
            raise
        return found

    def turn(self, name: str) -> float:
        """Seconds of a run."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{name}\n".encode())
        self.process.stdin.flush()
        return float(self.line())

    def line(self) -> str:
        assert self.process.stdout is not None
        end = time.monotonic() + self.limit
        while b"\n" not in self.rest:
            if not select.select([self.process.stdout], [], [], max(0.0, end - time.monotonic()))[0]:
                raise Failure(f"timeout {self.limit:g} s")
            piece = os.read(self.process.stdout.fileno(), 1 << 16)
            if not piece:
                self.process.wait()
                raise Failure(f"fails: run: {reason(self.errors.read_text(errors='replace'), self.process.returncode)}")
            self.rest += piece
        line, self.rest = self.rest.split(b"\n", 1)
        return line.decode()


def in_turns(waiting: Mapping[str, Waiting], rounds: int, enough: float) -> dict[str, list[float]]:
    """Seconds of each contestant's runs, turn by turn; no further turn of one that took `enough` seconds. The first
    turn is not counted where there are others."""
    found: dict[str, list[float]] = {name: [] for name in waiting}
    for _ in range(rounds + 1 if rounds else 0):
        for name, process in waiting.items():
            if sum(found[name]) < enough or len(found[name]) < 2:
                time.sleep(PAUSE)
                found[name].append(process.turn(name))
    return {name: times[1:] or times for name, times in found.items()}


def started(
    stack: ExitStack, job: dict[str, Any], python: str, variables: Mapping[str, str], limit: float, folder: Path
) -> Waiting:
    """A process of measure.py with a job, which ends with the stack."""
    name = "-".join((job["what"], *job["libraries"]))
    file = folder / f"{name}.job.json"
    file.write_text(json.dumps(job))
    argv = (python, "-W", "ignore", str(Path(__file__).with_name("measure.py")), str(file))
    return stack.enter_context(Waiting(argv, variables, limit, folder / f"{name}.errors"))
