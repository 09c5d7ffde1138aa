"""python -m benchmarks.operators: build the operators, compare values, time them, write table and JSON."""

from __future__ import annotations

import json
import math
import shlex
import statistics
import sys
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from benchmarks.cpu.cli import CONTEXT, machine, numbers, processors, warn_if_busy, wide
from benchmarks.cpu.execute import Failure, build, command, settings
from benchmarks.cpu.kernels import ROOT

from .build import HERE, NAMES, Described, described, harness, plain, transformed

MOST_ERROR = 1e-4
"""Of the largest value: PyTorch adds up in other orders, and what is timed contracts a * b + c."""
COLUMNS = ("gcc", "polyc", "eager", "compiled")


@dataclass(slots=True)
class Row:
    """An operator with a number of threads. ms, errors: by contestant. least_ms: what its bytes take at the bandwidth
    of a copy. told: what went wrong; a contestant whose values are wrong has no time."""

    name: str
    threads: int
    bytes: int
    least_ms: float
    polyc_seconds: float
    ms: dict[str, float] = field(default_factory=dict)
    errors: dict[str, float] = field(default_factory=dict)
    told: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Plan:
    """enough: seconds of a contestant's runs after which there is no further one. limit: seconds of a process."""

    small: bool
    rounds: int
    enough: float
    limit: float
    build_limit: float
    gcc: str
    torch: str
    options: tuple[str, ...]


@click.command(context_settings=CONTEXT)
@click.argument("names", nargs=-1, metavar="[OPERATOR]...")
@click.option("--small", is_flag=True, help="The shapes of the tests.")
@click.option("--rounds", type=click.IntRange(1), default=9, show_default=True)
@click.option("--threads", default=None, metavar="N,N", help="Numbers of threads. [default: 1 and all processors]")
@click.option("--enough", type=float, default=2.0, show_default=True, help="Seconds that are enough for a contestant.")
@click.option("--limit", type=float, default=600.0, show_default=True, help="Seconds that a process may take.")
@click.option("--build-limit", type=float, default=600.0, show_default=True, help="Seconds for a step of a build.")
@click.option("--gcc", default="gcc", show_default=True, help="Which gcc.")
@click.option(
    "--torch", default=sys.executable, metavar="PYTHON", help="A Python that has PyTorch. [default: this one]"
)
@click.option("--polyc-options", default="--machine host", show_default=True, help="Options for polyc compile.")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=ROOT / "build" / "bench",
    help="Where to write. [default: build/bench]",
)
def main(names: tuple[str, ...], small: bool, rounds: int, threads: str | None, enough: float, limit: float,
         build_limit: float, gcc: str, torch: str, polyc_options: str, out: Path) -> None:  # fmt: skip
    """Twenty sub-graphs of deep learning on the CPU, beside PyTorch where it is there; values compared first."""
    if unknown := [name for name in names if name not in NAMES]:
        raise click.UsageError(f"no such operator: {', '.join(unknown)}; there are {', '.join(NAMES)}")
    counts = numbers(threads) if threads else tuple(sorted({1, processors()}))
    console = Console(stderr=True)
    warn_if_busy(console)
    options = tuple(shlex.split(polyc_options))
    plan = Plan(small, rounds, enough, limit, build_limit, gcc, torch, options)
    rows: list[Row] = []
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="polyc-bench-") as place:
        folder = Path(place)
        build([harness(gcc, folder)], build_limit)
        has_torch, version = torch_version(plan)
        copies = {count: copy_rate(plan, folder, count) for count in counts}
        for name in names or NAMES:
            console.print(f"{name} …", style="dim")
            rows += measured(name, plan, folder, copies, has_torch)
            found = {"machine": machine(), "torch": version, "copy_bytes_per_second": copies, "small": small}
            found |= {"rounds": rounds, "polyc_options": polyc_options, "operators": [asdict(row) for row in rows]}
            (out / "operators.json").write_text(json.dumps(found, indent=1) + "\n")
    wide().print(table(rows, version))
    for count in counts:
        print_means([row for row in rows if row.threads == count], count)
    if wrong := [row.name for row in rows if any(told.startswith("wrong") for told in row.told)]:
        raise click.ClickException(f"wrong values: {', '.join(dict.fromkeys(wrong))}")


def torch_version(plan: Plan) -> tuple[bool, str]:
    try:
        return True, command(
            (plan.torch, "-W", "ignore", "-c", "import torch; print(torch.__version__)"), 120.0, "torch"
        ).strip()
    except (Failure, OSError):
        return False, "none: PyTorch cannot be imported; --torch PYTHON names a Python that has it"


def copy_rate(plan: Plan, folder: Path, threads: int) -> float:
    """Bytes a second that are read and written."""
    answer = child(plan, folder, sys.executable, threads, {"what": "copy"})
    return float(answer["bytes_per_second"])


def measured(name: str, plan: Plan, folder: Path, copies: dict[int, float], has_torch: bool) -> list[Row]:
    """The rows of one operator."""
    one = described(name, plan.small)
    least = {count: 1000 * one.bytes / rate for count, rate in copies.items()}
    try:
        build(plain(name, plan.small, plan.gcc, folder), plan.build_limit)
        seconds = build(transformed(name, plan.small, plan.gcc, folder, plan.options), plan.build_limit).seconds
    except Failure as failure:
        return [Row(name, count, one.bytes, least[count], 0.0, told=[str(failure)]) for count in copies]
    rows = []
    for count in copies:
        row = Row(name, count, one.bytes, least[count], seconds["polyc"])
        libraries = {way: str(folder / f"{name}.{way}.so") for way in ("gcc", "polyc")}
        take(row, plan, folder, sys.executable, one, "ours", libraries)
        if has_torch:
            take(row, plan, folder, plan.torch, one, "torch", {"polyc": libraries["polyc"]})
        rows.append(row)
    return rows


def take(row: Row, plan: Plan, folder: Path, python: str, one: Described, what: str, libraries: dict[str, str]) -> None:
    """Add what a process finds; who is wrong gets no time."""
    try:
        answer = child(
            plan, folder, python, row.threads, {"what": what, "operator": one.record(), "libraries": libraries}
        )
    except Failure as failure:
        row.told.append(f"{what}: {failure}")
        return
    if answer.get("told"):
        row.told.append(answer["told"])
    row.errors |= answer["errors"]
    for name, error in answer["errors"].items():
        if error <= MOST_ERROR:
            row.ms[name] = answer["ms"][name]
        else:
            row.told.append(f"wrong: {name} off by {error:.1e}")


def child(plan: Plan, folder: Path, python: str, threads: int, job: dict[str, Any]) -> dict[str, Any]:
    """The answer of one measure.py."""
    file = folder / "job.json"
    job |= {"harness": str(folder / "harness.so"), "threads": threads, "rounds": plan.rounds, "enough": plan.enough}
    file.write_text(json.dumps(job))
    variables = settings(threads) | {"TORCHINDUCTOR_CACHE_DIR": str(folder / "inductor"), "PYTHONPATH": ""}
    words = (python, "-W", "ignore", str(HERE / "measure.py"), str(file))
    answer: dict[str, Any] = json.loads(command(words, plan.limit, "run", variables).splitlines()[-1])
    return answer


def table(rows: list[Row], version: str) -> Table:
    made = Table(title=f"milliseconds; PyTorch {version}; least: its bytes at the bandwidth of a copy")
    made.add_column("operator")
    for heading in ("threads", *COLUMNS, "least", "better of torch / polyc", "polyc, s"):
        made.add_column(heading, justify="right")
    made.add_column("")
    for row in rows:
        times = [f"{row.ms[name]:.4g}" if name in row.ms else "" for name in COLUMNS]
        ratio = against(row)
        told = f"{ratio:.2f}" if ratio is not None else ""
        made.add_row(
            row.name,
            str(row.threads),
            *times,
            f"{row.least_ms:.4g}",
            told,
            f"{row.polyc_seconds:.1f}",
            "; ".join(row.told),
        )
    return made


def against(row: Row) -> float | None:
    """How much faster polyc is than the better form of PyTorch."""
    theirs = [row.ms[name] for name in ("eager", "compiled") if name in row.ms]
    return min(theirs) / row.ms["polyc"] if theirs and "polyc" in row.ms else None


def print_means(rows: list[Row], threads: int) -> None:
    """Geometric means over all operators, and over those that take PyTorch over half a millisecond."""
    pairs = [(row, ratio) for row in rows if (ratio := against(row)) is not None]
    long = [ratio for row, ratio in pairs if min(row.ms.get("eager", math.inf), row.ms.get("compiled", math.inf)) > 0.5]
    for what, ratios in (("all", [ratio for _, ratio in pairs]), ("over 0.5 ms", long)):
        if ratios:
            mean = math.exp(statistics.fmean(map(math.log, ratios)))
            click.echo(f"{threads} threads, {what}: {mean:.2f} times the better of PyTorch ({len(ratios)} operators)")
