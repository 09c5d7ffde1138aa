"""python -m benchmarks.pipelines: time the pipelines, and write table and JSON. Other suites of nests use it, too."""

from __future__ import annotations

import json
import shlex
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from benchmarks.cpu import tools
from benchmarks.cpu.cli import CONTEXT, machine, numbers, processors, warn_if_busy, wide
from benchmarks.cpu.kernels import DATASETS, ROOT
from polyc.cli.progress import Progress

from . import rounds
from .pipelines import PIPELINES, Job, Suite


def command(suite: Suite) -> click.Command:
    """The command line that times a suite."""

    @click.command(context_settings=CONTEXT, help=suite.title)
    @click.argument("names", nargs=-1, metavar="[NAME]...")
    @click.option(
        "--form", "forms", type=click.Choice(suite.forms), multiple=True, help="Only this form. [default: all]"
    )
    @click.option("--dataset", type=click.Choice(DATASETS), default="LARGE", show_default=True)
    @click.option("--rounds", "rounds_", type=click.IntRange(1), default=5, show_default=True)
    @click.option("--threads", default=None, metavar="N,N", help="Numbers of threads. [default: 1 and all processors]")
    @click.option("--limit", type=float, default=60.0, show_default=True, help="Seconds that a process may take.")
    @click.option("--build-limit", type=float, default=600.0, show_default=True, help="Seconds for a step of a build.")
    @click.option("--gcc", default="gcc", show_default=True, help="Which gcc.")
    @click.option("--clang", default="", help="Which clang. [default: the newest on PATH]")
    @click.option("--polyc-options", default="", help="Options for polyc compile.")
    @click.option(
        "--out",
        type=click.Path(file_okay=False, path_type=Path),
        default=ROOT / "build" / "bench",
        help="Where to write. [default: build/bench]",
    )
    def main(names: tuple[str, ...], forms: tuple[str, ...], dataset: str, rounds_: int, threads: str | None,
             limit: float, build_limit: float, gcc: str, clang: str, polyc_options: str,
             out: Path) -> None:  # fmt: skip
        if unknown := [name for name in names if name not in suite.names]:
            raise click.UsageError(f"no such name: {', '.join(unknown)}; there are {', '.join(suite.names)}")
        console = Console(stderr=True)
        warn_if_busy(console)
        there = tools.find(gcc, clang, ("polly", "pluto", "ppcg", "openblas"))
        if there.gcc.missing:
            raise click.ClickException(f"{there.gcc.missing}: it makes the values that all others are compared with")
        counts = numbers(threads) if threads else tuple(sorted({1, processors()}))
        plan = rounds.Plan(counts, rounds_, limit, build_limit)
        options = tuple(shlex.split(polyc_options))
        jobs = [(name, form) for name in names or suite.names for form in forms or suite.forms]
        measure(suite, jobs, dataset, there, options, plan, out, console)

    return main


def measure(suite: Suite, jobs: list[tuple[str, str]], dataset: str, there: tools.Tools, options: tuple[str, ...],
            plan: rounds.Plan, out: Path, console: Console) -> None:  # fmt: skip
    """Time (name, form) by (name, form); the JSON file is whole after each of them."""
    versions = {"gcc": there.gcc.version, "clang": there.clang.version or f"none: {there.clang.missing}"}
    found: dict[str, Any] = {"dataset": dataset, "machine": machine(), "tools": versions, "rounds": plan.rounds}
    found |= {"polyc_options": shlex.join(options), suite.name: []}
    table = new_table(suite, dataset)
    out.mkdir(parents=True, exist_ok=True)
    with Progress("measuring", len(jobs)) as progress:
        for name, form in jobs:
            with progress.step(f"{name} ({form})"), tempfile.TemporaryDirectory(prefix="polyc-bench-") as folder:
                entries = rounds.run(Job(suite, name, form, dataset, Path(folder), there, options), plan, console.print)
            found[suite.name].append({"name": name, "form": form, "entries": [asdict(entry) for entry in entries]})
            (out / f"{suite.name}-{dataset}.json").write_text(json.dumps(found, indent=1) + "\n")
            add_rows(table, suite, name, form, entries)
    wide().print(table)


def new_table(suite: Suite, dataset: str) -> Table:
    pages = ", with pages kept mapped and with fresh ones in each call" if len(suite.pages) > 1 else ""
    table = Table(title=f"{suite.name}, {dataset}: milliseconds{pages}")
    for heading in ("program", "form", "contestant"):
        table.add_column(heading)
    for heading in ("threads", *suite.pages, "polyc, s"):
        table.add_column(heading, justify="right")
    table.add_column("values")
    return table


def add_rows(table: Table, suite: Suite, name: str, form: str, entries: list[rounds.Entry]) -> None:
    """A row for each entry; what went wrong stands in the last column."""
    for entry in entries:
        times = [f"{1000 * seconds:.1f}" if (seconds := entry.time(pages)) is not None else "" for pages in suite.pages]
        compile_time = f"{entry.build_seconds['polyc']:.1f}" if "polyc" in entry.build_seconds else ""
        told = "same bits" if entry.status == "ok" and entry.bits else entry.status
        table.add_row(name, form, entry.contestant, str(entry.threads), *times, compile_time, told)
    table.add_section()


main = command(PIPELINES)
