"""Batches for a GPU: kernels of many programs in one text, CUDA in the shim or OpenCL on PoCL."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from subprocess import CompletedProcess

from polyc.codegen.gpu.render import render_device_files
from polyc.model.program import Options
from polyc.runtime import cuda_shim
from polyc.runtime.opencl import missing, support
from polyc.runtime.process.build import BuildError

BUILDS = ("cuda", "opencl")
"""In turn. Each is the target's name, too."""
EVERY = 6
"""With all targets, one in so many batches is for a GPU."""
LIMIT_SECONDS = 120
"""For a program: the first one waits for all kernels of the batch to be built."""
FAULTS = ("race", "bounds", "uninitialised", "index", "misaligned", "divergent barrier", "launch")
"""What the shim reports."""
Compiler = Callable[..., CompletedProcess[str]]


def build_of(batch: int, cpu_build: str, targets: str) -> str:
    """How a batch is built: `cpu` leaves it as it is, `gpu` takes the GPU's builds in turn, `all` some of them."""
    if targets == "gpu":
        return BUILDS[batch % len(BUILDS)]
    if targets == "all" and batch % EVERY == EVERY - 1:
        return BUILDS[batch // EVERY % len(BUILDS)]
    return cpu_build


def options_of(options: Options, build: str) -> Options:
    return replace(options, target=build, machine="generic") if build in BUILDS else options


def available() -> tuple[str, ...]:
    """The builds that this machine can run."""
    return BUILDS if support() is not None else BUILDS[:1]


def link(build: str, kernels: list[tuple[str, ...]], sources: list[str], gcc: Compiler, folder: Path) -> None:
    """Link the driver with the originals and with the results, whose kernels are one text. Raises BuildError."""
    files = render_device_files("batch.c", kernels, build)
    flags = ["-O1", f"-I{Path(__file__).parent}", f"-DLIMIT_SECONDS={LIMIT_SECONDS}"]
    if build == "cuda":
        cuda_shim.build(files[".cu"], [folder / "result.c"], folder)
        flags += [*sources, "original.o", "region.so", "-Wl,-rpath,$ORIGIN"]
    else:
        found = support()
        if found is None:
            raise RuntimeError(f"no OpenCL device: {missing()}")
        (folder / "device.c").write_text(files[".opencl.c"])
        flags += ["-w", *found.include_flags, *sources, "device.c", "original.o", "result.o", *found.link_flags]
    done = gcc(folder, *flags, "-lm", "-o", "batch")
    if done.returncode:
        raise BuildError(done.stderr)


def environment(build: str, folder: Path) -> dict[str, str]:
    found = support() if build == "opencl" else None
    return found.environment(folder) if found else {}


def told(build: str, folder: Path, said: str) -> tuple[str, str] | None:
    """The fault that a result ended with: its kind, and the words of the shim, with a line of the CUDA text."""
    if build != "cuda":
        return ("device", said) if said.startswith("polyc: ") else None
    for line in cuda_shim.report(folder / "region.so"):
        kind = next((kind for kind in FAULTS if line.startswith(f"{kind}: ")), "shim")
        return kind, line
    return ("device", said) if said.startswith("polyc: ") else None
