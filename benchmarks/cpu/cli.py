"""python -m benchmarks.cpu: run, sweep, report."""

from __future__ import annotations

import os
import platform
import shlex
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from polyc.cli.progress import Progress

from . import plots, roofline, rounds, summary, table, tools
from . import sweep as sweeps
from .contestants import CONTESTANTS, OPTIMISE
from .execute import Failure
from .kernels import DATASETS, KERNELS, ROOT, Kernel
from .results import Results, load

CONTEXT = {"help_option_names": ["-h", "--help"]}
BUSY_LOAD = 0.5


@click.group(context_settings=CONTEXT)
def main() -> None:
    """The kernels of polybench/ on the CPU: polyc beside gcc, clang, Polly, Pluto, PPCG and OpenBLAS."""


def processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def named(names: tuple[str, ...]) -> list[Kernel]:
    unknown = [name for name in names if name not in KERNELS]
    if unknown:
        raise click.UsageError(f"no such kernel: {', '.join(unknown)}; there are {', '.join(KERNELS)}")
    return [KERNELS[name] for name in names or KERNELS]


def numbers(text: str) -> tuple[int, ...]:
    """The positive numbers of a list with commas."""
    words = text.split(",")
    if not all(word.strip().isdecimal() and int(word) > 0 for word in words):
        raise click.UsageError(f"not a list of positive numbers: '{text}'; write them as in 1,2")
    return tuple(int(word) for word in words)


def machine() -> dict[str, Any]:
    """What the times depend on."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    model = next(
        (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.processor()
    )
    return {
        "processor": model,
        "processors": processors(),
        "architecture": platform.machine(),
        "system": f"{platform.system()} {platform.release()}",
        "load_average": os.getloadavg()[0],
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def wide() -> Console:
    """Standard output; where it is no terminal, wide enough for all columns."""
    return Console() if Console().is_terminal else Console(width=160)


def warn_if_busy(console: Console) -> None:
    load = os.getloadavg()[0]
    if load > BUSY_LOAD:
        console.print(f"warning: the load average is {load:.2f}: other work distorts these times", style="yellow")


@main.command(context_settings=CONTEXT)
@click.argument("names", nargs=-1, metavar="[KERNEL]...")
@click.option("--dataset", type=click.Choice(DATASETS), default="LARGE", show_default=True)
@click.option("--type", "element", type=click.Choice(["double", "float"]), default="double", show_default=True)
@click.option(
    "--rounds", "rounds_", type=click.IntRange(1), default=5, show_default=True, help="Processes of each contestant."
)
@click.option("--threads", default=None, metavar="N,N", help="Numbers of threads. [default: 1 and all processors]")
@click.option("--only", default="", metavar="NAME,...", help="Only these contestants (gcc is always needed).")
@click.option("--without", default="", metavar="NAME,...", help="Do as if these tools were not there.")
@click.option("--limit", type=float, default=60.0, show_default=True, help="Seconds that a process may take.")
@click.option(
    "--build-limit", type=float, default=300.0, show_default=True, help="Seconds that a step of a build may take."
)
@click.option(
    "--budget", type=float, default=600.0, show_default=True, help="Seconds for a kernel; then no further round begins."
)
@click.option("--gcc", default="gcc", show_default=True, help="Which gcc.")
@click.option("--clang", default="", help="Which clang. [default: the newest on PATH]")
@click.option("--flags", default="", help="More flags for every C compiler, such as -ffp-contract=off.")
@click.option("--polyc-options", default="", help="Options for polyc compile.")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=ROOT / "build" / "bench",
    help="Where to write. [default: build/bench]",
)
def run(names: tuple[str, ...], dataset: str, element: str, rounds_: int, threads: str | None, only: str, without: str,
        limit: float, build_limit: float, budget: float, gcc: str, clang: str, flags: str, polyc_options: str,
        out: Path) -> None:  # fmt: skip
    """Time the kernels (all of them if none is named), and write table, JSON and plots."""
    chosen = [kernel for kernel in named(names) if names or element == "double" or kernel.float_type]
    known = [contestant.name for contestant in CONTESTANTS]
    wanted = tuple(word for word in only.split(",") if word)
    if bad := [word for word in wanted if word not in known]:
        raise click.UsageError(f"no such contestant: {', '.join(bad)}; there are {', '.join(known)}")
    counts = numbers(threads) if threads else tuple(sorted({1, processors()}))
    plan = rounds.Plan(
        dataset, element, counts, rounds_, limit, build_limit, budget, ("gcc", *wanted) if wanted else (),
        tuple(shlex.split(polyc_options)), tuple(shlex.split(flags)),
    )  # fmt: skip
    absent = [word for word in without.split(",") if word]
    if bad := [word for word in absent if word not in tools.OPTIONAL]:
        raise click.UsageError(f"no such tool: {', '.join(bad)}; there are {', '.join(tools.OPTIONAL)}")
    console = Console(stderr=True)
    warn_if_busy(console)
    found_tools = tools.find(gcc, clang, absent)
    if found_tools.gcc.missing:
        raise click.ClickException(f"{found_tools.gcc.missing}: it makes the values that all others are compared with")
    settings = {
        "rounds": rounds_, "threads": list(counts), "limit": limit, "budget": budget,
        "flags": [*OPTIMISE, *plan.flags], "polyc_options": list(plan.polyc_options),
    }  # fmt: skip
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="polyc-bench-") as folder:
        rates = roofline.measure(found_tools.gcc, counts, Path(folder))
        results = Results(dataset, element, settings, machine(), found_tools.versions(), rates, [])
        with Progress("measuring", len(chosen)) as progress:
            for kernel in chosen:
                with progress.step(kernel.name):
                    results.kernels.append(rounds.run(kernel, plan, found_tools, Path(folder), console.print))
                results.save(out / f"{dataset}-{element}.json")
    show(results, out)


@main.command(context_settings=CONTEXT)
@click.argument("names", nargs=-1, required=True, metavar="KERNEL...")
@click.option("--dataset", type=click.Choice(DATASETS), default="LARGE", show_default=True)
@click.option("--type", "element", type=click.Choice(["double", "float"]), default="double", show_default=True)
@click.option("--fine", is_flag=True, help="A finer grid, of some hundred vectors.")
@click.option(
    "--rounds", "rounds_", type=click.IntRange(1), default=5, show_default=True, help="Rounds of the best few."
)
@click.option("--threads", type=click.IntRange(1), default=None, help="[default: all processors]")
@click.option("--limit", type=float, default=60.0, show_default=True, help="Seconds that a process may take.")
@click.option("--gcc", default="gcc", show_default=True, help="Which gcc.")
@click.option("--polyc-options", default="", help="Options for polyc compile.")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=ROOT / "build" / "bench",
    help="Where to write. [default: build/bench]",
)
def sweep(names: tuple[str, ...], dataset: str, element: str, fine: bool, rounds_: int, threads: int | None,
          limit: float, gcc: str, polyc_options: str, out: Path) -> None:  # fmt: skip
    """Hold polyc's own sizes against all vectors of a grid, with the same code shape; print the share reached."""
    console = Console(stderr=True)
    warn_if_busy(console)
    plan = rounds.Plan(
        dataset, element, (threads or processors(),), rounds_, limit, 300.0, 0.0, (), tuple(shlex.split(polyc_options))
    )
    there = tools.find(gcc, without=tools.OPTIONAL)
    if there.gcc.missing:
        raise click.ClickException(there.gcc.missing)
    out.mkdir(parents=True, exist_ok=True)
    axes = sweeps.FINE if fine else sweeps.COARSE
    for kernel in named(names):
        with tempfile.TemporaryDirectory(prefix="polyc-sweep-") as folder:
            try:
                found = sweeps.sweep(kernel, plan, there, axes, Path(folder), console.print)
            except Failure as failure:
                raise click.ClickException(str(failure)) from None
        found.save(out / f"sweep-{kernel.name}-{dataset}-{element}-{plan.threads[0]}.json")
        for line in sweeps.lines(found):
            click.echo(line)


@main.command(context_settings=CONTEXT)
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def report(file: Path) -> None:
    """Print the table of a JSON file that `run` wrote, and draw its plots again beside it."""
    show(load(file), file.parent)


def show(results: Results, folder: Path) -> None:
    """The table and the summary on standard output, the plots in the folder."""
    console = wide()
    table.show(results, console)
    for line in summary.lines(results):
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    written = [folder / f"{results.dataset}-{results.element}.json", *plots.write(results, folder)]
    console.print(f"in {folder}: {', '.join(path.name for path in written)}", soft_wrap=True)
