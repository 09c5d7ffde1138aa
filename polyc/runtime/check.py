"""The original of a region against its result: both run on the same random input, at several sizes."""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import islpy as isl
import numpy as np

from polyc.model.program import Compiled
from polyc.model.scop import CALLS, Region, Scop
from polyc.records import dataclass, field
from polyc.runtime import csource, sizes
from polyc.runtime.call import Setting, read_table, run_child
from polyc.runtime.devices import build_for_device, device_faults
from polyc.runtime.differences import Difference, first_difference
from polyc.runtime.inputs import Data, random_array
from polyc.runtime.layout import Layout, Unsafe
from polyc.runtime.process.build import BuildError, MissingToolError, build, has_openmp
from polyc.runtime.tolerance import tolerances

SIZES = (1, 5, 17, 40, 140)
"""The last one is larger than the tiles of most nests."""
LARGEST_BYTES = 1 << 28
"""Arrays of so many bytes are run on any machine; larger ones where memory is free for eight times as much."""
LARGEST_WORK = 2_000_000_000
"""Statement instances of one run."""
LIMIT_SECONDS = 120


@dataclass(frozen=True, slots=True)
class Row:
    """What one run compared."""

    values: dict[str, int]
    arrays: tuple[str, ...]
    elements: int
    differences: int
    rounding: float = 0.0
    """How far a value might be off, relative to itself, for tensor cores (`tolerance.py`)."""


@dataclass(slots=True)
class Report:
    """All runs of a region."""

    rows: list[Row] = field(default_factory=list)
    differences: list[Difference] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    """Sizes that were not run, and why."""


def check(
    region: Region, compiled: Compiled, sizes: tuple[int, ...] = SIZES, cc: str = "gcc", seed: int = 0
) -> list[Difference]:
    """The differences between a region and its result; the first one of each array and size."""
    return compare(region, compiled, sizes, cc, seed).differences


def compare(
    region: Region,
    compiled: Compiled,
    wanted: tuple[int, ...] = SIZES,
    cc: str = "gcc",
    seed: int = 0,
    limit_seconds: float = LIMIT_SECONDS,
    step: Callable[[str], AbstractContextManager[None]] = lambda name: nullcontext(),
) -> Report:
    """Build and run both forms at the sizes that are wanted. Raises BuildError where `cc` does not run.

    step: is entered for each size, with its name, and left when it was run.
    """
    report = Report()
    if CALLS in region.scop.arrays:
        report.skipped.append("it calls functions that may do more than compute: run twice, they need not do the same")
        return report
    try:
        source = csource.c_source(region, csource.with_all_threads(compiled.text))
    except csource.Unrunnable as problem:
        report.skipped.append(f"the region cannot be run on its own: {problem}")
        return report
    with tempfile.TemporaryDirectory(prefix="polyc-verify-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        target, environment = compiled.program.options.target, dict[str, str]()
        try:
            if compiled.device:
                library, environment = build_for_device(source.text, region, compiled, folder, cc)
            else:
                library = build(source.text, folder, cc, target == "openmp" and has_openmp(cc))
        except BuildError as problem:
            tell_build_error(region, problem, folder, cc, report)
            return report
        table = read_table(
            folder, library, csource.ELEMENT_SIZES, max(1, len(source.arrays)), limit_seconds, environment
        )
        if not table:
            report.skipped.append(
                "the region cannot be loaded on its own: it needs something of the rest of the program"
            )
            return report
        reassociated = compiled.program.options.reassociate
        setting = Setting(
            region.scop,
            source,
            folder,
            library,
            dict(zip(source.arrays, table, strict=False)),
            reassociated,
            limit_seconds,
            environment,
        )
        found = sizes.feasible(region.scop)
        tried: list[dict[str, int]] = []
        for size in wanted:
            values = sizes.near(found, size)
            if values is None:
                report.skipped.append("no values of the parameters keep every access inside its array")
                break
            if values not in tried:
                tried.append(values)
                with step(f"at about {size}"):
                    run_size(setting, values, seed + size, report, tolerances(compiled.program, values))
    return report


def too_large(total: int, instances: int) -> str | None:
    """Why arrays of so many bytes and so many statement instances are not run; None where they are."""
    room = max(LARGEST_BYTES, free_bytes() // 8)
    if total > room:
        return (
            f"its arrays have {total >> 20} MB, and {room >> 20} MB are what this machine has room for, several times"
        )
    if instances > LARGEST_WORK:
        return f"{instances:.2g} statement instances, where {LARGEST_WORK:.0g} are the most"
    return None


def free_bytes() -> int:
    """Memory that nobody uses, 0 where the system does not tell."""
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError, AttributeError):
        return 0


def tell_build_error(region: Region, problem: BuildError, folder: Path, cc: str, report: Report) -> None:
    """The result is wrong where the original alone can be built; otherwise polyc lacks something to build both."""
    if isinstance(problem, MissingToolError):
        report.skipped.append(str(problem))
        return
    try:
        build(csource.c_source(region, region.original).text, folder, cc)
    except BuildError as other:
        report.skipped.append(f"the region cannot be built on its own: {first_error(other)}")
    else:
        report.differences.append(Difference(f"the result does not compile: {first_error(problem)}", {}))


def first_error(problem: BuildError) -> str:
    """The compiler's first error, without the name of the file that it never gave us."""
    lines = str(problem).splitlines()
    missing = next((line for line in lines if "undefined reference to" in line), "")
    if missing:
        return missing[missing.index("undefined reference to") :]
    found = next((line for line in lines if "error:" in line), lines[0] if lines else "no message")
    return found.partition("error:")[2].strip() or found


def run_size(setting: Setting, values: dict[str, int], seed: int, report: Report, rounding: dict[str, float]) -> None:
    """Run both forms for some values of the parameters, and note what differs; `rounding`: how far arrays may be
    off."""
    named = ", ".join(f"{name} = {value}" for name, value in values.items()) or "these sizes"
    try:
        shapes = Layout(setting.scop, values).shapes()
    except Unsafe as problem:
        report.skipped.append(f"{named}: {problem}")
        return
    total = sum(math.prod(s.extents) * setting.element_bytes[n] for n, s in shapes.items())
    if (reason := too_large(total, work(setting.scop, values))) is not None:
        report.skipped.append(f"{named}: too large to run: {reason}")
        return
    rng = np.random.default_rng(seed)
    arrays = {
        name: random_array(shapes[name], array.element, setting.element_bytes[name], rng, array.layout)
        for name, array in ((name, setting.scop.arrays[name]) for name in setting.source.arrays)
    }
    follow_parameters(setting.scop, arrays, values)
    ended = run_child(setting, arrays, shapes, values)
    for fault in device_faults(setting.library):
        report.differences.append(Difference(f"with {named}: {fault}", values))
        return
    if ended.original_fault:
        report.skipped.append(f"{named}: the original {ended.original_fault} on this input")
        return
    if ended.result_fault:
        message = f"the result {ended.result_fault} where the original does not, with {named}"
        report.differences.append(Difference(message, values))
        return
    off = {name: rounding[name] for name in compared(setting) if name in rounding}
    differences = [
        d for name in compared(setting) if (d := first_difference(setting, shapes[name], values, off.get(name, 0.0)))
    ]
    report.differences += differences
    elements = sum(arrays[name].size for name in compared(setting))
    report.rows.append(
        Row(values, tuple(compared(setting)), elements, len(differences), max(off.values(), default=0.0))
    )


def compared(setting: Setting) -> list[str]:
    return [name for name in setting.source.arrays if name in setting.scop.live_out]


def work(scop: Scop, values: dict[str, int]) -> int:
    """At most so many statement instances run: the boxes around their domains."""
    point = sizes.fixed(values)
    total = 0
    for statement in scop.statements.values():
        domain = statement.domain.intersect_params(point)
        spans = [sizes.bounds(domain, k) for k in range(domain.dim(isl.dim_type.set))]
        total += math.prod(span[1] - span[0] + 1 if span else 0 for span in spans)
    return total


def follow_parameters(scop: Scop, arrays: dict[str, Data], values: dict[str, int]) -> None:
    """A scalar that is a parameter as well has the parameter's value."""
    for parameter in scop.parameters:
        if parameter.name in arrays and arrays[parameter.name].ndim == 0:
            arrays[parameter.name] = np.array(values[parameter.name], dtype=arrays[parameter.name].dtype)
