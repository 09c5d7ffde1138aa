"""What a run found, as data and as JSON."""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

BASE = "gcc@1"
"""The column that speed-ups are told against."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A contestant with a number of threads on one kernel.

    status: "ok", "blank: why", "wrong: …", "fails: …", "timeout 60 s". Only "ok" has samples that count.
    rounds: for each process the seconds of its runs that count.
    error: the largest relative error against the reference; bits: the arrays are the reference's to the last bit.
    build_seconds: how long each step of its build took.
    """

    contestant: str
    threads: int
    status: str
    rounds: list[list[float]] = field(default_factory=list)
    error: float | None = None
    bits: bool | None = None
    build_seconds: dict[str, float] = field(default_factory=dict)

    @property
    def column(self) -> str:
        return f"{self.contestant}@{self.threads}"

    @property
    def seconds(self) -> float | None:
        """The median over the processes of each one's median run."""
        if self.status != "ok" or not self.rounds:
            return None
        return statistics.median(statistics.median(runs) for runs in self.rounds)


@dataclass(frozen=True, slots=True)
class KernelResult:
    """All entries of a kernel. flops: None in integers; traffic_bytes: compulsory; load: the load average before."""

    kernel: str
    sizes: dict[str, int]
    flops: float | None
    traffic_bytes: float
    element: str
    load: float
    entries: list[Entry]

    def seconds(self, column: str) -> float | None:
        return next((e.seconds for e in self.entries if e.column == column), None)

    def speedup(self, column: str, base: str = BASE) -> float | None:
        mine, theirs = self.seconds(column), self.seconds(base)
        return theirs / mine if mine and theirs else None


@dataclass(frozen=True, slots=True)
class Rates:
    """What the machine can do with so many threads, measured in this run.

    flops_per_second: by element type. bytes_per_second: by the size of the working set in bytes, the better of reading
    and copying.
    """

    threads: int
    flops_per_second: dict[str, float]
    bytes_per_second: dict[str, float]

    def bandwidth(self, traffic_bytes: float) -> float:
        """The best rate of all working sets of so many bytes or more: a smaller one cannot be slower, but for noise."""
        rates = [rate for size, rate in self.bytes_per_second.items() if int(size) >= traffic_bytes]
        return max(rates or [self.bytes_per_second[max(self.bytes_per_second, key=int)]])


@dataclass(frozen=True, slots=True)
class Results:
    """A whole run. Times are seconds."""

    dataset: str
    element: str
    settings: dict[str, Any]
    machine: dict[str, Any]
    versions: dict[str, str]
    rates: list[Rates]
    kernels: list[KernelResult]

    @property
    def columns(self) -> list[str]:
        """The columns of a table, in the contestants' order."""
        return list(dict.fromkeys(entry.column for kernel in self.kernels for entry in kernel.entries))

    def share(self, kernel: KernelResult, column: str) -> float | None:
        """The share of the roofline: the least time that operations and traffic allow, over the time taken."""
        seconds = kernel.seconds(column)
        threads = int(column.rsplit("@", 1)[1])
        rates = next((r for r in self.rates if r.threads == threads), None)
        if seconds is None or rates is None or kernel.flops is None:
            return None
        arithmetic = kernel.flops / rates.flops_per_second[kernel.element]
        return max(arithmetic, kernel.traffic_bytes / rates.bandwidth(kernel.traffic_bytes)) / seconds

    def save(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self), indent=1) + "\n")


def load(path: Path) -> Results:
    """The results of a JSON file that `save` wrote."""
    data = json.loads(path.read_text())
    kernels = [
        KernelResult(**{**kernel, "entries": [Entry(**entry) for entry in kernel["entries"]]})
        for kernel in data["kernels"]
    ]
    return Results(**{**data, "kernels": kernels, "rates": [Rates(**rates) for rates in data["rates"]]})


def geometric_mean(values: Iterable[float | None]) -> tuple[float | None, int]:
    """The geometric mean of those that are there, and how many they are."""
    there = [value for value in values if value is not None]
    return (math.exp(statistics.fmean(map(math.log, there))) if there else None), len(there)
