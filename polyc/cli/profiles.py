"""What `polyc profile` prints for people: a part for each kernel, with the lines that cost more than they need."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

from polyc.cli.messages import table

if TYPE_CHECKING:
    from polyc.profile import KernelProfile, Profile
    from polyc.runtime.cuda_shim import Counts

MOST_LINES = 6
"""Lines of a kernel that are shown."""
WORTH_SHOWING = 0.01
"""Share of the kernel's work for memory that a line has to waste to be shown."""
SECTORS_AT_ONCE = 4
NO_VALUE = "-"


def header(place: str, found: Profile, given: Sequence[str]) -> str:
    """The region, its sizes and its machine; `given`: the parameters whose values the user gave."""
    assumed = [f"{name} = {value}" for name, value in found.values.items() if name not in given]
    promised = [f"{name} = {value}" for name, value in found.values.items() if name in given]
    told = ", ".join([*promised, *(f"{one} assumed" for one in assumed)])
    count = len(found.kernels)
    kernels = "1 kernel" if count == 1 else f"{count} kernels"
    return f"{place}: {kernels} on {found.machine.name}" + (f", {told}" if told else "") + "\n"


def told(found: Profile, width: int) -> str:
    """All kernels of a region, and what their numbers do not have."""
    lines = found.text.split("\n")
    parts = [kernel_text(kernel, lines, width) for kernel in found.kernels]
    notes = "".join(f"  {note}\n" for note in found.notes)
    return "\n".join(parts) + notes


def kernel_text(kernel: KernelProfile, lines: list[str], width: int) -> str:
    """One kernel."""
    launch, total = kernel.launch, kernel.launch.total
    rows = [
        ("", "requests", "", "actual", "least", "ratio"),
        row("global loads", total.load_requests, "sectors", total.load_sectors, total.load_sectors_least),
        row("global stores", total.store_requests, "sectors", total.store_sectors, total.store_sectors_least),
        row("shared memory", total.shared_requests, "wavefronts", total.wavefronts, total.wavefronts_least),
        row("traffic", None, "bytes", moved(kernel), 32 * sum(launch.compulsory)),
    ]
    rows = [one for one in rows if one[1] != "0"]
    return (
        f"  {launch.kernel}: {shape(kernel)}\n"
        + "".join(f"    {one}\n" for one in (resources_text(kernel), *lanes_text(kernel), predicted_text(kernel)))
        + indented(table(rows, right=(1, 3, 4, 5)))
        + worst_lines(kernel, lines, width)
    )


def moved(kernel: KernelProfile) -> int:
    return 32 * (kernel.launch.total.load_sectors + kernel.launch.total.store_sectors)


def row(name: str, requests: int | None, unit: str, actual: int, least: int) -> tuple[str, ...]:
    told = NO_VALUE if requests is None else f"{requests:,}"
    return name, told, unit, f"{actual:,}", f"{least:,}", ratio(actual, least)


def shape(kernel: KernelProfile) -> str:
    """Grid, block, launches, and how many blocks stand for all."""
    launch = kernel.launch
    found = f"grid {times(launch.grid)}, block {times(launch.block)}"
    if launch.launches > 1:
        found += f", {launch.launches:,} launches"
    if launch.sampled:
        found += f"; {launch.blocks_run:,} of {launch.launches * prod(launch.grid):,} blocks stand for all"
    return found


def times(extents: tuple[int, ...]) -> str:
    used = max((k + 1 for k, extent in enumerate(extents) if extent > 1), default=1)
    return " x ".join(f"{extent:,}" for extent in extents[:used])


def resources_text(kernel: KernelProfile) -> str:
    resources, predicted = kernel.resources, kernel.predicted
    registers = "registers unknown" if resources is None else f"{resources.registers} registers"
    spills = f", {resources.spills:,} bytes of spills" if resources is not None and resources.spills else ""
    shared = f", {kernel.launch.shared_bytes:,} bytes of shared memory" if kernel.launch.shared_bytes else ""
    unless = " at most" if resources is None else ""
    return (
        f"{registers}{spills}{shared}; occupancy {percent(predicted.occupancy)}{unless}: "
        f"{predicted.blocks_per_multiprocessor} blocks a multiprocessor, which {predicted.occupancy_bound} limit"
    )


def lanes_text(kernel: KernelProfile) -> list[str]:
    launch, total = kernel.launch, kernel.launch.total
    if not total.requests:
        return ["no request to global or shared memory"]
    found = (
        f"{percent(total.lanes / (32 * total.requests))} of the lanes active in {total.requests:,} requests, "
        f"{total.divergent:,} of them divergent; {total.splits:,} divergent branches"
    )
    others = ((launch.barriers, "barriers"), (total.copies, "requests of cp.async"), (total.atomics, "atomic requests"))
    more = [f"{count:,} {name}" for count, name in others if count]
    return [found, ", ".join(more)] if more else [found]


def predicted_text(kernel: KernelProfile) -> str:
    predicted = kernel.predicted
    return (
        f"predicted {duration(predicted.seconds)}, bound by {predicted.bound}: "
        f"{percent(predicted.share_of_limit)} of the limit ({predicted.limit})"
    )


def worst_lines(kernel: KernelProfile, lines: list[str], width: int) -> str:
    """The lines that cost the most above what they need, the worst first."""
    total = kernel.launch.total
    worth = WORTH_SHOWING * (total.requests + total.wavefronts + passes(total.load_sectors + total.store_sectors))
    found = [(waste(counts), number, counts) for number, counts in kernel.launch.lines.items() if number]
    found = sorted((one for one in found if one[0] > worth), key=lambda one: (-one[0], one[1]))[:MOST_LINES]
    if not found:
        return ""
    rows = [("line", "sectors", "wavefronts", "lanes", "")]
    for _, number, counts in found:
        sectors = ratio(
            counts.load_sectors + counts.store_sectors, counts.load_sectors_least + counts.store_sectors_least
        )
        conflicts = ratio(counts.wavefronts, counts.wavefronts_least)
        text = lines[number - 1].strip()
        lanes = percent(counts.lanes / (32 * counts.requests))
        rows.append((str(number), sectors, conflicts, lanes, cut(text, width - 44)))
    return "    lines of the CUDA text that cost more than they need, the worst first:\n" + indented(
        indented(table(rows, right=(0, 1, 2, 3)))
    )


def waste(counts: Counts) -> float:
    """Passes through the memory units above the least, and those that idle lanes would have saved."""
    if not counts.requests:
        return 0.0
    sectors = counts.load_sectors + counts.store_sectors - counts.load_sectors_least - counts.store_sectors_least
    above = passes(sectors) + counts.wavefronts - counts.wavefronts_least
    return above + counts.requests - counts.lanes / 32


def passes(sectors: int) -> float:
    """Sectors of global memory as passes through the memory units, beside wavefronts of shared memory."""
    return sectors / SECTORS_AT_ONCE


def ratio(actual: int, least: int) -> str:
    return f"{actual / least:.2f}" if least else NO_VALUE


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def duration(seconds: float) -> str:
    """Three digits, in a unit that fits."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def indented(text: str) -> str:
    return "".join(f"  {line}\n" for line in text.splitlines())


def cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: max(0, width - 1)] + "…"
