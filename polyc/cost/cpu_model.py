"""How long nests take in tiles of some size on a CPU: arithmetic, and traffic between the levels of its memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import ceil, inf, prod
from typing import NamedTuple

from polyc.cost.footprints import ArrayFootprint, Box, TileFootprints
from polyc.cost.rows_at_once import AtOnce
from polyc.machine import Cpu
from polyc.machine.cpu import Level, Memory
from polyc.nests.strides import UNROLLED
from polyc.nests.tiling import WHOLE
from polyc.records import dataclass, field

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


_Cycles = tuple[tuple[int, ...], tuple[int, ...], bool, bool, tuple[float, int]]
_Moving = tuple[tuple[int, ...], tuple[int, ...] | None, tuple[int, ...], bool]


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
    at_once: Callable[[], AtOnce | None] = lambda: None
    """Iterations of a loop of the tile's that run at once, since they share what they read (`unroll.py`)."""
    lines: dict[tuple[int, ...], tuple[float, ...]] = field(default_factory=dict)
    """For each array what a box of the tile touches, in whole lines: groups that the nest is tried in ask the same, as
    of all that follows."""
    cells: dict[tuple[int, ...], tuple[float, ...]] = field(default_factory=dict)
    """The same, in bytes."""
    waits: dict[tuple[int, ...], tuple[float, ...]] = field(default_factory=dict)
    """`TileModel._waits` of the nest."""
    swept: dict[tuple[int, ...], tuple[float, float, tuple[tuple[int, float], ...]]] = field(default_factory=dict)
    """What a box touches of the nest by itself, with what only lives in the tile, see `_Sweep`."""
    moving: dict[_Moving, tuple[_Sweep | None, ...]] = field(default_factory=dict)
    """For each level the loops whose data come from beyond it: by the tile, the tiles of a strip together, the extents
    of the loops, and whether a loop around runs the nest again."""
    cycles: dict[_Cycles, float] = field(default_factory=dict)
    """`TileModel._cycles` of the nest: by the box of a tile, the extents of the loops, whether it is repeated,
    whether tiles stand by themselves, and what rows share."""

    def sharing(self, tile: tuple[int, ...], extents: tuple[int, ...]) -> tuple[float, int]:
        """Loads of an instance, and how many rows run at once, in tiles with whole parts of them."""
        rows = self.at_once()
        if rows is None or (tile[rows.place] % rows.count and tile[rows.place] < extents[rows.place]):
            return self.loads, 1
        return self.loads * rows.share, rows.count

    def lines_of(self, box: tuple[int, ...], line: int) -> tuple[float, ...]:
        found = self.lines.get(box)
        if found is None:
            found = self.lines[box] = tuple([array.bytes(box, line) for array in self.prints.arrays])
        return found

    def bytes_of(self, box: tuple[int, ...]) -> tuple[float, ...]:
        found = self.cells.get(box)
        if found is None:
            found = self.cells[box] = tuple([array.bytes(box) for array in self.prints.arrays])
        return found

    def loops(self, box: tuple[int, ...]) -> list[tuple[int, int, int]]:
        """The loops of the nest in a tile; a producer has none for those of the tile's that all run the same of it."""
        every = [k for k in range(len(box)) if any(any(work.slopes[k]) for _, work in self.prints.work)]
        order = [k for k in (every or range(len(box))) if k != self.inner]
        return [(k, 1, box[k]) for k in (*order, self.inner)]


class _Sweep(NamedTuple):
    """The data of some loops from the innermost outwards, and how often these run."""

    bytes: float
    moved: float
    arrays: tuple[tuple[int, float], ...]
    """`moved` for each array, by its number among those of the nest, or of the group."""
    times: float


@dataclass(slots=True, eq=False)
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
    shared: bool = False
    """Rows that run at once are told from others: for a choice between tiles of one group. Groups are compared without
    that, since it is not known of all nests how they will be written out."""
    extents: tuple[int, ...] = field(init=False)
    """Of the loops, at the sample sizes."""
    known: tuple[int | None, ...] = field(init=False)
    """The extents of the loops, None for those that are only bounded from above."""
    _arrays: dict[str, list[ArrayFootprint]] = field(init=False)
    """What the nests touch of each array."""
    _numbers: list[tuple[int, ...]] = field(init=False)
    """For each nest the numbers that its arrays have in `_arrays`."""
    _inside: list[tuple[bool, tuple[int, int]]] = field(init=False)
    """For each array whether it only lives in the tile, and the first and the last nest that touch it."""
    _factors: list[int] = field(init=False)
    """For each array how often a byte of it moves to or from beyond the tile."""
    _firsts: list[list[tuple[int, int]]] = field(init=False)
    """For each nest those of its arrays that it is the first one to touch, and how often their bytes move."""
    _rooms: list[tuple[str, float, float, float]] = field(init=False)
    """For each level the place beyond it, what a core has of it, the rate from beyond and the latency in seconds."""
    _swept: dict[tuple[int, ...], tuple[float, float, tuple[tuple[int, float], ...]]] = field(init=False)
    """What boxes of all nests together touch."""

    def __post_init__(self) -> None:
        output = self.nests[-1].prints
        self.extents = output.typical
        self.known = tuple(
            n if n == typical else None for n, typical in zip(output.extents, output.typical, strict=True)
        )
        self._arrays, lives = {}, dict[str, tuple[int, int]]()
        for k, nest in enumerate(self.nests):
            for array in nest.prints.arrays:
                self._arrays.setdefault(array.array, []).append(array)
                lives[array.array] = lives.get(array.array, (k, k))[0], k
        number = {name: k for k, name in enumerate(self._arrays)}
        self._numbers = [tuple(number[array.array] for array in nest.prints.arrays) for nest in self.nests]
        self._inside = [(name in self.kept, lives[name]) for name in self._arrays]
        self._factors = [self._factor(name, found) for name, found in self._arrays.items()]
        self._firsts, seen = [], set(self.kept)
        for nest in self.nests:
            own = [(k, array) for k, array in enumerate(nest.prints.arrays) if array.array not in seen]
            self._firsts.append([(k, 2 if array.written else 1) for k, array in own])
            seen.update(array.array for _, array in own)
        self._rooms = list(self._places())
        self._swept = {}

    def _factor(self, name: str, found: list[ArrayFootprint]) -> int:
        if name in self.kept or (any(a.made_here for a in found) and self._stays(found)):
            return 0
        return 2 if any(a.written for a in found) else 1

    def _places(self) -> Iterator[tuple[str, float, float, float]]:
        places: list[Level | Memory] = [*self.machine.levels[1:], self.machine.memory]
        for level, beyond in zip(self.machine.levels, places, strict=True):
            room = FULL * self.machine.capacity(level, self.cores)
            rate = self.machine.bytes_per_cycle(beyond, self.cores) * self.machine.clock_ghz * 1e9
            yield beyond.name if isinstance(beyond, Level) else "memory", room, rate, beyond.latency_ns * 1e-9

    def box(self, tile: tuple[int, ...]) -> tuple[int, ...]:
        return tuple([n if t == WHOLE else min(t, n) for t, n in zip(tile, self.extents, strict=True)])

    def footprint(self, tile: tuple[int, ...]) -> float:
        return self._wider(tile) * self._touched(self.box(tile))[0]

    def kept_bytes(self, tile: tuple[int, ...]) -> float:
        if not self.kept:
            return 0.0
        box = self.box(tile)
        return self._wider(tile) * self._at_once(self._largest([nest.bytes_of(box) for nest in self.nests]))

    def made_bytes(self, tile: tuple[int, ...]) -> float:
        """What producers write: what is read elsewhere as well may have a copy in the tile."""
        written = {a.array for nest in self.nests[:-1] for a in nest.prints.arrays if a.written} - self.kept
        box = self.box(tile)
        sizes = self._largest([nest.bytes_of(box) for nest in self.nests])
        shared = sum([size for size, name in zip(sizes, self._arrays, strict=True) if name in written])
        return self.kept_bytes(tile) + self._wider(tile) * shared

    def _wider(self, tile: tuple[int, ...]) -> float:
        """Times what a tile has at the sample sizes: what it has of larger arrays, where it reaches beyond those."""
        spans = zip(tile, self.extents, self.known, strict=True)
        return prod([max(1.0, size / n) for size, n, known in spans if known is None])

    def _largest(self, each: list[tuple[float, ...]]) -> list[float]:
        """For each array the most of what the nests have of it."""
        found = [0.0] * len(self._inside)
        for numbers, sizes in zip(self._numbers, each, strict=True):
            for number, size in zip(numbers, sizes, strict=True):
                if size > found[number]:
                    found[number] = size
        return found

    def _at_once(self, sizes: list[float]) -> float:
        """What arrays that only live in the tile take there: those that are in use by turns share their places
        (`storage.py`)."""
        if self.slides is not None:  # they are in use from tile to tile
            return sum(size for size, (kept, _) in zip(sizes, self._inside, strict=True) if kept)
        used = [0.0] * len(self.nests)
        for size, (kept, (first, last)) in zip(sizes, self._inside, strict=True):
            if kept:
                for k in range(first, last + 1):
                    used[k] += size
        return max(used)

    def is_near(self, tile: tuple[int, ...]) -> bool:
        """Whether all that a tile touches stays in the first level."""
        return self.footprint(tile) <= self._rooms[0][1]

    def level(self, footprint: float) -> int:
        """The number of the first level that keeps so many bytes; that of memory, where none does."""
        rooms = enumerate(self._rooms)
        return next((k for k, (_, room, _, _) in rooms if footprint <= room), len(self._rooms))

    def in_strips(self, tile: tuple[int, ...], strips: int) -> Prediction:
        """Of tiles that slide, so many in a strip."""
        return self._predicted(tile, strips)

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
        once = sum(self._cycles(nest, whole, box) for nest in self.nests)
        return sum(self._cycles(nest, box, box) for nest in self.nests) / once if once else 1.0

    def _predicted(self, tile: tuple[int, ...], strips: int) -> Prediction:
        box = self.box(tile)
        strip = self.strip(box, strips)
        parts = [ceil(n / t) for n, t in zip(self.extents, box, strict=True)]
        clock = self.machine.clock_ghz * 1e9
        each = [self._cycles(nest, strip, box) / clock for nest in self.nests]
        each[-1] += prod(parts) * TILE_CYCLES / clock
        computing = sum(each)
        moving = self._moving(tile, box, strip if strips else None)
        bound, longest = "computing", computing
        slowest = moved = 0.0
        for name, _, seconds in moving:
            if seconds > longest:
                bound, longest = name, seconds
            slowest = max(slowest, seconds)
            moved += seconds
        alone = NOT_HIDDEN * (moved - slowest)
        # The stages of a tile run one after the other: what one waits for is hidden behind its own arithmetic only.
        for own, share in zip(each, self._shares(box), strict=True):
            waiting = share * slowest
            alone += max(own, waiting) + NOT_HIDDEN * min(own, waiting)
        seconds = alone
        if not self.strips or tile[0] != WHOLE:
            dealt = [ceil(n / t) for n, t in zip(self.extents, strip, strict=True)]
            seconds = alone * self._idle(tile, dealt) / self.cores + self.machine.parallel_region_us * 1e-6
        traffic = tuple([(name, moved) for name, moved, _ in moving])
        footprint, kept = self.footprint(tile), self.kept_bytes(tile)
        return Prediction(tile, seconds, alone, computing, bound, traffic, footprint, kept, prod(parts), strips)

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

    def _cycles(self, nest: TiledNest, box: tuple[int, ...], tile: tuple[int, ...]) -> float:
        """Of one core for all instances; repeated ones count as often as they run.

        box: what is made without a repetition: a tile, or a strip of them
        """
        sharing = nest.sharing(tile, self.extents) if self.shared else (nest.loads, 1)
        key = box, self.extents, nest is self.nests[-1], self.slides is None, sharing
        found = nest.cycles.get(key)
        if found is None:
            found = nest.cycles[key] = self._cycles_of(nest, box, *sharing)
        return found

    def _cycles_of(self, nest: TiledNest, box: tuple[int, ...], loads: float, together: int) -> float:
        """loads: of an instance; together: how many rows run at once"""
        prints = nest.prints
        machine = self.machine
        lanes = machine.lanes(prints.element_bytes) if nest.vectors else 1
        moves = loads / machine.loads_per_cycle + nest.stores / machine.stores_per_cycle
        shares = prod([n / t for n, t in zip(self.extents, box, strict=True)])
        cycles = 0.0
        for (operations, work), dimension in zip(prints.work, nest.rows_along, strict=True):
            extents = work.extents(box)
            along, inside = _row(work, dimension, extents)
            every = prod(work.extents(self.extents))
            again = 1.0 if nest is self.nests[-1] else max(1.0, shares * prod(extents) / every)
            rows = every * again / along
            step = max(operations / machine.fma_per_cycle, moves)
            begin = ROW_CYCLES if self.slides is None else ROW_CYCLES + RING_CYCLES
            if together > 1:  # of all its statements
                begin /= together * len(prints.work)
            cycles += rows * (ceil(along / lanes) * step + begin / inside)
        return cycles

    # --- traffic -----------------------------------------------------------------------------------------------------

    def _moving(
        self, tile: tuple[int, ...], box: tuple[int, ...], strip: tuple[int, ...] | None
    ) -> list[tuple[str, float, float]]:
        """For each place beyond the first level: its name, bytes from it, seconds of one core.

        strip: what tiles are together that follow each other along one loop
        """
        waits = self._largest([self._waits(nest, box) for nest in self.nests])
        spans = zip(tile, strip or box, self.extents, strict=True)
        tiles = [(k, t, n) for k, (size, t, n) in enumerate(spans) if size != WHOLE]
        if strip is not None and self.slides is not None:
            tiles.append((self.slides, box[self.slides], strip[self.slides]))
        every: Sequence[int] = range(len(self._inside))
        if len(self.nests) == 1:
            loops = [*tiles, *self.nests[0].loops(box)]
            fits, joint = inf, self._beyond(self._together(loops, _ones(box)))
            apart: list[tuple[Sequence[int], tuple[_Sweep | None, ...]]] = [(every, joint)]
        else:
            sweeps = self._together(tiles, box)
            fits, joint = sweeps[0].bytes, self._beyond(sweeps)
            alone = [self._alone(nest, (tile, strip), box, tiles) for nest in self.nests]
            apart = list(zip(self._numbers, alone, strict=True))
        found = []
        for k, (name, room, rate, latency) in enumerate(self._rooms):
            moved = waited = 0.0
            chosen = [(every, joint)] if fits <= room else apart
            for numbers, beyond in chosen:
                sweep = beyond[k]
                if sweep is not None:
                    moved += sweep.moved * sweep.times
                    waited += sum([waits[numbers[number]] * size for number, size in sweep.arrays]) * sweep.times
            found.append((name, moved, moved / rate + waited * latency))
        return found

    def _together(self, loops: list[tuple[int, int, int]], start: tuple[int, ...]) -> list[_Sweep]:
        """The sweeps of all nests together."""
        return [_Sweep(*self._touched(box), times) for box, times in _boxes(loops, start)]

    def _alone(
        self,
        nest: TiledNest,
        tile: tuple[tuple[int, ...], tuple[int, ...] | None],
        box: tuple[int, ...],
        tiles: list[tuple[int, int, int]],
    ) -> tuple[_Sweep | None, ...]:
        """`_beyond` of a nest by itself."""
        key = *tile, self.extents, self.repeated
        found = nest.moving.get(key)
        if found is None:
            line, sweeps = self.machine.levels[0].line_bytes, []
            for spanned, times in _boxes([*tiles, *nest.loops(box)], _ones(box)):
                swept = nest.swept.get(spanned)
                if swept is None:
                    sizes = nest.lines_of(spanned, line)
                    each = [s * (2 if a.written else 1) for s, a in zip(sizes, nest.prints.arrays, strict=True)]
                    swept = nest.swept[spanned] = sum(sizes), sum(each), tuple(enumerate(each))
                sweeps.append(_Sweep(*swept, times))
            found = nest.moving[key] = self._beyond(sweeps)
        return found

    def _beyond(self, sweeps: list[_Sweep]) -> tuple[_Sweep | None, ...]:
        """For each level the loops whose data come from beyond it; None where all stays."""
        found: list[_Sweep | None] = []
        for _, room, _, _ in self._rooms:
            if self.repeated and sweeps[-1].bytes / self.cores <= room:
                found.append(None)  # each core finds its part of all again
            else:
                found.append(next((sweep for sweep in sweeps if sweep.bytes > room), sweeps[-1]))
        return tuple(found)

    def _touched(self, box: tuple[int, ...]) -> tuple[float, float, tuple[tuple[int, float], ...]]:
        """What a box of all nests together touches, see `_Sweep`."""
        found = self._swept.get(box)
        if found is None:
            line = self.machine.levels[0].line_bytes
            sizes = self._largest([nest.lines_of(box, line) for nest in self.nests])
            total = sum([size for size, (kept, _) in zip(sizes, self._inside, strict=True) if not kept])
            each = [
                (k, size * factor) for k, (size, factor) in enumerate(zip(sizes, self._factors, strict=True)) if factor
            ]
            inside = self._at_once(sizes) if self.kept else 0.0
            found = self._swept[box] = total + inside, sum([size for _, size in each]), tuple(each)
        return found

    def _shares(self, box: tuple[int, ...]) -> list[float]:
        """Each nest's share of what comes from beyond the tile: what it is the first one to touch."""
        if len(self.nests) == 1:
            return [1.0]
        found = []
        for nest, firsts in zip(self.nests, self._firsts, strict=True):
            sizes = nest.bytes_of(box)
            found.append(sum([sizes[k] * factor for k, factor in firsts]))
        total = sum(found)
        return [size / total for size in found] if total else [1 / len(found)] * len(found)

    def _waits(self, nest: TiledNest, box: tuple[int, ...]) -> tuple[float, ...]:
        """For each byte of a nest's arrays that comes from beyond a level, how many of its latencies are not hidden."""
        known = nest.waits.get(box)
        if known is not None:
            return known
        line, found = self.machine.levels[0].line_bytes, []
        row = tuple([t if k == nest.inner else 1 for k, t in enumerate(box)])
        for array in nest.prints.arrays:
            at, stretches = row, array.rows(row)
            if stretches <= STREAMS:
                at, stretches = box, array.rows(box)
            lines = max(1.0, array.bytes(at, line) / stretches / line)
            waits = 1 / (LINES_IN_FLIGHT + (lines - 1) / START) / line
            found.append(waits * (1 if array.reads else STORED))
        nest.waits[box] = tuple(found)
        return nest.waits[box]

    def _stays(self, found: list[ArrayFootprint]) -> bool:
        """Whether what the nest before has made is still in the caches."""
        last = self.machine.levels[-1]
        return max(a.whole_bytes() for a in found) / self.cores <= FULL / 2 * self.machine.capacity(last, self.cores)


def _ones(box: tuple[int, ...]) -> tuple[int, ...]:
    return (1,) * len(box)


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
