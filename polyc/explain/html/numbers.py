"""What a group's tiles take, beside what the machine has: footprints, traffic, and the sizes that were not chosen."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from polyc.cost.time import told_bytes
from polyc.explain.codes import REMARKS
from polyc.explain.pictures.tiles import Tiles
from polyc.machine import Gpu, load_cpu, load_gpu
from polyc.model.program import Group, Program
from polyc.records import dataclass

WITH_NUMBERS = ("cpu-sizes", "gpu-sizes", "register-tile", "time-tiled")
_SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6}
_TOLD = re.compile(r"(?P<what>.*): (?P<value>[\d.e+-]+) (?P<unit>s|ms|us|%)")


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
    """What a tile has, of each level's capacity."""
    traffic: list[Bar]
    """Predicted bytes from each level, of the most."""
    candidates: list[Bar]
    """Predicted times of sizes, of the longest, or shares of a limit; the chosen ones first."""
    verdict: str
    """The chosen sizes against the next ones."""
    bound: str
    """What takes longest."""
    told: list[str]
    """What else is known: of a GPU's blocks; and of register tiles, panels, tiles over time, blocks of rows."""


def numbers_of(program: Program, group: Group, tiles: Tiles | None) -> Numbers:
    """The numbers of a group, from the remarks on its sizes and from its tiles."""
    data = _sizes(program, group)
    members = {*group.statements, *group.outputs, *group.fused}
    told = data.get("candidates")
    candidates, verdict = _candidates(told) if isinstance(told, (list, tuple)) else ([], "")
    traffic = data.get("traffic_bytes")
    return Numbers(
        list(_footprint(program, data, tiles)),
        _traffic(traffic) if isinstance(traffic, dict) else [],
        candidates,
        verdict,
        str(data.get("bound", "")),
        [
            *_of_gpu(data),
            *(m.message for m in program.remarks if REMARKS[m.code].sizes and members & set(m.statements)),
        ],
    )


def _sizes(program: Program, group: Group) -> dict[str, Any]:
    """The numbers of the last remark on the group's sizes; none where nothing was chosen."""
    members = {*group.statements, *group.outputs, *group.fused}
    found = [m for m in program.remarks if m.code in WITH_NUMBERS and members & set(m.statements)]
    return found[-1].data if found and group.tile_sizes else {}


def _footprint(program: Program, data: dict[str, Any], tiles: Tiles | None) -> Iterator[Bar]:
    """What a tile has, of the room in each level: of a sum in registers each panel in its own."""
    options = program.options
    if options.gpu:
        yield from _of_block(load_gpu(options.machine), data)
        return
    cpu = load_cpu(options.machine)
    cores = 1 if options.target == "c" else cpu.cores
    rooms = {level.name: cpu.capacity(level, cores) for level in cpu.levels}
    if "registers" in data:
        last = cpu.levels[-1]
        all_threads = (last.name, cpu.capacity(last)) if data.get("shared") else None
        yield from _panels(program, data, cpu.vector_bytes * cpu.vector_registers, rooms, all_threads)
        return
    size = data.get("footprint_bytes")
    if size is None:
        size = tiles.bytes if tiles is not None else None
    if size is not None:
        yield from (_held(name, size, room) for name, room in rooms.items())


def _of_block(gpu: Gpu, data: dict[str, Any]) -> Iterator[Bar]:
    if isinstance(data.get("shared_bytes"), int):
        yield _held("shared memory of a block", data["shared_bytes"], gpu.shared_bytes_per_block)
    if isinstance(data.get("registers"), int):
        used, limit = data["registers"], gpu.registers_per_thread
        told = f"{used} of {limit} ({_percent(used / limit)})"
        yield Bar("registers of a thread", min(1.0, used / limit), told, used > limit)


def _panels(
    program: Program, data: dict[str, Any], vectors: int, rooms: dict[str, int], shared: tuple[str, int] | None
) -> Iterator[Bar]:
    """Goto's places: the sums in registers, a strip of one panel in the first cache, the other panel in the next.

    shared: the level where a panel of rows lies that all threads fill and read, with all of its bytes; each thread then
            has a strip of columns, and there is no panel of them
    """
    arrays = [a for a in program.scop.arrays.values() if a.c_name == data["array"]]
    element = arrays[0].element.size_bytes if arrays else 8
    (m, n, k), (rows, columns) = data["tile"], data["registers"]
    yield _held("the sums, in vector registers", rows * columns * element, vectors)
    parts = {"a strip of columns": k * columns, "the panel of rows": m * k, "the panel of columns": k * n}
    if shared is not None:
        first, room = next(iter(rooms.items()))
        yield _held(f"a strip of columns, in {first}", k * columns * element, room)
        yield _held(f"the rows of all threads, in {shared[0]}", m * k * element, shared[1])
        return
    for (what, count), (name, room) in zip(parts.items(), rooms.items(), strict=False):
        yield _held(f"{what}, in {name}", count * element, room)


def _held(label: str, size: float, room: float) -> Bar:
    told = f"{_bytes(size)} of {_bytes(room)} ({_percent(size / room)})"
    return Bar(label, min(1.0, size / room), told, size > room)


def _of_gpu(data: dict[str, Any]) -> Iterator[str]:
    """What the model of a GPU says of the tiles that it chose."""
    traffic, tiles, score = data.get("traffic_bytes"), data.get("tiles"), data.get("score")
    if not isinstance(traffic, int) or not isinstance(score, float):
        return
    many = f" ({told_bytes(traffic * tiles)} for all {tiles} tiles)" if isinstance(tiles, int) else ""
    yield f"{_bytes(traffic)} predicted between a tile and memory{many}"
    yield (
        f"bound by {data.get('bound')}: {100 * score:.0f} % of what that allows is predicted, with "
        f"{data.get('blocks_per_multiprocessor')} blocks on a multiprocessor at once; {data.get('tried')} shapes "
        "were compared"
    )


def _bytes(count: float) -> str:
    return told_bytes(count) if count >= 1000 else f"{count:.0f} bytes"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share < 10 else f"{share:.0f} times"


def _traffic(data: dict[str, float]) -> list[Bar]:
    most = max(data.values(), default=0.0) or 1.0
    return [Bar(f"from {name}", moved / most, _bytes(moved)) for name, moved in data.items()]


def _candidates(told: list[Any] | tuple[Any, ...]) -> tuple[list[Bar], str]:
    """`32 x 512: 32.2 ms`, or `32 x 64 on 32 x 8 threads: 84.4 %` of a limit; the chosen ones first."""
    found: list[tuple[str, float, str]] = []
    for one in told:
        match = _TOLD.fullmatch(str(one))
        if match is not None:
            value = float(match["value"]) * _SECONDS.get(match["unit"], 1.0)
            found.append((match["what"], value, f"{match['value']} {match['unit']}"))
    if not found:
        return [], ""
    share = found[0][2].endswith("%")
    most = 100.0 if share else max(value for _, value, _ in found) or 1.0
    bars = [Bar(what, value / most, told, chosen=not k) for k, (what, value, told) in enumerate(found)]
    if len(found) < 2:
        return bars, ""
    (chosen, first, one), (other, second, two) = found[:2]
    if share:
        close = "; the model does not tell shapes apart that are so close" if second >= first else ""
        return bars, f"{chosen} was chosen, with {one} of the limit that binds it; the next, {other}, has {two}{close}"
    gain = second / first - 1
    verdict = f"{chosen} was chosen; the next, {other}, is predicted to take {100 * abs(gain):.1f} % "
    if gain >= 0:
        return bars, f"{verdict}longer"
    return bars, f"{verdict}less; of what is as good, fewer cuts, less repeated work and longer rows decide"


__all__ = ["Bar", "Numbers", "numbers_of"]
