"""The pipelines and the commands that build them; suites of other nests are built in the same way."""

from __future__ import annotations

import importlib.util
import os
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from benchmarks.cpu.contestants import Command, Step
from benchmarks.cpu.kernels import DATASETS, ROOT
from benchmarks.cpu.tools import Tool, Tools

HERE = Path(__file__).parent
FORMS = ("arrays", "flat")
NAMES = ("unsharp", "harris", "bilateral", "camera", "multiscale", "laplacian")
"""In the order of the table."""
STAGES = {"unsharp": 4, "harris": 11, "bilateral": 7, "camera": 32, "multiscale": 49, "laplacian": 84}
OPTIMISE = ("-O3", "-march=native")
EXACT = ("-O2", "-march=native", "-ffp-contract=off")
"""With these, every contestant has to give the naive nests' values to the last bit."""


@dataclass(frozen=True, slots=True)
class Suite:
    """Programs of nests, FOLDER/FORM/NAME.c, with the headers that they share in FOLDER/harness.

    name: of the results' file. pages: the ways to treat the memory between two calls, see harness/pages.c.
    """

    name: str
    title: str
    folder: Path
    names: tuple[str, ...]
    forms: tuple[str, ...]
    pages: tuple[str, ...]

    @property
    def includes(self) -> Command:
        return ("-I", str(ROOT / "polybench" / "harness"), "-I", str(self.folder / "harness"))


PIPELINES = Suite(
    "pipelines",
    "Six image pipelines: plain nests and polyc's output, values compared, with and without page faults.",
    HERE,
    NAMES,
    FORMS,
    ("kept", "fresh"),
)


@dataclass(frozen=True, slots=True)
class Job:
    """A program to build: its form, its size, and the folder for what is made of it."""

    suite: Suite
    name: str
    form: str
    dataset: str
    folder: Path
    tools: Tools
    polyc_options: tuple[str, ...] = ()

    @property
    def source(self) -> Path:
        return self.suite.folder / self.form / f"{self.name}.c"

    @property
    def transformed(self) -> Path:
        return self.folder / f"{self.name}.polyc.c"

    @property
    def defines(self) -> Command:
        return (f"-D{self.dataset}_DATASET",)

    def program(self, contestant: str) -> Path:
        return self.folder / f"{self.name}.{contestant}"


@dataclass(frozen=True, slots=True)
class Contestant:
    """Somebody who makes a program of a pipeline: a C compiler, of the nests or of what polyc makes of them, or Halide.

    schedule: that of Halide's version, one of halide/program.py. names: the pipelines it takes part in; all if empty.
    """

    name: str
    tool: Callable[[Tools], Tool]
    polyc: bool = False
    schedule: str = ""
    names: tuple[str, ...] = ()

    @property
    def parallel(self) -> bool:
        """It uses the threads it is given; if not, it runs on one."""
        return self.polyc or bool(self.schedule)

    def has(self, job: Job) -> bool:
        """It takes part. Halide's version of a pipeline is one, and stands beside the form of arrays."""
        if self.names and job.name not in self.names:
            return False
        return not self.schedule or (job.form == FORMS[0] and halide_text(job).is_file())

    def text(self, job: Job) -> Path:
        return job.transformed if self.polyc else job.source


def translated(job: Job) -> Step:
    """The step that writes polyc's text."""
    argv = (
        sys.executable,
        "-m",
        "polyc",
        "compile",
        str(job.source),
        *job.suite.includes,
        *job.defines,
        *job.polyc_options,
    )
    return Step("polyc", (*argv, "-q", "-o", str(job.transformed)))


def compiled(job: Job, contestant: Contestant, flags: Command) -> list[Step]:
    """Steps that compile the contestant's text, and link it with the timed harness of benchmarks/cpu."""
    if contestant.schedule:
        return halide_compiled(job, contestant, flags)
    program = job.program(contestant.name)
    kernel = str(program.with_suffix(f".{contestant.name}.o"))
    openmp = ("-fopenmp",) if contestant.polyc else ()
    command = (*contestant.tool(job.tools).command, *flags, *openmp, *job.defines, *job.suite.includes)
    files = (kernel, str(ROOT / "benchmarks" / "cpu" / "harness" / "bench.c"), str(HERE / "harness" / "pages.c"))
    return [
        Step("cc", (*command, "-Dmain=bench_kernel_main", "-c", str(contestant.text(job)), "-o", kernel)),
        Step("link", (*command, *files, "-o", str(program), "-lm")),
    ]


def halide_text(job: Job) -> Path:
    """The call of what Halide makes, with the harness around it."""
    return job.suite.folder / "halide" / f"{job.name}.c"


def halide_module(_: Tools) -> Tool:
    """Halide in this interpreter; command: the flags to compile a call with."""
    found = importlib.util.find_spec("halide")
    if found is None or found.origin is None:
        return Tool(missing="no module halide in this Python (its package is on PyPI)")
    return Tool(("-I", str(Path(found.origin).parent / "include")), f"Halide {version('halide')}")


def extents(job: Job) -> Command:
    """ROWS and COLS of the C program, from the lines that define them."""
    text = job.source.read_text()
    found = [re.search(rf"^#define {name} SIZE\((.*?)\)", text, re.MULTILINE) for name in ("ROWS", "COLS")]
    place = DATASETS.index(job.dataset)
    return tuple(sizes[1].split(",")[place].strip() for sizes in found if sizes)


def halide_compiled(job: Job, contestant: Contestant, flags: Command) -> list[Step]:
    """Steps that write the object file of Halide's version, compile its call, and link both with the timed harness."""
    program = job.program(contestant.name)
    stem, call = program.parent / f"halide_{job.name}", f"{program}.o"
    rows, cols = extents(job)
    package = f"benchmarks.{job.suite.name}.halide"
    made = (sys.executable, "-m", package, job.name, rows, cols, contestant.schedule, str(os.cpu_count() or 1))
    includes = (*contestant.tool(job.tools).command, "-I", str(job.folder), *job.suite.includes)
    command = (*job.tools.gcc.command, *flags, *job.defines, f"-DROWS={rows}", f"-DCOLS={cols}", *includes)
    files = (call, f"{stem}.o", str(ROOT / "benchmarks" / "cpu" / "harness" / "bench.c"))
    return [
        Step("halide", (*made, str(stem))),
        Step("cc", (*command, "-Dmain=bench_kernel_main", "-c", str(halide_text(job)), "-o", call)),
        Step(
            "link",
            (*command, *files, str(HERE / "harness" / "pages.c"), "-o", str(program), "-lm", "-lpthread", "-ldl"),
        ),
    ]


SHORT = tuple(name for name in NAMES if STAGES[name] < 40)
"""Adams2019 was not done with the others after 200 seconds, and took gigabytes."""

CONTESTANTS = (
    Contestant("gcc", lambda t: t.gcc),
    Contestant("clang", lambda t: t.clang),
    Contestant("polyc", lambda t: t.gcc, polyc=True),
    Contestant("halide", halide_module, schedule="manual"),
    Contestant("halide-mullapudi", halide_module, schedule="Mullapudi2016"),
    Contestant("halide-adams", halide_module, schedule="Adams2019", names=SHORT),
)
