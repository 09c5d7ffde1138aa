"""The contestants: what each is called, which tool it needs, and the commands that build a kernel with it."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from .kernels import ROOT, Kernel
from .tools import POLLY_FLAGS, POLLY_LINK, Tool, Tools

HERE = Path(__file__).parent
INCLUDES = ("-I", str(ROOT / "polybench" / "harness"))
OPTIMISE = ("-O3", "-march=native")
BLAS_KERNELS = tuple(sorted(file.stem for file in (HERE / "blas").glob("*.inc")))
REGION = re.compile(r"^#pragma scop$.*?^#pragma endscop$", re.MULTILINE | re.DOTALL)

Command = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Job:
    """One kernel to build: its text, its size, and the folder that the contestant has for itself."""

    kernel: Kernel
    dataset: str
    element: str
    """'double' or 'float'."""
    folder: Path
    tools: Tools
    polyc_options: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    """More flags for every contestant's C compiler."""

    @property
    def defines(self) -> Command:
        return (f"-D{self.dataset}_DATASET", *(("-DDATA_TYPE_IS_FLOAT",) if self.element == "float" else ()))

    @property
    def source(self) -> Path:
        return self.kernel.file

    @property
    def transformed(self) -> Path:
        """The C text that a source-to-source contestant writes."""
        return self.folder / f"{self.kernel.name}.c"

    @property
    def object(self) -> Path:
        return self.folder / f"{self.kernel.name}.o"

    @property
    def program(self) -> Path:
        return self.folder / self.kernel.name


@dataclass(frozen=True, slots=True)
class Step:
    """One command of a build: what it is called in the results, and whether the kernel's C compiler runs in it."""

    what: str
    argv: Command


@dataclass(frozen=True, slots=True)
class Contestant:
    """Somebody who makes a program of a kernel."""

    name: str
    tool: Callable[[Tools], Tool]
    """What it needs; not there: every kernel of it is a blank."""
    steps: Callable[[Job], list[Step]]
    parallel: bool = True
    """It uses the threads it is given; if not, it runs on one."""
    peer: bool = True
    """A compiler that polyc is compared with; not for polyc and for hand-written libraries."""
    kernels: tuple[str, ...] = ()
    """The kernels that it has; all if empty."""


def compiled(job: Job, cc: Tool, text: Path, flags: Command = (), libraries: Command = ()) -> list[Step]:
    """Steps that compile `text` and link it with the timed harness."""
    common = (*cc.command, *OPTIMISE, *job.flags, *flags, *INCLUDES)
    headers = tuple(word for word in libraries if word.startswith("-I"))
    return steps(job, (*common, *headers), text, libraries)


def steps(job: Job, command: Command, text: Path, libraries: Command = ()) -> list[Step]:
    compile_only = ("-Dmain=bench_kernel_main", "-c", str(text), "-o", str(job.object))
    files = (str(job.object), str(HERE / "harness" / "bench.c"), "-o", str(job.program))
    return [Step("cc", (*command, *job.defines, *compile_only)), Step("link", (*command, *files, *libraries, "-lm"))]


def polyc(job: Job) -> Step:
    argv = (sys.executable, "-m", "polyc", "compile", str(job.source), *INCLUDES, *job.defines, *job.polyc_options)
    return Step("polyc", (*argv, "-q", "-o", str(job.transformed)))


def polyc_gcc(job: Job) -> list[Step]:
    return [polyc(job), *compiled(job, job.tools.gcc, job.transformed, ("-fopenmp",))]


def polyc_clang(job: Job) -> list[Step]:
    return [polyc(job), *compiled(job, job.tools.clang, job.transformed, ("-fopenmp",))]


def polly(job: Job) -> list[Step]:
    return compiled(job, job.tools.polly, job.source, POLLY_FLAGS, POLLY_LINK)


def pluto(job: Job) -> list[Step]:
    step = Step(
        "pluto", (*job.tools.pluto.command, str(job.source), "--tile", "--parallel", "-o", str(job.transformed))
    )
    return [step, *compiled(job, job.tools.gcc, job.transformed, ("-fopenmp",))]


def ppcg(job: Job) -> list[Step]:
    argv = (*job.tools.ppcg.command, "--target=c", "--openmp", "--tile", *INCLUDES, *job.defines, str(job.source))
    step = Step("ppcg", (*argv, "-o", str(job.transformed)))
    return [step, *compiled(job, job.tools.gcc, job.transformed, ("-fopenmp",))]


def openblas(job: Job) -> list[Step]:
    """The kernel's own text, calls of the library in the place of its region."""
    calls = (HERE / "blas" / f"{job.kernel.name}.inc").read_text()
    text, count = REGION.subn(lambda _: calls.rstrip(), job.source.read_text())
    if count != 1:
        raise ValueError(f"{job.source}: {count} regions, not 1")
    job.transformed.write_text(f'#include "blas.h"\n{text}')
    return compiled(job, job.tools.gcc, job.transformed, ("-I", str(HERE / "blas")), job.tools.openblas.command)


CONTESTANTS = (
    Contestant("gcc", lambda t: t.gcc, lambda j: compiled(j, j.tools.gcc, j.source), parallel=False),
    Contestant("clang", lambda t: t.clang, lambda j: compiled(j, j.tools.clang, j.source), parallel=False),
    Contestant("polyc", lambda t: t.gcc, polyc_gcc, peer=False),
    Contestant("polyc+clang", lambda t: t.clang_openmp, polyc_clang, peer=False),
    Contestant("polly", lambda t: t.polly, polly),
    Contestant("pluto", lambda t: t.pluto, pluto),
    Contestant("ppcg", lambda t: t.ppcg, ppcg),
    Contestant("openblas", lambda t: t.openblas, openblas, peer=False, kernels=BLAS_KERNELS),
)


def reference(job: Job) -> list[Step]:
    """The values that all others are held against: gcc -O2 without contraction, the original text."""
    return steps(job, (*job.tools.gcc.command, "-O2", "-ffp-contract=off", *INCLUDES), job.source)
