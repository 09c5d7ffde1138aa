"""python -m benchmarks.ordinary: build each program twice, compare outputs, time them in turn, write table and JSON."""

from __future__ import annotations

import json
import os
import shlex
import sys
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from benchmarks.cpu.cli import CONTEXT, machine, numbers, processors, warn_if_busy, wide
from benchmarks.cpu.contestants import OPTIMISE, Command, Step
from benchmarks.cpu.execute import LAUNCHER, Failure, build, command, settings
from benchmarks.cpu.kernels import ROOT
from benchmarks.cpu.results import geometric_mean
from benchmarks.cpu.tools import OPENMP_TRIAL, Tool, compiler, tried
from polyc.cli.progress import Progress

HERE = Path(__file__).parent
NAMES = tuple(sorted(file.stem for file in HERE.glob("*.c")))
INCLUDES = ("-I", str(HERE / "harness"))
EXACT = ("-O2", "-march=native", "-ffp-contract=off")
"""With these, both programs have to print the same."""
LEFT = "left as it was written"
"""What polyc's text says of a region that it did nothing to."""
RESULTS = "ordinary.json"


@dataclass(frozen=True, slots=True)
class Plan:
    """openmp: the flags for polyc's text; none where the compiler has no OpenMP. limit, build_limit: seconds of a
    process, of a step of a build."""

    cc: Command
    openmp: Command
    threads: tuple[int, ...]
    rounds: int
    limit: float
    build_limit: float
    small: bool
    options: tuple[str, ...]

    @property
    def words(self) -> Command:
        return (*INCLUDES, *(("-DSMALL",) if self.small else ()))

    @property
    def columns(self) -> list[tuple[str, int]]:
        """Who is timed, with how many threads: the original has one."""
        return [("plain", 1), *(("polyc", count) for count in self.threads)]


@dataclass(slots=True)
class Row:
    """One program. wall_ms, cpu_ms: by contestant@threads, of each process. told: what went wrong, or stands out."""

    name: str
    told: str = ""
    polyc_seconds: float = 0.0
    wall_ms: dict[str, list[float]] = field(default_factory=dict)
    cpu_ms: dict[str, list[float]] = field(default_factory=dict)

    def best_ms(self, contestant: str, threads: int, by_wall: bool = False) -> float | None:
        """The least time of all processes: CPU time of one thread, since other work does not count there; of several
        threads, or `by_wall`, that of the wall clock."""
        times = self.wall_ms if threads > 1 or by_wall else self.cpu_ms
        return min(times.get(f"{contestant}@{threads}", []), default=None)

    def ratio(self, threads: int) -> float | None:
        """How many times as fast as the original on one thread, by the same clock."""
        plain, ours = self.best_ms("plain", 1, threads > 1), self.best_ms("polyc", threads)
        return plain / ours if plain and ours else None


@click.command(context_settings=CONTEXT)
@click.argument("names", nargs=-1, metavar="[PROGRAM]...")
@click.option("--small", is_flag=True, help="The sizes of the tests.")
@click.option("--rounds", type=click.IntRange(1), default=5, show_default=True, help="Processes of each contestant.")
@click.option("--threads", default=None, metavar="N,N", help="Numbers of threads. [default: 1 and all processors]")
@click.option("--limit", type=float, default=60.0, show_default=True, help="Seconds that a process may take.")
@click.option("--build-limit", type=float, default=600.0, show_default=True, help="Seconds for a step of a build.")
@click.option("--compiler", "cc", default="gcc", show_default=True, help="Which C compiler, for both.")
@click.option("--polyc-options", default="", help="Options for polyc compile.")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=ROOT / "build" / "bench",
    help="Where to write. [default: build/bench]",
)
def main(names: tuple[str, ...], small: bool, rounds: int, threads: str | None, limit: float, build_limit: float,
         cc: str, polyc_options: str, out: Path) -> None:  # fmt: skip
    """Ordinary programs: the original and polyc's text, outputs compared, timed in turn."""
    if unknown := [name for name in names if name not in NAMES]:
        raise click.UsageError(f"no such program: {', '.join(unknown)}; there are {', '.join(NAMES)}")
    console = Console(stderr=True)
    warn_if_busy(console)
    there = compiler(cc)
    if there.missing:
        raise click.ClickException(there.missing)
    openmp = openmp_of(there, console)
    counts = numbers(threads) if threads else tuple(sorted({1, processors()}))
    plan = Plan(there.command, openmp, counts if openmp else (1,), rounds, limit, build_limit, small,
                tuple(shlex.split(polyc_options)))  # fmt: skip
    out.mkdir(parents=True, exist_ok=True)
    found = {"machine": machine(), "compiler": there.version, "rounds": rounds, "small": small}
    rows: list[Row] = []
    chosen = names or NAMES
    with Progress("measuring", len(chosen)) as progress:
        for name in chosen:
            with progress.step(name), tempfile.TemporaryDirectory(prefix="polyc-bench-") as folder:
                rows.append(measured(name, plan, Path(folder)))
            found |= {"polyc_options": polyc_options, "programs": [asdict(row) for row in rows]}
            (out / RESULTS).write_text(json.dumps(found, indent=1) + "\n")
    wide().print(table(rows, plan, cc))
    if wrong := [row.name for row in rows if row.told.startswith("wrong")]:
        raise click.ClickException(f"wrong output: {', '.join(wrong)}")


def openmp_of(cc: Tool, console: Console) -> Command:
    """The flag for OpenMP, if the compiler has its runtime; if not, polyc's text runs on one thread without it."""
    missing = tried(cc, OPENMP_TRIAL, ("-fopenmp",), (), "no OpenMP runtime for this compiler: one thread").missing
    if missing:
        console.print(missing, style="yellow")
    return () if missing else ("-fopenmp",)


def measured(name: str, plan: Plan, folder: Path) -> Row:
    """Build, compare and time one program. One that prints something else has no time."""
    row = Row(name)
    try:
        row.polyc_seconds = build([translated(name, plan, folder)], plan.build_limit).seconds["polyc"]
        build(compiled(name, plan, folder, EXACT), plan.build_limit)
        if len(outputs(plan, folder)) > 1:
            row.told = "wrong: another output without contraction"
            return row
        build(compiled(name, plan, folder, OPTIMISE), plan.build_limit)
        rounded = len(outputs(plan, folder)) > 1
        for _ in range(plan.rounds):
            for contestant, threads in plan.columns:
                wall, cpu = time_ms(folder / contestant, threads, plan.limit)
                row.wall_ms.setdefault(f"{contestant}@{threads}", []).append(wall)
                row.cpu_ms.setdefault(f"{contestant}@{threads}", []).append(cpu)
    except Failure as failure:
        row.told = str(failure)
        return row
    fallback = LEFT in text_of(folder).read_text(encoding="utf-8")
    row.told = ", ".join((["fallback"] if fallback else []) + (["other rounding"] if rounded else []))
    return row


def text_of(folder: Path) -> Path:
    return folder / "polyc.c"


def translated(name: str, plan: Plan, folder: Path) -> Step:
    """The step that writes polyc's text."""
    polyc = (sys.executable, "-m", "polyc", "compile", str(HERE / f"{name}.c"), *plan.words, *plan.options)
    return Step("polyc", (*polyc, "-q", "-o", str(text_of(folder))))


def compiled(name: str, plan: Plan, folder: Path, flags: Command) -> list[Step]:
    """The steps that make both programs."""
    common = (*plan.cc, *flags, *plan.words, "-Wno-unknown-pragmas")
    return [
        Step("cc", (*common, str(HERE / f"{name}.c"), "-o", str(folder / "plain"), "-lm")),
        Step("cc of polyc's text", (*common, *plan.openmp, str(text_of(folder)), "-o", str(folder / "polyc"), "-lm")),
    ]


def outputs(plan: Plan, folder: Path) -> set[str]:
    """What the contestants print: one text if they agree."""
    return {command((str(folder / who),), plan.limit, "run", settings(count)) for who, count in plan.columns}


def time_ms(program: Path, threads: int, limit: float) -> tuple[float, float]:
    """Wall clock and CPU time of a process's kernel, which the program prints on standard error."""
    only_errors = f'{os.environ.get(LAUNCHER, "")} "$0" 2>&1 >/dev/null'
    wall, cpu = command(("sh", "-c", only_errors, str(program)), limit, "run", settings(threads)).split()
    return float(wall), float(cpu)


def table(rows: list[Row], plan: Plan, cc: str) -> Table:
    """Times and ratios; of one thread those of CPU time, of more those of the wall clock."""
    made = Table(title=f"ordinary programs: milliseconds, and times as fast as {cc} -O3 -march=native on one thread")
    made.add_column("program")
    for heading in (f"{cc}, ms", *(f"polyc@{count}\n{what}" for count in plan.threads for what in ("ms", "ratio"))):
        made.add_column(heading, justify="right")
    made.add_column("polyc, s", justify="right")
    made.add_column("told")
    for row in rows:
        cells = [number(row.best_ms("plain", 1), 1)]
        for count in plan.threads:
            cells += [number(row.best_ms("polyc", count), 1), number(row.ratio(count), 2)]
        made.add_row(row.name, *cells, number(row.polyc_seconds, 1), row.told)
    made.add_section()
    means = [number(geometric_mean(row.ratio(count) for row in rows)[0], 2) for count in plan.threads]
    made.add_row("geometric mean", "", *(cell for mean in means for cell in ("", mean)), "", "")
    return made


def number(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"
