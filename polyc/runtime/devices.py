"""Building a region whose result runs on a GPU: on PoCL or any OpenCL device, or CUDA, on a GPU or in the shim."""

from __future__ import annotations

from pathlib import Path

from polyc.codegen.gpu.render import render_device_files
from polyc.model.program import Compiled
from polyc.model.scop import Region
from polyc.runtime import cuda, cuda_shim
from polyc.runtime.opencl import missing, support
from polyc.runtime.process.build import BuildError, build


def build_for_device(
    text: str, region: Region, compiled: Compiled, folder: Path, cc: str, count: bool = False
) -> tuple[Path, dict[str, str]]:
    """The library of a region's two forms, and what its process needs in the environment. Raises BuildError.

    count: a library that counts what its CUDA kernels do, instead of checking it
    """
    target = compiled.program.options.target
    files = render_device_files(region.scop.span.file, [compiled.device], target)
    if target == "cuda":
        host = folder / "host.c"
        host.write_text(text, encoding="utf-8", errors="surrogateescape")
        on_device = None if count else cuda.device()
        if on_device is not None:
            return cuda.build(files[".cu"], host, folder, cc), {"CUDA_VISIBLE_DEVICES": on_device}
        return cuda_shim.build(files[".cu"], [host], folder, cc=cc, count=count), {}
    found = support(cc)
    if found is None:
        raise BuildError(f"no OpenCL device: {missing(cc)}")
    # One file: the loader stands after both forms, which call it.
    whole = f"{text}\n{files['.opencl.c']}"
    return build(whole, folder, cc, openmp=False, flags=found.flags), found.environment(folder)


def device_faults(library: Path) -> list[str]:
    """What the shim found wrong in the kernels of a run: races, accesses out of bounds, barriers that not all reach."""
    return cuda_shim.report(library)
