"""What a group's tiles take, beside what the machine has: footprints, traffic, and the sizes that were not chosen."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from polyc.explain.tiles import Tiles
from polyc.machine import load_cpu, load_gpu
from polyc.model.program import Group, Options, Program, Remark
from polyc.passes.sizes import told_bytes

SIZING = ("registers", "timetiles", "rowblocks", "blocking", "jam", "windows")
"""Passes whose sizes are their own."""
_SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6}
_TOLD = re.compile(r"(?P<what>.*): (?P<value>[\d.e+-]+) (?P<unit>s|ms|us)")


@dataclass(frozen=True, slots=True)
class Bar:
    """A number as a bar."""

    label: str
    share: float
    """Of the whole bar, from 0 to 1."""
    told: str
    over: bool = False
    """It is more than there is room for."""
    chosen: bool = False


@dataclass(frozen=True, slots=True)
class Numbers:
    """Of one group; any part may be empty."""

    footprint: list[Bar]
    """What a tile touches, of each level's capacity."""
    traffic: list[Bar]
    """Predicted bytes from each level, of the most."""
    candidates: list[Bar]
    """Predicted times of sizes, of the longest; the chosen ones first."""
    verdict: str
    """The chosen sizes against the next ones."""
    bound: str
    """What takes longest."""
    told: list[str]
    """What else is known: of a GPU's blocks; and of register tiles, panels, tiles over time, blocks of rows."""


def numbers_of(program: Program, group: Group, tiles: Tiles | None) -> Numbers:
    """The numbers of a group, from the remarks on its sizes and from its tiles."""
    remark = _sizes_remark(program, group)
    data = {} if remark is None else remark.data
    members = {*group.statements, *group.outputs, *group.fused}
    told = data.get("candidates")
    candidates, verdict = _candidates(told) if isinstance(told, (list, tuple)) else ([], "")
    traffic = data.get("traffic_bytes")
    return Numbers(
        list(_footprint(program.options, data, tiles)),
        _traffic(traffic) if isinstance(traffic, dict) else [],
        candidates,
        verdict,
        str(data.get("bound", "")),
        [
            *_of_gpu(data),
            *(m.message for m in program.remarks if m.stage in SIZING and members & set(m.statements)),
        ],
    )


def _sizes_remark(program: Program, group: Group) -> Remark | None:
    members = {*group.statements, *group.outputs, *group.fused}
    found = [m for m in program.remarks if m.code in ("cpu-sizes", "gpu-sizes") and members & set(m.statements)]
    return found[-1] if found else None


def _footprint(options: Options, data: dict[str, Any], tiles: Tiles | None) -> Iterator[Bar]:
    if options.gpu:
        gpu = load_gpu(options.machine)
        limits = (
            ("shared_bytes", "shared memory of a block", gpu.shared_bytes_per_block),
            ("registers", "registers of a thread", gpu.registers_per_thread),
        )
        for key, label, limit in limits:
            if isinstance(data.get(key), int):
                used = int(data[key])
                told = told_bytes(used) if key == "shared_bytes" else str(used)
                most = told_bytes(limit) if key == "shared_bytes" else str(limit)
                yield Bar(label, min(1.0, used / limit), f"{told} of {most} ({_percent(used / limit)})", used > limit)
        return
    size = data.get("footprint_bytes")
    if size is None:
        size = tiles.bytes if tiles is not None else None
    if size is None:
        return
    cpu = load_cpu(options.machine)
    cores = 1 if options.target == "c" else cpu.cores
    for level in cpu.levels:
        room = cpu.capacity(level, cores)
        yield Bar(
            level.name,
            min(1.0, size / room),
            f"{told_bytes(size)} of {told_bytes(room)} ({_percent(size / room)})",
            size > room,
        )


def _of_gpu(data: dict[str, Any]) -> Iterator[str]:
    """What the model of a GPU says of the tiles that it chose."""
    traffic, tiles, score = data.get("traffic_bytes"), data.get("tiles"), data.get("score")
    if not isinstance(traffic, int) or not isinstance(score, float):
        return
    many = f" ({told_bytes(traffic * tiles)} for all {tiles} tiles)" if isinstance(tiles, int) else ""
    yield f"{told_bytes(traffic)} predicted between a tile and memory{many}"
    yield (
        f"bound by {data.get('bound')}: {100 * score:.0f} % of what that allows is predicted, with "
        f"{data.get('blocks_per_multiprocessor')} blocks on a multiprocessor at once; {data.get('candidates')} shapes "
        "were compared"
    )


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share < 10 else f"{share:.0f} times as much"


def _traffic(data: dict[str, float]) -> list[Bar]:
    most = max(data.values(), default=0.0) or 1.0
    return [Bar(f"from {name}", moved / most, told_bytes(moved)) for name, moved in data.items()]


def _candidates(told: list[Any] | tuple[Any, ...]) -> tuple[list[Bar], str]:
    """`32 x 512: 32.2 ms`, the chosen ones first."""
    found: list[tuple[str, float, str]] = []
    for one in told:
        match = _TOLD.fullmatch(str(one))
        if match is not None:
            seconds = float(match["value"]) * _SECONDS[match["unit"]]
            found.append((match["what"], seconds, f"{match['value']} {match['unit']}"))
    if not found:
        return [], ""
    most = max(seconds for _, seconds, _ in found)
    bars = [Bar(what, seconds / most, told, chosen=not k) for k, (what, seconds, told) in enumerate(found)]
    if len(found) < 2:
        return bars, ""
    (chosen, first, _), (other, second, _) = found[:2]
    gain = second / first - 1
    verdict = f"{chosen} was chosen; the next, {other}, is predicted to take {100 * abs(gain):.1f} % "
    if gain >= 0:
        return bars, f"{verdict}longer"
    return bars, f"{verdict}less; of what is as good, fewer cuts, less repeated work and longer rows decide"


__all__ = ["Bar", "Numbers", "numbers_of"]
