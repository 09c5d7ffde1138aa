"""How long nests take in tiles of some size on a CPU: arithmetic, and traffic between the levels of its memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import ceil, prod
from typing import NamedTuple

from polyc.machine import Cpu
from polyc.machine.cpu import Level, Memory
from polyc.passes.footprints import ArrayFootprint, Box, TileFootprints
from polyc.passes.tiling import WHOLE
from polyc.passes.vectorize import UNROLLED

FULL = 0.7
"""Of a cache: more of it is not sure to stay there, since lines fall on its sets unevenly."""
LINES_IN_FLIGHT = 10
"""Misses that a core waits for at once: its line fill buffers, 10 to 16."""
START = 0.4
"""Of a latency: what a long stretch of memory costs until it is fetched ahead, with others that start beside it."""
STREAMS = 16
"""Stretches that are fetched ahead beside each other: what an innermost loop touches of more rows comes by lines."""
STORED = 0.25
"""Of that, for what is only written: a store waits for nothing."""
ROW_CYCLES = 20.0
"""To begin and end an innermost loop: its bounds, what is left of its vectors, a branch that is not foreseen."""
RING_CYCLES = 20.0
"""More, where the rows are in circular buffers: one remainder for each row that it reads, of a few rows at once."""
TILE_CYCLES = 100.0
STRIPS_EACH = (1, 2, 4)
"""Strips for each core that are tried."""
NOT_HIDDEN = 0.2
"""Share of arithmetic, and of the traffic of each level, that is not done beside what takes longest."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """What is expected of a nest in tiles, at the sample sizes."""

    tile: tuple[int, ...]
    """The size of each loop; WHOLE where it is not cut."""
    seconds: float
    """On all cores."""
    alone: float
    """Seconds on one of them, while the others do as much."""
    computing: float
    """Of that, seconds of arithmetic, of what is repeated as well."""
    bound: str
    """What takes longest: `computing`, or the place that the data come from."""
    traffic: tuple[tuple[str, float], ...]
    """Bytes from each place beyond the first level, of all cores together; what is written counts twice."""
    footprint_bytes: float
    """What one tile touches."""
    kept_bytes: float
    """Of that, what only lives in the tile."""
    tiles: int
    strips: int = 0
    """How many tiles slide after each other (`windows.py`); 0: each stands by itself."""


@dataclass(frozen=True, slots=True, eq=False)
class TiledNest:
    """A nest that runs in the tiles, its loops as functions of the tile's."""

    prints: TileFootprints
    inner: int
    """The loop that runs innermost, or the one of the tile's that moves along it."""
    rows_along: tuple[int | None, ...]
    """For each statement, the dimension that runs innermost; None where that is not one of them."""
    vectors: bool
    """Whether it is a vector loop over consecutive memory."""
    loads: float
    """Of an instance: whole vectors of each vector of instances, where that is one."""
    stores: float
    rows: int = 0
    """How many iterations of the last parallel loop run at once, where those of the inner ones wait for each other."""
    known: dict[tuple[int, ...], tuple[float, float, tuple[tuple[str, float], ...]]] = field(default_factory=dict)
    """What a box of tiles of the nest by itself touches, see `_Sweep`: groups that it is tried in ask the same."""
    waits: dict[tuple[int, ...], dict[str, float]] = field(default_factory=dict)
    """`TileModel._waits` of the nest."""
    cycles: dict[tuple[tuple[int, ...], tuple[int, ...], bool, bool], float] = field(default_factory=dict)
    """`TileModel._cycles` of the nest: by the box of a tile, the extents of the loops, whether it is repeated, and
    whether tiles stand by themselves."""


class _Sweep(NamedTuple):
    """The data of some loops from the innermost outwards, and how often these run."""

    bytes: float
    moved: float
    arrays: tuple[tuple[str, float], ...]
    """`moved` for each array."""
    times: float


@dataclass(frozen=True, slots=True, eq=False)
class TileModel:
    """One tile band, and the nests in its tiles.

    math:   of the loops from the innermost outwards, those whose data fit into a level find them there again. The next
            one moves, each time that it runs, all data that it sweeps over: traffic = times * data. Time is the longest
            of arithmetic and each level's traffic, with a part of the others, as in the execution-cache-memory model
    source: ROLLER (Zhu et al. 2022), Section 4.2, the micro-performance model; for caches Stengel, Treibig, Hager,
            Wellein, "Quantifying performance bottlenecks of stencil computations using the execution-cache-memory
            model", ICS 2015: layer conditions
    """

    machine: Cpu
    cores: int
    nests: tuple[TiledNest, ...]
    """Producers first."""
    parallel: int
    """How many of the band's loops are parallel; the first one that is cut is dealt out to the cores."""
    kept: frozenset[str] = frozenset()
    """Arrays that only live in the tile."""
    repeated: bool = False
    """A loop around runs the nest again on the same data."""
    strips: bool = False
    """The only parallel loop is the one along memory, with others inside: uncut, it goes innermost, and one core runs
    the nest."""
    slides: int | None = None
    """The loop along which tiles slide through strips, each with what is new in it (`windows.py`); None: none."""
    by_name: dict[str, list[ArrayFootprint]] = field(default_factory=dict)
    """`_arrays`, once they were asked for."""
    lives: dict[str, tuple[int, int]] = field(default_factory=dict)
    """`_lives`, once they were asked for."""
    swept: dict[tuple[int, ...], tuple[float, float, tuple[tuple[str, float], ...]]] = field(default_factory=dict)
    """What boxes of all nests together touch."""

    @property
    def output(self) -> TileFootprints:
        return self.nests[-1].prints

    @property
    def known(self) -> tuple[int | None, ...]:
        """The extents of the loops, None for those that are only bounded from above."""
        pairs = zip(self.output.extents, self.extents, strict=True)
        return tuple(extent if extent == typical else None for extent, typical in pairs)

    @property
    def extents(self) -> tuple[int, ...]:
        """Of the loops, at the sample sizes."""
        return self.output.typical

    def box(self, tile: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(n if t == WHOLE else min(t, n) for t, n in zip(tile, self.extents, strict=True))

    def footprint(self, tile: tuple[int, ...]) -> float:
        return self._bytes(self._arrays(), self.box(tile))

    def kept_bytes(self, tile: tuple[int, ...]) -> float:
        box = self.box(tile)
        arrays = self._arrays()
        return self._at_once({name: max(a.bytes(box) for a in arrays[name]) for name in self.kept & arrays.keys()})

    def _at_once(self, sizes: dict[str, float]) -> float:
        """What arrays that only live in the tile take there: those that are in use by turns share their places
        (`storage.py`)."""
        if not sizes:
            return 0.0
        if self.slides is not None:
            return sum(sizes.values())  # they are in use from tile to tile
        used = [(size, self._lives()[name]) for name, size in sizes.items()]
        return max(
            (sum(size for size, (first, last) in used if first <= k <= last) for k in range(len(self.nests))),
            default=0.0,
        )

    def _lives(self) -> dict[str, tuple[int, int]]:
        """The first and the last nest that touch each array."""
        if not self.lives:
            for k, nest in enumerate(self.nests):
                for array in nest.prints.arrays:
                    self.lives[array.array] = self.lives.get(array.array, (k, k))[0], k
        return self.lives

    def predicted(self, tile: tuple[int, ...]) -> Prediction:
        """In the best strips, where tiles slide."""
        found = [self._predicted(tile, strips) for strips in self._strips(tile) or (0,)]
        return min(found, key=lambda one: one.seconds)

    def _strips(self, tile: tuple[int, ...]) -> list[int]:
        """Numbers of tiles that a strip may have: each core gets a few strips."""
        if self.slides is None or tile[self.slides] == WHOLE:
            return []
        length, size = self.extents[self.slides], self.box(tile)[self.slides]
        counts = dict.fromkeys(ceil(ceil(length / (self.cores * each)) / size) for each in STRIPS_EACH)
        return [count for count in counts if count > 1]

    def strip(self, box: tuple[int, ...], strips: int) -> tuple[int, ...]:
        """What all tiles of a strip are together."""
        ends = zip(box, self.extents, strict=True)
        return tuple(min(n, strips * t) if strips and k == self.slides else t for k, (t, n) in enumerate(ends))

    def again(self, tile: tuple[int, ...], along: int) -> float:
        """Times the arithmetic of tiles that are not cut along a loop: what those of a size repeat there."""
        box = self.box(tile)
        whole = tuple(n if k == along else t for k, (t, n) in enumerate(zip(box, self.extents, strict=True)))
        once = sum(self._cycles(nest, whole) for nest in self.nests)
        return sum(self._cycles(nest, box) for nest in self.nests) / once if once else 1.0

    def _predicted(self, tile: tuple[int, ...], strips: int) -> Prediction:
        box = self.box(tile)
        strip = self.strip(box, strips)
        parts = [ceil(n / t) for n, t in zip(self.extents, box, strict=True)]
        each = [self._cycles(nest, strip) / (self.machine.clock_ghz * 1e9) for nest in self.nests]
        each[-1] += prod(parts) * TILE_CYCLES / (self.machine.clock_ghz * 1e9)
        computing = sum(each)
        moving = self._moving(tile, strip if strips else None)
        terms = [("computing", computing), *((name, seconds) for name, _, seconds in moving)]
        bound = max(terms, key=lambda term: term[1])[0]
        slowest = max(seconds for _, _, seconds in moving)
        alone = NOT_HIDDEN * (sum(seconds for _, _, seconds in moving) - slowest)
        # The stages of a tile run one after the other: what one waits for is hidden behind its own arithmetic only.
        for own, share in zip(each, self._shares(box), strict=True):
            waiting = share * slowest
            alone += max(own, waiting) + NOT_HIDDEN * min(own, waiting)
        seconds = alone
        if not self.strips or tile[0] != WHOLE:
            dealt = [ceil(n / t) for n, t in zip(self.extents, strip, strict=True)]
            seconds = alone * self._idle(tile, dealt) / self.cores + self.machine.parallel_region_us * 1e-6
        traffic = tuple((name, moved) for name, moved, _ in moving)
        kept, touched = self.kept_bytes(tile), self.footprint(tile)
        return Prediction(tile, seconds, alone, computing, bound, traffic, touched, kept, prod(parts), strips)

    # --- cores -------------------------------------------------------------------------------------------------------

    def dealt(self, tile: tuple[int, ...]) -> int:
        """The loop whose tiles, or iterations, are dealt out to the cores."""
        return next((k for k in range(self.parallel) if tile[k] != WHOLE), 0)

    def _idle(self, tile: tuple[int, ...], parts: list[int]) -> float:
        """By how much the last core ends later than if all had the same to do.

        Where the sizes are known at run time only, each number of parts that are left over is as likely.
        """
        axis = self.dealt(tile)
        count = self.extents[axis] if tile[axis] == WHOLE else parts[axis]
        if self.known[axis] is None:
            return max(1.0, self.cores / count) + (self.cores - 1) / 2 / count
        return ceil(count / self.cores) * self.cores / count

    # --- arithmetic --------------------------------------------------------------------------------------------------

    def _cycles(self, nest: TiledNest, box: tuple[int, ...]) -> float:
        """Of one core for all instances; repeated ones count as often as they run."""
        key = box, self.extents, nest is self.nests[-1], self.slides is None
        if key not in nest.cycles:
            nest.cycles[key] = self._cycles_of(nest, box)
        return nest.cycles[key]

    def _cycles_of(self, nest: TiledNest, box: tuple[int, ...]) -> float:
        prints = nest.prints
        machine = self.machine
        lanes = machine.lanes(prints.element_bytes) if nest.vectors else 1
        moves = nest.loads / machine.loads_per_cycle + nest.stores / machine.stores_per_cycle
        shares = prod(n / t for n, t in zip(self.extents, box, strict=True))
        cycles = 0.0
        for (operations, work), dimension in zip(prints.work, nest.rows_along, strict=True):
            extents = work.extents(box)
            along, inside = _row(work, dimension, extents)
            every = prod(work.extents(self.extents))
            again = 1.0 if nest is self.nests[-1] else max(1.0, shares * prod(extents) / every)
            rows = every * again / along
            step = max(operations / machine.fma_per_cycle, moves)
            begin = ROW_CYCLES if self.slides is None else ROW_CYCLES + RING_CYCLES
            cycles += rows * (ceil(along / lanes) * step + begin / inside)
        return cycles

    # --- traffic -----------------------------------------------------------------------------------------------------

    def _moving(self, tile: tuple[int, ...], strip: tuple[int, ...] | None) -> list[tuple[str, float, float]]:
        """For each place beyond the first level: its name, bytes from it, seconds of one core.

        strip: what tiles are together that follow each other along one loop
        """
        order = [k for k, t in enumerate(tile) if t != WHOLE]
        box = self.box(tile)
        waits = self._waits(box)
        tiles = [(k, (strip or box)[k], self.extents[k]) for k in order]
        if strip is not None and self.slides is not None:
            tiles.append((self.slides, box[self.slides], strip[self.slides]))
        if len(self.nests) == 1:
            joint = None
            apart = [self._sweeps([*tiles, *self._points(self.nests[0], box)], self._ones())]
        else:
            joint = self._sweeps(tiles, box)
            apart = []
            for nest in self.nests:
                apart.append(self._sweeps_of(nest, [*tiles, *self._points(nest, box)]))
        found = []
        places: list[Level | Memory] = [*self.machine.levels[1:], self.machine.memory]
        for level, beyond in zip(self.machine.levels, places, strict=True):
            room = FULL * self.machine.capacity(level, self.cores)
            chosen = [joint] if joint is not None and joint[0].bytes <= room else apart
            moved = waited = 0.0
            for sweeps in chosen:
                sweep = self._beyond(sweeps, room)
                if sweep is not None:
                    moved += sweep.moved * sweep.times
                    waited += sum(waits[name] * size for name, size in sweep.arrays) * sweep.times
            rate = self.machine.bytes_per_cycle(beyond, self.cores) * self.machine.clock_ghz * 1e9
            seconds = moved / rate + waited * beyond.latency_ns * 1e-9
            found.append((beyond.name if isinstance(beyond, Level) else "memory", moved, seconds))
        return found

    def _beyond(self, sweeps: list[_Sweep], room: float) -> _Sweep | None:
        """The loops whose data come from beyond a level with so much room for each core; None where all stays."""
        if self.repeated and sweeps[-1].bytes / self.cores <= room:
            return None  # each core finds its part of all again
        return next((sweep for sweep in sweeps if sweep.bytes > room), sweeps[-1])

    def _sweeps(self, loops: list[tuple[int, int, int]], start: tuple[int, ...]) -> list[_Sweep]:
        """Those of all nests together."""
        found = []
        for box, times in _boxes(loops, start):
            if box not in self.swept:
                self.swept[box] = self._swept(self._arrays(), box, False)
            found.append(_Sweep(*self.swept[box], times))
        return found

    def _sweeps_of(self, nest: TiledNest, loops: list[tuple[int, int, int]]) -> list[_Sweep]:
        """Those of one nest by itself, with what only lives in the tile."""
        found = []
        for box, times in _boxes(loops, self._ones()):
            if box not in nest.known:
                nest.known[box] = self._swept({array.array: [array] for array in nest.prints.arrays}, box, True)
            found.append(_Sweep(*nest.known[box], times))
        return found

    def _swept(
        self, arrays: dict[str, list[ArrayFootprint]], box: tuple[int, ...], with_kept: bool
    ) -> tuple[float, float, tuple[tuple[str, float], ...]]:
        line = self.machine.levels[0].line_bytes
        total = moved = 0.0
        each: list[tuple[str, float]] = []
        inside: dict[str, float] = {}
        for name, found in arrays.items():
            size = max(a.bytes(box, line) for a in found)
            if with_kept or name not in self.kept:
                total += size
            else:
                inside[name] = size
            if not with_kept and (name in self.kept or (any(a.made_here for a in found) and self._stays(found))):
                continue
            size *= 2 if any(a.written for a in found) else 1
            moved += size
            each.append((name, size))
        return total + self._at_once(inside), moved, tuple(each)

    def _shares(self, box: tuple[int, ...]) -> list[float]:
        """Each nest's share of what comes from beyond the tile: what it is the first one to touch."""
        if len(self.nests) == 1:
            return [1.0]
        seen = set(self.kept)
        found = []
        for nest in self.nests:
            arrays = [a for a in nest.prints.arrays if a.array not in seen]
            found.append(sum(a.bytes(box) * (2 if a.written else 1) for a in arrays))
            seen.update(a.array for a in arrays)
        total = sum(found)
        return [size / total for size in found] if total else [1 / len(found)] * len(found)

    def _waits(self, box: tuple[int, ...]) -> dict[str, float]:
        """For each byte of an array that comes from beyond a level, how many of its latencies are not hidden."""
        found: dict[str, float] = {}
        for nest in self.nests:
            if box not in nest.waits:
                nest.waits[box] = self._waits_of(nest, box)
            for name, waits in nest.waits[box].items():
                found[name] = max(waits, found.get(name, 0.0))
        return found

    def _waits_of(self, nest: TiledNest, box: tuple[int, ...]) -> dict[str, float]:
        found: dict[str, float] = {}
        line = self.machine.levels[0].line_bytes
        row = tuple(t if k == nest.inner else 1 for k, t in enumerate(box))
        for array in nest.prints.arrays:
            at = box if array.rows(row) <= STREAMS else row
            lines = max(1.0, array.bytes(at, line) / array.rows(at) / line)
            waits = 1 / (LINES_IN_FLIGHT + (lines - 1) / START) / line
            found[array.array] = waits * (1 if array.reads else STORED)
        return found

    def _stays(self, found: list[ArrayFootprint]) -> bool:
        """Whether what the nest before has made is still in the caches."""
        last = self.machine.levels[-1]
        return max(a.whole_bytes() for a in found) / self.cores <= FULL / 2 * self.machine.capacity(last, self.cores)

    def _points(self, nest: TiledNest, box: tuple[int, ...]) -> list[tuple[int, int, int]]:
        """The loops of a nest in a tile; a producer has none for those of the tile's that all run the same of it."""
        every = [k for k in range(len(box)) if any(any(work.slopes[k]) for _, work in nest.prints.work)]
        order = [k for k in (every or range(len(box))) if k != nest.inner]
        return [(k, 1, box[k]) for k in (*order, nest.inner)]

    def _ones(self) -> tuple[int, ...]:
        return tuple(1 for _ in self.extents)

    def _arrays(self) -> dict[str, list[ArrayFootprint]]:
        if not self.by_name:
            for nest in self.nests:
                for array in nest.prints.arrays:
                    self.by_name.setdefault(array.array, []).append(array)
        return self.by_name

    def _bytes(self, arrays: dict[str, list[ArrayFootprint]], box: tuple[int, ...]) -> float:
        line = self.machine.levels[0].line_bytes
        sizes = {name: max(a.bytes(box, line) for a in found) for name, found in arrays.items()}
        kept = {name: size for name, size in sizes.items() if name in self.kept}
        return sum(size for name, size in sizes.items() if name not in kept) + self._at_once(kept)


def _boxes(loops: list[tuple[int, int, int]], start: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], int]]:
    """What some loops span, from the innermost outwards, and how often those around them run.

    loops: the member, the iterations that one step spans, and those of all steps; the outermost first
    """
    box = list(start)
    counts = [ceil(end / step) for _, step, end in loops]
    times = prod(counts)
    yield tuple(box), times
    for (member, _, end), count in zip(reversed(loops), reversed(counts), strict=True):
        times //= count
        box[member] = end
        yield tuple(box), times


def _row(work: Box, along: int | None, extents: tuple[float, ...]) -> tuple[float, float]:
    """How far a statement runs along the innermost loop, and how many short loops inside of it are unrolled."""
    if along is None:
        return 1.0, 1.0
    fixed = [e for d, e in enumerate(extents) if d != along and not any(s[d] > 0 for s in work.slopes)]
    inside = prod(fixed) if fixed else 1.0
    return max(1.0, extents[along]), inside if inside <= UNROLLED else 1.0
