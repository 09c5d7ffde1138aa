"""Several files in one command: a polyc of its own for each, so that no file can spoil what is made of another one."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from polyc.cli import diagnostics, output, terminal
from polyc.cli import options as o
from polyc.cli.failure import Command, spelled_out
from polyc.cli.progress import Progress
from polyc.errors import Diagnostic, Span
from polyc.records import dataclass, field

if TYPE_CHECKING:
    import subprocess

FILES = click.argument("files", metavar="FILE...", nargs=-1, required=True, shell_complete=o.files)
JOBS = click.option(
    "-j",
    "--jobs",
    metavar="N",
    type=o.Whole(min=1),
    help="Of several files, N at once.  [default: one a core, up to 8]",
)
MOST_JOBS = 8
"""Files at once where nobody says how many: each takes some hundred megabytes."""
USAGE = 2
INTERRUPTED = 130
_WORDS = "polyc.words"


class FilesCommand(Command):
    """A command for a file, or for several, each of which is handed to this command in a process of its own.

    doing: what progress calls it; ending: of the files that -o or the default names, from the command's values, None
    where nothing is written; lines: whether progress tells each file where there is no terminal.
    """

    def __init__(
        self, *words: Any, doing: str, ending: Callable[[dict[str, Any]], str | None], lines: bool = True, **more: Any
    ) -> None:
        super().__init__(*words, **more)
        self.doing = doing
        self.ending = ending
        self.lines = lines

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[_WORDS] = list(args)
        return super().parse_args(ctx, args)

    def carry_out(self, ctx: click.Context) -> Any:
        """One file here, several by others. Raises as the command, and click.UsageError."""
        files, jobs = ctx.params.pop("files"), ctx.params.pop("jobs")
        if len(files) == 1:
            ctx.params["file"] = files[0]
            return super().carry_out(ctx)
        targets = self.targets(ctx.params, files)
        words = self.option_words(ctx)
        work = [[*words, *(["-o", target] if target else []), "--", file]
                for file, target in zip(files, targets, strict=True)]  # fmt: skip
        quiet = bool(ctx.params.get("quiet")) or ctx.params["diagnostics_format"] != "text"
        told = _Told(ctx.params["diagnostics_format"], ctx.params.get("form", "text"))
        with (
            Progress(self.doing, len(files), quiet, self.lines) as progress,
            running(str(self.name), work, jobs or default_jobs()) as results,
        ):
            for file, done in zip(files, results, strict=True):
                with progress.step(file), progress.paused():
                    told.add(file, done)
        told.end(bool(ctx.params.get("quiet")))
        if told.failed:
            raise click.exceptions.Exit(1)
        return None

    def targets(self, values: dict[str, Any], files: Sequence[str]) -> list[str | None]:
        """Where the result of each file goes. Raises click.UsageError where two would go to one place."""
        ending, target = self.ending(values), values.get("target_file")
        if values.get("dependency_file") is not None:
            raise click.UsageError("-MF names one file: with several FILEs, -MD writes a rule beside each output")
        if values.get("line") is not None:
            raise click.UsageError("--why answers for one FILE")
        if ending is None or (target in (None, output.STDOUT) and not ending.endswith(".c")):
            refuse_pictures(values)
            return [None] * len(files)
        if target is not None and not os.path.isdir(target):
            raise click.UsageError(f"-o names a folder where there are several FILEs, and '{target}' is none")
        found: dict[str, str] = {}
        for file in files:
            place = output.placed(target, file, ending)
            other = found.get(os.path.realpath(place))
            if other is not None:
                raise click.UsageError(f"'{other}' and '{file}' would both be written to '{place}'")
            output.refuse_input(place, files)
            found[os.path.realpath(place)] = file
        return [output.placed(target, file, ending) for file in files]

    def option_words(self, ctx: click.Context) -> list[str]:
        """The options as they were typed, without those that are of all files together."""
        given, _, _ = self.make_parser(ctx).parse_args(spelled_out(ctx.meta[_WORDS]))
        words = []
        for option in self.params:
            if isinstance(option, click.Option) and option.name in given and option.name not in ("target_file", "jobs"):
                spelling, value = max(option.opts, key=len), given[option.name]
                joined = spelling + ("=" if spelling.startswith("--") else "")
                if option.is_flag:
                    words.append(spelling)
                else:
                    words += [f"{joined}{one}" for one in (value if option.multiple else [value])]
        return words


def refuse_pictures(values: dict[str, Any]) -> None:
    """Pages and pictures of several files need a file each. Raises click.UsageError."""
    form = values.get("form", "text")
    if form not in ("text", "json"):
        raise click.UsageError(f"--format {form} of several FILEs needs a folder: -o DIR")


def default_jobs() -> int:
    return min(len(os.sched_getaffinity(0)), MOST_JOBS)


@dataclass(frozen=True, slots=True)
class Done:
    """What a command for one file answered."""

    code: int
    """Its exit code; 128 and the signal where one ended it."""
    out: str
    err: str


@contextmanager
def running(name: str, work: Sequence[Sequence[str]], jobs: int) -> Iterator[Iterator[Done]]:
    """Run `polyc name` with each list of words, so many at once; answers what they said, in order.

    None is left behind where this process ends.
    """
    import subprocess
    import threading
    from concurrent.futures import ThreadPoolExecutor

    started: list[subprocess.Popen[str]] = []
    ending = threading.Event()

    def run(words: Sequence[str]) -> Done:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "polyc", name, *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="surrogateescape",
            env=environment(),
        )
        started.append(process)
        if ending.is_set():
            process.terminate()
        out, err = process.communicate()
        code = process.returncode
        return Done(code if code >= 0 else 128 - code, out, err)

    pool = ThreadPoolExecutor(max_workers=jobs)
    try:
        yield pool.map(run, work)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        ending.set()
        signal.setitimer(signal.ITIMER_REAL, 0)  # each of them ends in time
        for process in started:
            if process.poll() is None:
                process.terminate()
        pool.shutdown()


def environment() -> dict[str, str]:
    """This one, with this polyc, and as wide as this terminal."""
    root = str(Path(__file__).parents[2])
    path = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))
    return {**os.environ, "PYTHONPATH": path, "PYTHONIOENCODING": "utf-8:surrogateescape",
            "COLUMNS": str(terminal.width())}  # fmt: skip


@dataclass(slots=True)
class _Told:
    """What the user gets to read of all files."""

    diagnostics_form: str
    form: str
    """Of what stands on standard output."""
    failed: list[str] = field(default_factory=list)
    documents: list[Any] = field(default_factory=list)
    """The diagnostics of each file."""
    scops: list[Any] = field(default_factory=list)
    said: set[str] = field(default_factory=set)
    """Complaints that are about no file: each is told once."""
    count: int = 0

    def add(self, file: str, done: Done) -> None:
        """Show what a file's command said, at once or in a document of all of them."""
        if done.code == INTERRUPTED:
            raise KeyboardInterrupt
        if done.code == USAGE:  # the command is wrong, whatever the file
            sys.stderr.write(done.err)
            raise click.exceptions.Exit(USAGE)
        self.count += 1
        err = done.err if self.diagnostics_form == "text" else self.without_document(done.err)
        if done.code:
            self.failed.append(file)
        if done.code > USAGE:
            self.died(file, done.code)
        if self.form == "json" and not done.code and done.out:
            self.scops += json.loads(done.out)["scops"]
        elif done.out:
            terminal.show(("\n" if self.count > 1 and self.form == "text" else "") + done.out)
        if not done.code or err not in self.said:
            sys.stderr.write(err)
            sys.stderr.flush()
        self.said.add(err)

    def without_document(self, err: str) -> str:
        """Take the diagnostics off the end of what was said."""
        lines = err.splitlines(keepends=True)
        try:
            document = json.loads(lines[-1]) if lines else None
        except ValueError:
            return err
        if not isinstance(document, (list, dict)):
            return err
        self.documents.append(document)
        return "".join(lines[:-1])

    def died(self, file: str, code: int) -> None:
        """A command that ended without a word is polyc's own fault."""
        problem = Diagnostic("internal-error", f"polyc was ended by signal {code - 128}", Span(file, 1, 1))
        if self.diagnostics_form == "text":
            click.echo(problem.render(), err=True)
        else:
            sources = diagnostics.Sources()
            one = [diagnostics.gcc_json(problem, sources)]
            self.documents.append(one if self.diagnostics_form == "json" else diagnostics.sarif([problem], sources))

    def end(self, quiet: bool) -> None:
        """What is told of all of them."""
        if self.form == "json":
            output.write(output.STDOUT, json.dumps({"scops": self.scops}, indent=2) + "\n")
        if self.diagnostics_form == "json":
            click.echo(json.dumps([one for document in self.documents for one in document]), err=True)
        elif self.diagnostics_form == "sarif":
            click.echo(json.dumps(diagnostics.joined(self.documents)), err=True)
        elif self.failed and not quiet:
            click.echo(f"polyc: {len(self.failed)} of {self.count} files failed: {', '.join(self.failed)}", err=True)
