"""`polyc report`: which loops of a project polyc compiles, why not the others, and what would free most of them."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import click

from polyc.cli import options as o
from polyc.cli import output, several, terminal
from polyc.cli.failure import Command
from polyc.cli.progress import Progress
from polyc.errors import Span, UserError
from polyc.records import dataclass

COMMANDS = "compile_commands.json"


@dataclass(frozen=True, slots=True)
class Job:
    """A translation unit to be compiled."""

    file: str
    folder: str
    words: tuple[str, ...]
    """Of the compiler's command line, without the compiler, its output and `-c`."""


@click.command("report", cls=Command, short_help="Show which loops of a project are compiled, and why not.")
@click.argument("places", metavar="BUILD...", nargs=-1, required=True, type=click.Path(exists=True))
@click.option("--format", "form", type=click.Choice(["text", "html", "json"]), default=None,
              help="For people, for a browser, for scripts.  [default: text, html for -o FILE.html]")  # fmt: skip
@click.option(
    "-o", "target_file", metavar="OUT", default=output.STDOUT, help="A file to write.  [default: standard output]"
)
@click.option(
    "--profile", metavar="FILE", help="What 'gprof -b -p' or 'perf report --stdio' prints: the hot loops come first."
)
@click.option("-I", "include_dirs", metavar="DIR", multiple=True, type=o.Folder(), help="Search DIR for headers.")
@click.option("-D", "defines", metavar="NAME[=VALUE]", multiple=True, type=o.Definition(), help="Define a macro.")
@click.option(
    "--time", "limit", metavar="SECONDS", default=120, show_default=True, type=o.Whole(min=1), help="For each file."
)
@click.option(
    "-Xpolyc", "own", metavar="OPTION", multiple=True, help="An option of 'polyc compile', as for 'polyc cc'."
)
@several.JOBS
def command(places: tuple[str, ...], form: str | None, target_file: str, profile: str | None, jobs: int | None,
            limit: int, **options: Any) -> None:  # fmt: skip
    """Compile the loops of a project without building it, and tell what became of each.

    BUILD is a folder with compile_commands.json, a folder with C files, a C file, or a folder of records that
    'polyc cc --report FOLDER' left.
    """
    from polyc.cli import project
    from polyc.explain.facts.profile import read_profile

    form = form or ("html" if target_file.endswith(project.PAGE) else "text")
    hot = read_profile(profile) if profile is not None else {}
    units = []
    work: list[Job] = []
    for place in places:
        found = jobs_of(Path(place), options)
        if not found and (records := project.load(Path(place))):
            units += records
        elif not found:
            raise click.UsageError(f"'{place}' has no C files, no {COMMANDS} and no records of a build")
        work += found
    with tempfile.TemporaryDirectory(prefix="polyc-report-") as folder:
        run_all(work, Path(folder), jobs or several.default_jobs(), limit, options["own"])
        units = sorted([*units, *project.load(Path(folder))], key=lambda unit: unit.path)
    if form == "text":
        from polyc.explain.words import project as words

        text = words.render(units, hot)
        terminal.show(text) if target_file == output.STDOUT else output.write(target_file, text)
    elif form == "json":
        from polyc.explain.facts.translation_unit import as_data

        rows = [as_data(unit) for unit in units]
        for row in rows:
            del row["source"]
        output.write(target_file, json.dumps({"files": rows}, indent=2) + "\n")
    else:
        from polyc.explain.html import project as page

        output.write(target_file, page.render(units, hot))


# --- what there is to be compiled


def jobs_of(place: Path, options: dict[str, Any]) -> list[Job]:
    """The translation units of a place. Raises UserError."""
    if place.is_file() and place.name != COMMANDS:
        return [plain(place, options)]
    database = place if place.is_file() else place / COMMANDS
    if database.is_file():
        return from_database(database)
    return [plain(file, options) for file in sorted(place.rglob("*.c"))]


def plain(file: Path, options: dict[str, Any]) -> Job:
    """A file without a command of its own."""
    words = [*(f"-I{folder}" for folder in options["include_dirs"]), *(f"-D{one}" for one in options["defines"])]
    return Job(str(file), ".", (*words, str(file)))


def from_database(database: Path) -> list[Job]:
    """The C files of a compilation database (clang's JSONCompilationDatabase). Raises UserError."""
    try:
        entries = json.loads(database.read_text(encoding="utf-8"))
        found = []
        for entry in entries:
            words = entry["arguments"] if "arguments" in entry else shlex.split(entry["command"])
            file, folder = entry["file"], entry.get("directory", ".")
            if str(file).endswith(".c"):
                found.append(Job(os.path.join(folder, file), folder, tuple(without_output(words[1:]))))
    except (OSError, ValueError, KeyError, TypeError):
        hint = "cmake makes one with -DCMAKE_EXPORT_COMPILE_COMMANDS=ON"
        raise UserError.of("bad-database", "this is no compilation database", Span(str(database), 1), hint) from None
    return found


def without_output(words: list[str]) -> list[str]:
    """A command's words without what is made, and without rules for make."""
    found: list[str] = []
    skipping = False
    for word in words:
        if skipping:
            skipping = False
        elif word in ("-o", "-MF", "-MT", "-MQ"):
            skipping = True
        elif not word.startswith(("-MD", "-MMD", "-MP")) and word not in ("-c", "-S"):
            found.append(word)
    return found


# --- compiling


def run_all(work: list[Job], folder: Path, jobs: int, limit: int, own: tuple[str, ...]) -> None:
    """Have `polyc cc` leave its record of each."""
    with Progress("reporting", len(work), quiet=False) as progress, ThreadPoolExecutor(max_workers=jobs) as pool:
        results = pool.map(lambda one: run(one[1], folder / str(one[0]), folder, limit, own), enumerate(work))
        for job, _ in zip(work, results, strict=True):
            with progress.step(job.file):
                pass


def run(job: Job, mine: Path, folder: Path, limit: int, own: tuple[str, ...]) -> None:
    """Compile one translation unit. Where no record comes of it, leave one that says why. `mine`: its own folder."""
    from polyc.cli import project
    from polyc.explain.facts.translation_unit import untouched_record

    options = [word for one in own for word in ("-Xpolyc", one)]
    command = [sys.executable, "-P", "-m", "polyc", "cc", f"--report={mine}", *options, "-Xpolyc", "-q"]
    reason = ""
    try:
        done = subprocess.run(
            [*command, *job.words, "-S", "-o", os.devnull],
            cwd=job.folder, env=several.environment(), timeout=limit, check=False, capture_output=True,
            encoding="utf-8", errors="replace",
        )  # fmt: skip
        lines = [line for line in done.stderr.splitlines() if "error:" in line]
        reason = f"the compiler refuses it: {lines[0].partition('error: ')[2]}" if done.returncode and lines else ""
    except subprocess.TimeoutExpired:
        reason = f"it takes longer than {limit} s"
    found = project.load(mine) if mine.is_dir() else []
    text = Path(job.folder, job.file).read_bytes().decode("utf-8", "surrogateescape")
    if reason or not found:
        found = [untouched_record(os.path.abspath(os.path.join(job.folder, job.file)), text, reason)]
    for unit in found:
        project.save(unit, str(folder))
