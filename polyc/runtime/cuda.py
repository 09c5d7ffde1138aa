"""Building a CUDA text for the GPU of this machine, with nvcc, where `POLYC_CUDA_DEVICE` asks for it.

A sanitizer's view of a device is not the shim's: `compute-sanitizer polyc verify …` adds it.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from polyc.runtime.process.build import OBJECT, MissingToolError, run_compiler

VARIABLE = "POLYC_CUDA_DEVICE"
"""Which of CUDA's devices runs the kernels, a number; without it the shim does, on the CPU."""
NVCC = ["-O3", "-fmad=false", "-arch=native", "-Xcompiler", "-fPIC"]
"""Products and sums are rounded one by one, as in the C text that kernels are compared with."""


def device() -> str | None:
    """The device that runs kernels, as `CUDA_VISIBLE_DEVICES` wants it; None where the shim does."""
    return os.environ.get(VARIABLE) or None


def build(cuda_text: str, host: Path, folder: Path, cc: str) -> Path:
    """Compile a CUDA text and a C file to `folder/region.so`. Raises BuildError, MissingToolError without nvcc."""
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        raise MissingToolError(f"{VARIABLE} is set, and nvcc is not in PATH; it comes with the CUDA toolkit")
    source, library = folder / "region.cu", folder / "region.so"
    source.write_text(cuda_text, encoding="utf-8", errors="surrogateescape")
    kernels, rest = folder / "kernels.o", folder / "host.o"
    run_compiler([nvcc, *NVCC, "-c", str(source), "-o", str(kernels)], folder)
    run_compiler([cc, *OBJECT, "-c", str(host), "-o", str(rest)], folder)
    run_compiler([nvcc, "-arch=native", "-shared", str(kernels), str(rest), "-o", str(library), "-lm"], folder)
    return library
