"""Tiles and blocks of threads for a band of parallel loops on a GPU, by predicted traffic and occupancy."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import prod
from typing import Any

import islpy as isl

from polyc.cost.footprints import TileFootprints, footprints_of
from polyc.cost.gpu_sizes import L2_SPEEDUP, MEMORY_CYCLES, NOT_HIDDEN
from polyc.machine import Gpu, load_gpu
from polyc.model import ctree as c
from polyc.model.program import Program
from polyc.model.tree import Band
from polyc.nests.nest import Outer, has_loops
from polyc.nests.points import statements_of
from polyc.nests.strides import axes_of
from polyc.records import asdict, dataclass, replace

THREADS = 256
"""Of a block where nothing tells between shapes."""
LEAST_THREADS, MOST_THREADS = 64, 512
POINTS = (1, 2, 4)
"""Of a thread along one loop, and at most in all: more would leave too few blocks, and loops that are not unrolled."""
SEQUENTIAL = 32
"""Tile of a loop that every thread runs on its own."""
OTHER_REGISTERS = 20
"""Of a thread, for indices and counters."""
BLOCK_CYCLES = 300
"""From the end of a block to the first load of the next one, in cycles. An order of magnitude, as MEMORY_CYCLES."""
DATA = "data"
"""What binds a nest with loops inside of its statements: their lengths are known at run time only."""

LONGEST_UNKNOWN = 128
"""Tile along a row whose length nobody knows, where there are others: heads, channels and features are short."""
AS_GOOD = 0.98
"""Share of the best score from which on the model says nothing about which is better."""


@dataclass(frozen=True, slots=True)
class TileSize:
    """A tile for a block, and the threads that share it."""

    tile: tuple[int, ...]
    """The tile size of each member of the band."""
    block: tuple[int, ...]
    """Threads: in a row, or along x, y."""
    registers: int
    """Estimate for one thread, of 32 bits."""
    shared_bytes: int
    """Of a block, if all that it reads and this region makes is made in it."""
    blocks_per_multiprocessor: int
    tiles: int | None
    """None where the sizes are known at run time only."""
    traffic_bytes: float
    """Between a tile and memory, in whole transactions."""
    score: float
    """Predicted share of the limit that binds, from 0 to 1."""
    bound: str
    """What keeps it from more: `memory`, `arithmetic`, `parallelism`, `data`, or `occupancy` with what limits it."""

    def data(self) -> dict[str, Any]:
        """The numbers, for a remark."""
        found = asdict(self) | {"score": round(self.score, 3), "traffic_bytes": round(self.traffic_bytes)}
        return found if self.tiles is not None else {k: v for k, v in found.items() if k != "tiles"}


def default_block(machine: Gpu, wide: bool, given: tuple[int, ...] | None) -> tuple[int, ...]:
    """Threads of a block whose tile says nothing of them: along x, y for two loops (`wide`), in a row for one."""
    if given is not None:
        return (*given, 1)[:2] if wide else (prod(given),)
    threads = max(machine.warp_size, min(THREADS, machine.threads_per_block) // machine.warp_size * machine.warp_size)
    return (machine.warp_size, threads // machine.warp_size) if wide else (threads,)


def tile_candidates(program: Program, band: Band, outer: Outer, typical: isl.Set) -> list[TileSize]:
    """Tiles and blocks for a band whose outermost loops are parallel, the best first; fewer than 200, and always one.

    typical:  one point of the sizes; what is known at run time only counts as large.
    requires: `band.coincident_prefix > 0`
    ensures:  a warp lies along the loop that runs along consecutive memory; tiles are multiples of the block. Any
              size is right, since edges are predicated.
    source:   the micro-performance model of ROLLER (Zhu et al. 2022, Section 4): aligned shapes, data that a tile
              moves, units that are busy; cut down to what a band of unknown statements tells
    """
    machine = load_gpu(program.options.machine)
    footprints = footprints_of(program, band, outer, typical)
    axes = axes_of(band.members[: band.coincident_prefix], program)  # as `mapping` deals them out
    model = _Model(machine, footprints, axes, band)
    found = [model.judged(points, block) for points, block in _shapes(machine, len(axes), program.options.block)]
    bodies = (program.statements[name].body for name in statements_of(band))
    own = any(map(c.has_loops, bodies))
    if own:
        alone = (one for one in found if prod(one.tile[: band.coincident_prefix]) == prod(one.block))
        found = [replace(one, score=0.0, bound=DATA) for one in alone]
    fitting = [size for size in found if size.blocks_per_multiprocessor] or found
    used = [size for size in fitting if not _oversized(size, footprints.extents, axes, machine.warp_size)]
    long = len(axes) == 1 and (len(band.members) > 1 or own or has_loops(band.child))
    return _ranked(used or fitting, machine.multiprocessors, LEAST_THREADS if long else THREADS)


def _oversized(size: TileSize, extents: tuple[int | None, ...], axes: tuple[int, ...], warp: int) -> bool:
    """Whether half of the tile along a loop is outside of the nest, or may be, though a smaller one would do."""
    least = (warp, 1)
    if len(axes) > 1 and extents[axes[0]] is None and size.tile[axes[0]] > LONGEST_UNKNOWN:
        return True
    return any(
        extent is not None and size.tile[axis] > small and size.tile[axis] >= 2 * extent
        for axis, small, extent in zip(axes, least, (extents[axis] for axis in axes), strict=False)
    )


def _shapes(
    machine: Gpu, axes: int, given: tuple[int, ...] | None
) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Points of a thread along each axis, and threads along each axis."""
    if given is not None:
        blocks = [default_block(machine, axes > 1, given)]
    else:
        most = min(MOST_THREADS, machine.threads_per_block)
        rows = [t for t in _doubled(machine.warp_size, most) if t >= min(LEAST_THREADS, most)]
        blocks = [(t,) for t in rows]
        if axes > 1:
            blocks = [(x, t // x) for t in rows for x in _doubled(machine.warp_size, t) if t % x == 0]
    for block in blocks:
        for points in product(POINTS, repeat=axes):
            if prod(points) <= POINTS[-1]:
                yield points, block


def _doubled(start: int, most: int) -> list[int]:
    found = [start]
    while found[-1] * 2 <= most:
        found.append(found[-1] * 2)
    return found


def _ranked(sizes: list[TileSize], multiprocessors: int, usual: int) -> list[TileSize]:
    """Best first: a tile for each multiprocessor where there are as many; the score. Of what is as good as the best:
    the usual number of threads, in rows of a warp; then what moves the least data for a point, leaves the most blocks,
    and is as square as they come.

    usual: few where a thread of a row walks along a loop of its own: with sizes that nobody knows, there may be few of
           these threads, and more blocks are on more multiprocessors, with one point for each thread
    """
    idle = {size: max(0, multiprocessors - (multiprocessors if size.tiles is None else size.tiles)) for size in sizes}
    best = max(size.score for size in sizes if idle[size] == min(idle.values()))

    def key(size: TileSize) -> tuple[float, ...]:
        dealt = [t for t in size.tile if t > 1] or [1]
        points = prod(dealt)
        score = -1.0 if size.score >= AS_GOOD * best else -size.score
        moved = float(f"{size.traffic_bytes / points:.2g}")
        square = max(dealt) / min(dealt)
        threads = abs(prod(size.block) - (usual if size.tiles is None else THREADS))
        each = size.tile[0] // prod(size.block) if usual < THREADS and size.tiles is None else 1
        return (idle[size], score, threads, size.block[0], each, moved, points, square, *size.tile)

    return sorted(sizes, key=key)


@dataclass(frozen=True, slots=True)
class _Model:
    """What a band does to a machine."""

    machine: Gpu
    footprints: TileFootprints
    axes: tuple[int, ...]
    band: Band

    def judged(self, points: tuple[int, ...], block: tuple[int, ...]) -> TileSize:
        machine, count = self.machine, self.band.coincident_prefix
        sizes = [1] * count + [SEQUENTIAL] * (len(self.band.members) - count)
        for axis, of_thread, threads in zip(self.axes, points, block, strict=True):
            sizes[axis] = of_thread * threads
        tile = tuple(sizes[:count])
        registers = self.registers()
        shared = int(self.footprints.made_bytes(tile, machine.shared_bytes_per_block))
        resident = machine.resident(prod(block), registers, shared)
        if shared > machine.shared_bytes_per_block:
            resident = type(resident)(0, "shared memory")
        traffic = self.footprints.traffic_bytes(tile, machine.transaction_bytes)
        tiles = self.tiles(tile)
        score, bound = 0.0, resident.bound
        if resident.blocks:
            score, bound = self.predicted(tile, prod(block), resident.blocks, traffic, resident.bound)
        return TileSize(tuple(sizes), block, registers, shared, resident.blocks, tiles, traffic, score, bound)

    def registers(self) -> int:
        """A pointer for each array, a value for each access, and the rest."""
        found = OTHER_REGISTERS + 2 * len(self.footprints.arrays)
        found += sum(max(1, a.element_bytes // 4) * a.accesses for a in self.footprints.arrays)
        return min(found, self.machine.registers_per_thread)

    def tiles(self, tile: tuple[int, ...]) -> int | None:
        counts = [_parts(n, t) for n, t in zip(self.footprints.extents, tile, strict=True) if n is not None]
        return prod(counts) if len(counts) == len(tile) else None

    def predicted(
        self, tile: tuple[int, ...], threads: int, resident: int, traffic: float, limited_by: str
    ) -> tuple[float, str]:
        """The share of the limit that binds (memory or arithmetic) which one tile after the other reaches.

        math: least / (cycles of a tile in the steady state / share of busy multiprocessors)
        """
        machine, prints = self.machine, self.footprints
        tiles = self.tiles(tile)
        if tiles is not None:
            resident = min(resident, _parts(tiles, machine.multiprocessors))
        speed = machine.bytes_per_cycle() / machine.multiprocessors
        least = prints.least_bytes(tile, machine.transaction_bytes)
        again = max(0.0, traffic - least)
        edges = prod(_parts(n, t) * t / n for n, t in zip(prints.extents, tile, strict=True) if n is not None)
        # Bytes that are on their way at once, against those that hide the latency of memory.
        waiting = resident * threads / edges * prints.read_bytes / (speed * MEMORY_CYCLES)
        memory = (least + again / L2_SPEEDUP) / speed / min(1.0, waiting)
        rate = machine.operations_per_cycle(prints.element_bytes)
        work = prints.operations(tile) / rate
        arithmetic = work * edges
        busy = 1.0
        if tiles is not None:
            busy = tiles / (_parts(tiles, machine.multiprocessors) * machine.multiprocessors)
        both = max(memory, arithmetic) + NOT_HIDDEN * min(memory, arithmetic)
        cycles = (both + BLOCK_CYCLES / resident) / busy
        ideal = max(least / speed, work)
        if tiles is not None and tiles < machine.multiprocessors:
            bound = "parallelism"
        elif arithmetic > memory:
            bound = "arithmetic"
        else:
            bound = "memory" if waiting >= 1 else f"occupancy ({limited_by})"
        return (min(1.0, ideal / cycles) if cycles > 0 else 1.0), bound


def _parts(extent: int, size: int) -> int:
    return -(-extent // size)


__all__ = ["DATA", "TileSize", "default_block", "tile_candidates"]
