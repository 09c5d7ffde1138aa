"""Building a region's kernels with counters, running them on the CPU, and what was counted."""

from __future__ import annotations

import math
import tempfile
from pathlib import Path

import numpy as np

from polyc.codegen.gpu.render import render_device_files
from polyc.machine import Gpu, load_gpu
from polyc.model.program import Compiled
from polyc.model.scop import CALLS, Region
from polyc.profile.predicted import Prediction, predict
from polyc.profile.ptxas import Resources, assemble
from polyc.records import dataclass, field
from polyc.runtime import csource, sizes
from polyc.runtime.call import Setting, arguments_of, child_output, read_table
from polyc.runtime.check import first_error, follow_parameters, too_large
from polyc.runtime.cuda_shim import BLOCKS, Launch, read_counters
from polyc.runtime.devices import build_for_device, device_faults
from polyc.runtime.inputs import random_array
from polyc.runtime.layout import Layout, Unsafe
from polyc.runtime.process.build import BuildError

NOT_MAPPED = "not-mapped"
"""The remark that says why a region has no kernels."""
MOST_BLOCKS = 24
"""Blocks of a launch that are counted, about."""
SIZE = 1024
"""About what parameters are that nobody gave a value for."""
LIMIT_SECONDS = 900


class NotProfiled(Exception):
    """Nothing could be counted; the message says why."""


@dataclass(frozen=True, slots=True)
class KernelProfile:
    """One kernel: what it did, what it takes, and how it is predicted to run."""

    launch: Launch
    resources: Resources | None
    predicted: Prediction


@dataclass(frozen=True, slots=True)
class Profile:
    """The kernels of a region, in the order in which they start."""

    values: dict[str, int]
    """Of the parameters."""
    machine: Gpu
    text: str
    """The CUDA text, whose lines the counters name."""
    kernels: list[KernelProfile]
    notes: list[str] = field(default_factory=list)
    """What the numbers do not have."""


def profile(
    region: Region, compiled: Compiled, size: int = SIZE, most_blocks: int = MOST_BLOCKS, cc: str = "gcc", seed: int = 0
) -> Profile:
    """Run the kernels of a region that was compiled for CUDA, and count. Raises NotProfiled.

    size:        parameters without a value are about so large
    most_blocks: of a launch; 0: all of them
    """
    if not compiled.device:
        reasons = [remark.message for remark in compiled.program.remarks if remark.code == NOT_MAPPED]
        raise NotProfiled(f"the region has no kernels: {reasons[0] if reasons else 'nothing of it runs on a GPU'}")
    if CALLS in region.scop.arrays:
        raise NotProfiled("the region calls functions that may do more than compute")
    machine = load_gpu(compiled.program.options.machine)
    text = render_device_files(region.scop.span.file, [compiled.device], "cuda")[".cu"]
    values = sizes.near(sizes.feasible(region.scop), size)
    if values is None:
        raise NotProfiled("no values of the parameters keep every access inside its array")
    with tempfile.TemporaryDirectory(prefix="polyc-profile-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        assembled = assemble(text, folder, machine.compute_capability)
        setting = built(region, compiled, folder, cc)
        run(setting, values, most_blocks, seed)
        launches = read_counters(setting.library)
    found = []
    for launch in launches:
        resources = assembled.of(launch.kernel)
        found.append(KernelProfile(launch, resources, predict(launch, resources, machine)))
    notes = [assembled.note] if assembled.note else []
    if any(launch.operations is None for launch in launches):
        notes.append("objdump is not there, or knows no such processor: arithmetic is left out of the predictions")
    return Profile(values, machine, text, found, notes)


def built(region: Region, compiled: Compiled, folder: Path, cc: str) -> Setting:
    """The library that counts. Raises NotProfiled."""
    try:
        source = csource.c_source(region, csource.with_all_threads(compiled.text))
        library, environment = build_for_device(source.text, region, compiled, folder, cc, count=True)
    except csource.Unrunnable as problem:
        raise NotProfiled(f"the region cannot be run on its own: {problem}") from None
    except BuildError as problem:
        raise NotProfiled(f"the kernels cannot be built for the CPU: {first_error(problem)}") from None
    entries = max(1, len(source.arrays))
    table = read_table(folder, library, csource.ELEMENT_SIZES, entries, LIMIT_SECONDS, environment)
    if not table:
        raise NotProfiled("the region cannot be loaded on its own: it needs something of the rest of the program")
    bytes_of = dict(zip(source.arrays, table, strict=False))
    return Setting(region.scop, source, folder, library, bytes_of, False, LIMIT_SECONDS, environment)


def run(setting: Setting, values: dict[str, int], most_blocks: int, seed: int) -> None:
    """Call the result once, on random input. Raises NotProfiled where it is too large, or goes wrong."""
    try:
        shapes = Layout(setting.scop, values).shapes()
    except Unsafe as problem:
        raise NotProfiled(f"no safe input is known: {problem}") from None
    total = sum(math.prod(s.extents) * setting.element_bytes[n] for n, s in shapes.items())
    if (reason := too_large(total, 0)) is not None:
        raise NotProfiled(f"too large to run: {reason}; --param and --size make it smaller")
    rng = np.random.default_rng(seed)
    arrays = {
        name: random_array(shapes[name], setting.scop.arrays[name].element, setting.element_bytes[name], rng)
        for name in setting.source.arrays
    }
    follow_parameters(setting.scop, arrays, values)
    calls = [{"function": csource.RESULT, "arguments": arguments_of(setting, arrays, shapes, values)}]
    environment = {**setting.environment, BLOCKS: str(most_blocks)}
    job = {"library": str(setting.library), "calls": calls}
    _, fault = child_output(setting.folder, job, setting.limit_seconds, environment)
    faults = device_faults(setting.library)
    if faults or fault:
        hint = "; only some blocks were run, --blocks all runs all of them" if most_blocks and faults else ""
        raise NotProfiled(f"the kernels go wrong on this input: {faults[0] if faults else fault}{hint}")
