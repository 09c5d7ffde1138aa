"""python -m benchmarks.operators: build the operators, compare values, time them, write table and JSON."""

from __future__ import annotations

import json
import math
import shlex
import statistics
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from benchmarks.cpu.cli import CONTEXT, machine, numbers, processors, warn_if_busy, wide
from benchmarks.cpu.execute import Failure, build, command, settings
from benchmarks.cpu.kernels import ROOT
from polyc.cli.progress import Progress

from .build import NAMES, Described, described, harness, plain, transformed
from .turns import Waiting, in_turns, started

MOST_ERROR = 1e-4
"""Of the largest value: PyTorch adds up in other orders, and what is timed contracts a * b + c."""
RESULTS = "operators.json"
COPIED = 1 << 28
"""Bytes: more than any cache has."""
COLUMNS = ("gcc", "polyc", "eager", "compiled")
KEPT_PAGES = {
    "MALLOC_MMAP_THRESHOLD_": "4294967296",
    "MALLOC_TRIM_THRESHOLD_": "17179869184",
    "MALLOC_TOP_PAD_": "268435456",
}
"""Of glibc: what is freed stays mapped, so that the next result lies in pages that are there."""


@dataclass(slots=True)
class Row:
    """An operator with a number of threads. ms, errors: by contestant. least_ms: what its bytes take at the bandwidth
    of a copy. reference: whose values the others are held against. told: what went wrong; a contestant whose values are
    wrong has no time."""

    name: str
    threads: int
    bytes: int
    polyc_seconds: float
    reference: str = ""
    least_ms: float = 0.0
    ms: dict[str, float] = field(default_factory=dict)
    errors: dict[str, float] = field(default_factory=dict)
    told: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Plan:
    """enough: seconds of a contestant's runs after which there is no further one. limit: seconds that a process may
    take for an answer. gcc_limit: the same for gcc's form. built: nothing is built; it is there."""

    small: bool
    rounds: int
    enough: float
    limit: float
    gcc_limit: float
    build_limit: float
    gcc: str
    torch: str
    options: tuple[str, ...]
    built: bool
    variables: dict[str, str]
    """The environment of PyTorch."""


@click.command(context_settings=CONTEXT)
@click.argument("names", nargs=-1, metavar="[OPERATOR]...")
@click.option("--small", is_flag=True, help="The shapes of the tests.")
@click.option("--rounds", type=click.IntRange(0), default=9, show_default=True)
@click.option("--threads", default=None, metavar="N,N", help="Numbers of threads. [default: 1 and all processors]")
@click.option("--enough", type=float, default=2.0, show_default=True, help="Seconds that are enough for a contestant.")
@click.option("--limit", type=float, default=600.0, show_default=True, help="Seconds that an answer may take.")
@click.option(
    "--gcc-limit", type=float, default=60.0, show_default=True, help="The same for gcc's form, or none of it."
)
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
@click.option("--add", is_flag=True, help="Keep the other rows of an earlier run's JSON.")
@click.option("--folder", type=click.Path(file_okay=False, path_type=Path), help="Build there, and keep it.")
@click.option("--built", is_flag=True, help="Measure what an earlier run built in --folder. --rounds 0 only builds.")
@click.option("--keep-pages", is_flag=True, help="PyTorch's memory stays mapped when it is freed.")
def main(names: tuple[str, ...], small: bool, rounds: int, threads: str | None, enough: float, limit: float,
         gcc_limit: float, build_limit: float, gcc: str, torch: str, polyc_options: str, out: Path, add: bool,
         folder: Path | None, built: bool, keep_pages: bool) -> None:  # fmt: skip
    """Twenty sub-graphs of deep learning on the CPU, beside PyTorch where it is there; values compared first."""
    if unknown := [name for name in names if name not in NAMES]:
        raise click.UsageError(f"no such operator: {', '.join(unknown)}; there are {', '.join(NAMES)}")
    if built and folder is None:
        raise click.UsageError("--built needs the --folder of an earlier run")
    counts = numbers(threads) if threads else tuple(sorted({1, processors()}))
    console = Console(stderr=True)
    warn_if_busy(console)
    variables = KEPT_PAGES if keep_pages else {}
    plan = Plan(small, rounds, enough, limit, gcc_limit, build_limit, gcc, torch, tuple(shlex.split(polyc_options)),
                built, variables)  # fmt: skip
    out.mkdir(parents=True, exist_ok=True)
    rows = earlier(out / RESULTS, names or NAMES, counts) if add else []
    with tempfile.TemporaryDirectory(prefix="polyc-bench-") as place:
        at = folder or Path(place)
        at.mkdir(parents=True, exist_ok=True)
        if not built:
            build([harness(gcc, at)], build_limit)
        has_torch, version = torch_version(plan)
        chosen = names or NAMES
        with Progress("measuring", len(chosen)) as progress:
            for name in chosen:
                with progress.step(name):
                    rows += measured(name, plan, at, counts, has_torch)
                found = {"machine": machine(), "torch": version, "small": small, "keep_pages": keep_pages}
                found |= {"rounds": rounds, "polyc_options": polyc_options, "operators": [asdict(row) for row in rows]}
                (out / RESULTS).write_text(json.dumps(found, indent=1) + "\n")
    rows.sort(key=lambda row: (row.name, row.threads))
    wide().print(table(rows, version))
    for count in counts:
        print_means([row for row in rows if row.threads == count], count)
    if wrong := [row.name for row in rows if any(told.startswith("wrong") for told in row.told)]:
        raise click.ClickException(f"wrong values: {', '.join(dict.fromkeys(wrong))}")


def earlier(file: Path, names: Sequence[str], counts: Sequence[int]) -> list[Row]:
    """The rows of an earlier run that this one does not measure."""
    if not file.exists():
        return []
    rows = [Row(**row) for row in json.loads(file.read_text())["operators"]]
    return [row for row in rows if row.name not in names or row.threads not in counts]


def torch_version(plan: Plan) -> tuple[bool, str]:
    try:
        return True, command(
            (plan.torch, "-W", "ignore", "-c", "import torch; print(torch.__version__)"), 120.0, "torch"
        ).strip()
    except (Failure, OSError):
        return False, "none: PyTorch cannot be imported; --torch PYTHON names a Python that has it"


def measured(name: str, plan: Plan, folder: Path, counts: Sequence[int], has_torch: bool) -> list[Row]:
    """The rows of one operator."""
    one = described(name, plan.small)
    seconds = 0.0
    try:
        if not plan.built:
            for left in ("right", "held-against"):
                (folder / f"{name}.{left}").unlink(missing_ok=True)
            build(plain(name, plan.small, plan.gcc, folder), plan.build_limit)
            seconds = build(transformed(name, plan.small, plan.gcc, folder, plan.options), plan.build_limit)
            (folder / f"{name}.seconds").write_text(str(seconds.seconds["polyc"]))
        seconds = float((folder / f"{name}.seconds").read_text())
    except Failure as failure:
        return [Row(name, count, one.bytes, 0.0, told=[str(failure)]) for count in counts]
    return [take(Row(name, count, one.bytes, seconds), plan, folder, one, has_torch) for count in counts]


def take(row: Row, plan: Plan, folder: Path, one: Described, has_torch: bool) -> Row:
    """Start the processes of one row, compare what they compute, and let them take their turns."""
    environment = settings(row.threads) | {"PYTHONPATH": ""}
    for_torch = environment | plan.variables | {"TORCHINDUCTOR_CACHE_DIR": str(folder.resolve() / "inductor")}
    job = {"operator": one.record(), "harness": str(folder / "harness.so"), "threads": row.threads}
    job["copied"] = COPIED
    waiting: dict[str, Waiting] = {}
    with ExitStack() as stack:

        def start(what: str, python: str, variables: dict[str, str], limit: float, libraries: dict[str, str]) -> bool:
            """Whether a process of contestants is ready; who is wrong gets no turn."""
            words = job | {"what": what, "libraries": libraries, "right": str(folder / f"{row.name}.right")}
            try:
                process = started(stack, words, python, variables, limit, folder)
                answer = process.first()
            except Failure as failure:
                row.told.append(f"{', '.join(libraries) or what}: {failure}")
                return False
            if answer["told"]:
                row.told.append(answer["told"])
            row.errors |= answer["errors"]
            process.limit = plan.limit
            for name, error in answer["errors"].items():
                if error <= MOST_ERROR:
                    waiting[name] = process
                else:
                    row.told.append(f"wrong: {name} off by {error:.1e}")
            return True

        libraries = {way: str(folder / f"{row.name}.{way}.so") for way in ("gcc", "polyc")}
        has_gcc = start("ours", sys.executable, environment, plan.gcc_limit, {"gcc": libraries["gcc"]})
        if has_torch:
            start("torch", plan.torch, for_torch, plan.limit, {})
        held_against = folder / f"{row.name}.held-against"
        if not held_against.exists():
            held_against.write_text("gcc" if has_gcc else next(iter(row.errors), "polyc"))
        row.reference = held_against.read_text()
        start("ours", sys.executable, environment, plan.limit, {"polyc": libraries["polyc"]})
        if plan.rounds:
            start("copy", sys.executable, environment, plan.limit, {})
        try:
            times = in_turns(waiting, plan.rounds, plan.enough)
        except Failure as failure:
            row.told.append(str(failure))
            return row
    row.ms = {name: 1000 * statistics.median(runs) for name, runs in times.items() if runs}
    row.errors.pop("copy", None)
    if "copy" in row.ms:
        row.least_ms = row.bytes / (2 * COPIED) * row.ms.pop("copy")
    return row


def table(rows: list[Row], version: str) -> Table:
    made = Table(title=f"milliseconds; PyTorch {version}; least: its bytes at the bandwidth of a copy")
    made.add_column("operator")
    for heading in ("threads", *COLUMNS, "least", "better of torch / polyc", "held against", "polyc, s"):
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
            row.reference,
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
