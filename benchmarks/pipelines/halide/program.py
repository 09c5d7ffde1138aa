"""What a pipeline in Halide is made of, and the object file that comes out of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import halide as hl

SCHEDULES = ("manual", "Mullapudi2016", "Adams2019")
"""Ours, and the autoschedulers of the wheel."""
LIBRARIES = Path(hl.__file__).parent / "lib64"
VECTOR = 16
"""Floats in a register of AVX-512."""


@dataclass(frozen=True, slots=True)
class Program:
    """A pipeline before it has a schedule: extents are those of the output, the innermost dimension first."""

    inputs: tuple[Any, ...]
    output: Any
    extents: tuple[int, ...]
    schedule: Callable[[], None]


def image(kind: Any, name: str, *extents: int) -> Any:
    """A dense input of fixed size, the innermost dimension first."""
    made = hl.ImageParam(kind, len(extents), name)
    dense(made, extents)
    return made


def dense(buffer: Any, extents: tuple[int, ...]) -> None:
    """Tell Halide the size and the strides, as C's arrays have them."""
    stride = 1
    for d, extent in enumerate(extents):
        buffer.dim(d).set_bounds(0, extent)
        buffer.dim(d).set_stride(stride)
        buffer.dim(d).set_estimate(0, extent)
        stride *= extent


def target() -> Any:
    """This machine. Sizes are those of the C programs, so that nothing is left to check at run time."""
    return hl.get_host_target().with_feature(hl.TargetFeature.NoAsserts).with_feature(hl.TargetFeature.NoBoundsQuery)


def write(program: Program, function: str, schedule: str, parallelism: int, stem: Path) -> None:
    """Write stem.o and stem.h with `function`; parallelism: the threads that an autoscheduler plans for."""
    dense(program.output.output_buffer(), program.extents)
    for d, extent in enumerate(program.extents):
        program.output.set_estimate(program.output.args()[d], 0, extent)
    pipeline = hl.Pipeline(program.output)
    if schedule == "manual":
        program.schedule()
    else:
        hl.load_plugin(str(LIBRARIES / f"libautoschedule_{schedule.lower()}.so"))
        pipeline.apply_autoscheduler(target(), hl.AutoschedulerParams(schedule, {"parallelism": str(parallelism)}))
    files = {hl.OutputFileType.object: f"{stem}.o", hl.OutputFileType.c_header: f"{stem}.h"}
    pipeline.compile_to(files, list(program.inputs), function, target())
