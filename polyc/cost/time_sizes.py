"""Whether time tiles pay, of which kind and how large: predicted from the machine's description."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product
from math import ceil, prod
from typing import Any

import islpy as isl

from polyc.analysis.witness import finder
from polyc.cost.cpu_tiles import TOP
from polyc.cost.given_sizes import ASKED, TIME_TILES, given_tile
from polyc.cost.time import operations, told_seconds
from polyc.machine import Cpu, load_cpu
from polyc.machine.cpu import Level, Memory
from polyc.model.program import Program
from polyc.model.scop import AccessKind
from polyc.model.witness import Finder
from polyc.nests.samples import LARGE, greatest_size, sample_parameters
from polyc.nests.skew import Hyperplane, Steps, either_way, far_values, hyperplane, overlapped_planes
from polyc.nests.tiling import told_sizes
from polyc.nests.wishes import options_for
from polyc.poly import greatest_of, least_of, names, set_name, sets, value_on
from polyc.records import dataclass, field, replace

SKEWED, DIAMOND, OVERLAPPED = "skewed", "diamond", "overlapped"
MOST_BYTES = 1 << 20
"""Of a tile's copies, which lie on a thread's stack."""

CELLS = (8, 12, 16, 24, 32, 48, 64, 96, 128)
"""Tried for a dimension whose rows stay whole."""
CELLS_OF_ROWS = (256, 512, 1024, 2048, 4096)
"""Tried for the only dimension, whose loop is the vector loop."""
STEPS = 500
"""Where their number is not known."""
LARGEST_DATA = 128 << 20
"""Bytes that arrays of unknown size are taken to have at most together: cubes are not as wide as squares."""
GAIN = 0.85
"""Of the time without tiles: what they have to get below, since tiles cost what the model does not count."""
OVERLAPPED_CELLS: dict[int, tuple[tuple[int, ...], ...]] = {
    1: (CELLS_OF_ROWS,),
    2: ((32, 64, 96), (128, 256, 512)),
    3: ((8, 16, 24), (8, 16, 24), (32, 64)),
}
"""Tried for tiles that copy their data, which have a size in each dimension: long rows, that halos lengthen little."""
OVERLAPPED_STEPS = (2, 4, 8, 16, 32)
FEWEST_STEPS = 4
ROWS_OF_A_TILE = 64
"""Steps of a tile of a recurrence that writes cells of its own: no data stay in a cache for more of them, and threads
meet after each wavefront."""
LONG_ROW = 1024
"""Cells of a row, below which the first lines of each take longer than the rest."""
OWN_CELLS = 6000
"""Rows and columns of such a nest, where they are not known."""
MISSES = 3
"""Of the first lines of a row, before a core fetches the next ones ahead."""
SHORTEST_SECONDS = 1e-3
"""Of all steps: the first parallel loop of a program also starts its threads."""
VECTOR_OPERATIONS = 1.0
"""Of a stencil, in a cycle: what is left of two ports where each operand is loaded."""
CHAIN_CYCLES = 4.0
"""For each operation of a recurrence that waits for the one before."""


@dataclass(frozen=True, slots=True)
class Shape:
    """The tiles that a nest gets."""

    kind: str
    sizes: tuple[int, ...]
    reason: str
    data: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Untiled:
    """Why it gets none."""

    reason: str
    data: dict[str, Any] = field(default_factory=dict)
    dependence: Finder | None = None
    """Finds two iterations that show it, where a dependence is the reason."""


@dataclass(frozen=True, slots=True, eq=False)
class _Work:
    """What one step does, at sample sizes."""

    extents: tuple[int, ...]
    """Cells along each subscript."""
    steps: int
    cell_bytes: int
    """Of all arrays, for each cell."""
    moved_bytes: int
    """To and from where the arrays lie, for each cell in a step without tiles; a written line is read first."""
    operations: float
    """For each cell in a step."""
    chained: bool
    """No loop of a step is parallel."""
    waits: bool
    """Nor is the innermost one within those around it."""
    planes: tuple[tuple[Hyperplane | None, Hyperplane | None], ...]
    """For each dimension, the one that tiles follow, and the one that leans against the subscript."""
    own: bool
    """Each step writes cells of its own."""
    arrays: int
    halo: tuple[int, ...]
    """Cells along each dimension that a step more needs on both sides together; () where no tile can have them."""

    @property
    def cells(self) -> int:
        return prod(self.extents)

    def slab(self, dimensions: int) -> int:
        """Bytes of what the untiled dimensions span."""
        return prod(self.extents[dimensions:]) * self.cell_bytes


def shape_for(program: Program, steps: Steps) -> Shape | Untiled:
    """The kind and the sizes of the tiles: the user's, or those with the least predicted time."""
    kind, sizes = program.options.time_tile
    if kind != "auto" and sizes:
        if kind == OVERLAPPED:
            every = (*sizes, *sizes[-1:] * steps.rank)[: steps.rank + 1]
            return Shape(kind, every, "as --time-tile asks")
        wanted = 1 if kind == DIAMOND else 2
        if len(sizes) < wanted:
            return Untiled(f"{kind} tiles have at least {wanted} sizes")
        return Shape(kind, sizes[: steps.rank + wanted - 1], "as --time-tile asks")
    if kind == "auto" and options_for(program, names(steps.instances)).tile_sizes != "auto":
        return Untiled("")
    if kind == "auto" and steps.writes_own_cells:
        if program.options.target == "c" or not steps.is_chained:
            return Untiled("")  # tiles would only run at once what runs at once without them
        if steps.has_inner_loops:
            return Untiled("")  # which may run in vectors in another order (`orders.py`)
    if kind == "auto" and steps.waits and _updates_cells(program, steps):
        return Untiled("")  # the same
    overlapped = overlapped_planes(program, steps) if kind in ("auto", OVERLAPPED) else ""
    if isinstance(overlapped, str) and kind == OVERLAPPED:
        return Untiled(overlapped)
    halo = () if isinstance(overlapped, str) else tuple(right.slope + left.slope for right, left in overlapped)
    work, machine = _work(program, steps, halo), load_cpu(program.options.machine)
    if work is None:
        return Untiled("it has no iterations at the sizes that its cost is estimated for")
    tried = [one for one in _candidates(work) if kind in ("auto", one[0])]
    if not tried:
        why = "values travel so far in a step, or both ways within one, that no skewed tile holds them"
        return Untiled(why, dependence=finder(program.scop, partial(far_values, steps)))
    times = [(_seconds(work, machine, *one), one) for one in tried]
    time, (chosen, sizes) = min(times, key=lambda found: (found[0], prod(found[1][1]), found[1]))
    plain = _plain_seconds(work, machine)
    others = [f"{one[0]} {told_sizes(one[1])}: {told_seconds(t)}" for t, one in sorted(times) if one != (chosen, sizes)]
    data = {
        "predicted gain": round(plain / time, 2),
        "machine": program.options.machine,
        "step by step": told_seconds(plain),
        "tried": len(tried),
        "only for threads": work.own or _is_for_threads(work, machine, chosen, sizes),
        "candidates": [f"{chosen} {told_sizes(sizes)}: {told_seconds(time)}", *others[: TOP - 1]],
    }
    what = f"predicted {plain / time:.1f} times as fast on {machine.name} as step by step"
    if kind != "auto":
        return Shape(chosen, sizes, what, data)
    if work.steps < FEWEST_STEPS or work.steps * plain < SHORTEST_SECONDS:
        return Untiled(f"its {work.steps} steps take less time than threads and tiles take to start", data)
    if time > GAIN * plain:
        return Untiled(f"its data stay in the caches from step to step, or computing takes longer ({what})", data)
    asked = given_tile(program, TIME_TILES, sizes, names(steps.instances))
    return Shape(chosen, asked, what if asked == sizes else ASKED, data)


def _updates_cells(program: Program, steps: Steps) -> bool:
    """Whether several instances of a statement write one cell of an array in a step."""
    for piece in sets(steps.instances):
        when = isl.Map.from_pw_aff(value_on(steps.time.schedule, piece.get_space()))
        for access in program.statements[set_name(piece)].accesses:
            if access.kind is AccessKind.READ or access.array in program.scop.privatizable:
                continue
            if not when.flat_range_product(access.relation).intersect_domain(piece).is_injective():
                return True
    return False


# --- what it does ----------------------------------------------------------------------------------------------------


def _work(program: Program, steps: Steps, halo: tuple[int, ...]) -> _Work | None:
    """What a step does at the sample sizes; None where nothing runs there."""
    at = sample_parameters(program)
    first = next((piece for piece in sets(steps.instances) if not piece.intersect_params(at).is_empty()), None)
    if first is None:
        return None
    time = value_on(steps.time.schedule, first.get_space())
    ticks = isl.Map.from_pw_aff(time).intersect_domain(first.intersect_params(at)).range()
    step = _middle(ticks)
    ran: isl.Set | None = None
    moved = 0
    work = 0.0
    arrays: dict[str, int] = {}
    for piece in sets(steps.instances):
        statement = program.statements[set_name(piece)]
        cells = isl.Map.from_pw_multi_aff(steps.cells[statement.name])
        when = isl.Map.from_pw_aff(value_on(steps.time.schedule, piece.get_space()))
        here = when.intersect_range(step).domain().intersect(piece.intersect_params(at))
        runs = not here.is_empty()  # of planes that change places, a step runs the statements of one of their orders
        if runs:
            cells = cells.intersect_domain(here)
            ran = cells.range() if ran is None else ran.union(cells.range())
        if piece.dim(isl.dim_type.set) <= steps.rank:
            continue  # a row or less of a step
        work += operations(statement) if runs else 0.0
        for name in dict.fromkeys(a.array for a in statement.accesses):
            array = program.scop.arrays[name]
            if array.rank != steps.subscripts:
                continue
            arrays[name] = array.element.size_bytes or 8
            wrote = any(a.kind is not AccessKind.READ for a in statement.accesses if a.array == name)
            moved += arrays[name] * (2 if wrote else 1) if runs else 0
    assert ran is not None
    extents = tuple(_extent(ran, d) for d in steps.space)
    cell_bytes = max(8, sum(arrays.values()))
    if _unknown_sizes(program) and prod(extents) * cell_bytes > LARGEST_DATA:
        factor = (LARGEST_DATA / (prod(extents) * cell_bytes)) ** (1 / steps.rank)
        extents = tuple(max(1, int(e * factor)) for e in extents)
    planes = tuple((either_way(steps, d), hyperplane(steps, d, -1)) for d in range(max(1, steps.rank - 1)))
    count, own = _extent(ticks, 0), steps.writes_own_cells
    if _unknown_sizes(program):
        extents = tuple(max(extent, OWN_CELLS) for extent in extents) if own else extents
        count = max(count, OWN_CELLS) if own else min(count, STEPS)
    chained = steps.is_chained
    waits = chained and steps.waits
    return _Work(
        extents, count, cell_bytes, max(8, moved), max(1.0, work), chained, waits, planes, own, len(arrays), halo
    )


def _middle(ticks: isl.Set) -> isl.Set:
    """One of the steps, which has as many around it before as after; all where there is no last one."""
    low, high = least_of(ticks, 0), greatest_of(ticks, 0)
    if not (low.is_int() and high.is_int()):
        return ticks
    half = isl.Set.read_from_str(ticks.get_ctx(), f"{{ [t] : t >= {(low.to_python() + high.to_python()) // 2} }}")
    return ticks.intersect(half).lexmin()


def _unknown_sizes(program: Program) -> bool:
    """Whether a size may be larger than the sample."""
    known = program.scop.bounded.align_params(program.scop.domain.get_space())
    most = (greatest_size(known, k) for k in range(known.dim(isl.dim_type.param)))
    return any(size is None or size > LARGE for size in most)


def _extent(piece: isl.Set, dimension: int) -> int:
    if piece.is_empty():
        return 1
    low, high = least_of(piece, dimension), greatest_of(piece, dimension)
    if not (low.is_int() and high.is_int()):
        return 2000
    return int(high.to_python() - low.to_python()) + 1


# --- what it takes ---------------------------------------------------------------------------------------------------


def _candidates(work: _Work) -> Iterator[tuple[str, tuple[int, ...]]]:
    yield from _leaning(work)
    if any(work.halo):  # without one, each tile would run its steps by itself, and copy for nothing
        for sizes in product(OVERLAPPED_STEPS, *OVERLAPPED_CELLS.get(len(work.extents), ())):
            steps, *cells = sizes
            fits = all(2 * n <= extent for n, extent in zip(cells, work.extents, strict=False))
            if cells and fits and prod(_with_halo(work, steps, cells)) * work.cell_bytes <= MOST_BYTES:
                yield OVERLAPPED, sizes


def _with_halo(work: _Work, steps: int, cells: Sequence[int]) -> tuple[int, ...]:
    """The cells along each dimension that a tile has for so many steps."""
    return tuple(n + steps * h for n, h in zip(cells, work.halo, strict=True))


def _leaning(work: _Work) -> Iterator[tuple[str, tuple[int, ...]]]:
    rank = len(work.extents)
    cells = CELLS if rank > 1 else CELLS_OF_ROWS
    for first in cells:
        if 2 * first > work.extents[0]:
            break
        (right, left), *others = work.planes
        if right is None:
            return
        rests: list[tuple[int, ...]] = [()]
        if others and others[0][0] is not None:
            rests += [(second,) for second in CELLS if 2 * second <= work.extents[1]]
        for rest in rests:
            if left is not None and right.sign > 0 and right.slope + left.slope > 0:
                yield DIAMOND, (first, *rest)
            yield SKEWED, (max(2, first // max(1, right.slope)), first, *rest)
            if work.own and rank == 1 and first >= LONG_ROW:  # threads want many tiles, and rows that are fetched ahead
                yield SKEWED, (ROWS_OF_A_TILE, first)


def _seconds(work: _Work, machine: Cpu, kind: str, sizes: tuple[int, ...]) -> float:
    """For one step on all cores.

    Of a tile's data, what one step touches has to stay in a cache; what a step adds at one side and leaves at the other
    comes from farther. Beyond that cache a step moves `share` of what it moves without tiles.
    """
    if kind == OVERLAPPED:
        return _overlapped_seconds(work, machine, sizes[0], sizes[1:])
    cells = sizes if kind == DIAMOND else sizes[1:]
    right, left = work.planes[0]
    assert right is not None
    slope = max(right.slope, 1)
    columns = work.extents[0] / cells[0] + 1
    if kind == DIAMOND:
        assert left is not None
        share = (slope + left.slope) / cells[0]
        height, at_once = 1 / share, columns
    else:
        height = float(sizes[0])
        share = 1 / height + slope / cells[0]
        rows = max(1.0, work.steps / height)
        at_once = rows * columns / (2 * rows + columns)
    if len(cells) > 1 and (second := work.planes[1][0]) is not None:
        share += max(1, second.slope) / cells[1]
    window = prod(cells) * work.slab(len(cells))
    row = work.extents[-1] if len(cells) < len(work.extents) else cells[-1]
    begun = 1 + machine.lanes(8) / row  # of each row some cells before its vectors
    alone = _computing(work, machine, work.waits) * begun + _moving(work, machine, window, min(1.0, share))
    if work.own:  # rows that were not there before
        alone += columns * work.arrays * MISSES * machine.memory.latency_ns * 1e-9
    return alone * ceil(at_once / machine.cores) / at_once + machine.parallel_region_us * 1e-6 / height


def _is_for_threads(work: _Work, machine: Cpu, kind: str, sizes: tuple[int, ...]) -> bool:
    """Whether one core gains nothing by the tiles: what a step needs is in a cache, and the next one waits for it."""
    alone = replace(machine, cores=1)
    return _seconds(work, alone, kind, sizes) > GAIN * _plain_seconds(work, alone)


def _overlapped_seconds(work: _Work, machine: Cpu, steps: int, cells: tuple[int, ...]) -> float:
    """For one step on all cores, of tiles that compute some cells of their neighbours as well.

    Once in a tile's steps what it needs is read, and what it makes is written, to which a line is read first.
    """
    own = prod(cells)
    ran = sum(prod(_with_halo(work, left, cells)) for left in range(steps)) / (steps * own)
    held = prod(_with_halo(work, steps, cells))
    share = (held / own + 2) * work.cell_bytes / (work.moved_bytes * steps)
    begun = 1 + machine.lanes(8) / cells[-1]
    # In the tile's own buffers each step moves what it would move in an array of their size.
    inner = replace(work, extents=_with_halo(work, steps, cells), halo=())
    moving = _moving(inner, machine, held * work.cell_bytes, 1.0) * work.cells / own
    alone = _computing(work, machine, chained=False) * begun * ran + moving
    alone += _moving(work, machine, held * work.cell_bytes, min(1.0, share))
    at_once = work.extents[0] / cells[0] + 1
    return alone * ceil(at_once / machine.cores) / at_once + 2 * machine.parallel_region_us * 1e-6 / steps


def _plain_seconds(work: _Work, machine: Cpu) -> float:
    """For one step on all cores, the next one after it; or on one, as a recurrence does, or what is short."""
    computing = _computing(work, machine, work.waits)
    alone = computing + _moving(work, machine, work.cells * work.cell_bytes, 1.0)
    if work.chained:
        return alone
    return min(alone, alone / machine.cores + machine.parallel_region_us * 1e-6)


def _computing(work: _Work, machine: Cpu, chained: bool) -> float:
    """For a step on one core."""
    if work.own:
        cycles = work.operations / 4  # a cell waits for few of them
    elif chained:
        cycles = work.operations * CHAIN_CYCLES
    elif work.chained and len(work.extents) > 1:
        cycles = work.operations / 2  # by scalars in wavefronts
    elif work.chained:
        cycles = work.operations * CHAIN_CYCLES
    else:
        cycles = work.operations / (machine.lanes(8) * VECTOR_OPERATIONS)
    return work.cells * cycles / (machine.clock_ghz * 1e9)


def _moving(work: _Work, machine: Cpu, window: float, share: float) -> float:
    """For a step on one core of all: from each level to the one before."""
    total = work.cells * work.cell_bytes
    seconds = 0.0
    places: list[Level | Memory] = [*machine.levels[1:], machine.memory]
    for level, beyond in zip(machine.levels, places, strict=True):
        own = machine.capacity(level, machine.cores)
        if total <= own * (level.shared_by if level.shared_by > 1 else machine.cores):
            break
        part = share if window <= own else 1.0
        rate = min(beyond.gb_per_s, beyond.all_gb_per_s / machine.cores) * 1e9
        seconds += work.cells * work.moved_bytes * part / rate
    return seconds
