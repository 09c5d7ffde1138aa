"""Shapes of contractions on a GPU: blocks, tiles and register tiles from its description, by predicted time."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from polyc.machine import Gpu
from polyc.model.fragments import COLUMNS, LANES, ROWS, TF32, Fragment
from polyc.records import dataclass

LARGE, LARGE_BATCH = 4096, 16
"""Taken for an extent that is known at run time only."""
REGISTER_TILES = ((8, 8), (4, 8), (8, 4), (4, 4), (2, 4), (4, 2), (2, 2))
"""(m, n) of one thread; what is larger does not fit into its registers."""
THREADS_X = (8, 16, 32)
THREADS = (64, 128, 256)
DEPTHS = (8, 16, 32)
MANY_SUMS = 32
"""Registers of a thread's sums, above which there are few for what it copies."""
OTHER_REGISTERS, REGISTER_SHARE = 32, 0.75
"""Of a thread: for indices, pointers and counters; and the share of what it may have that an estimate may take."""
PAD_BYTES = 16
"""Behind each row of a panel in shared memory, against bank conflicts; 16 keep rows aligned for vectors."""
VECTOR_BYTES = 16
"""What a thread loads or stores at once at most."""
WARP = (4, 8)
"""Lanes of a warp along m and n, where no fragment says it: eight lanes that load 16 bytes each take all banks once."""
MEMORY_CYCLES, SHARED_CYCLES, BARRIER_CYCLES = 500, 25, 40
"""Latencies, in cycles: of a load from memory, of one from shared memory, of a barrier of a block. Orders of magnitude
that hold from 7.0 to 9.0 (Jia et al., "Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking", 2018)."""
PANEL_CYCLES = 300
"""What an iteration over panels takes beside its work where few warps are there: the addresses of its copies, waiting
for those before, the barrier. Measured on an H200 (`mmbias3`, one block a multiprocessor)."""
SCHEDULERS = 4
"""Of a multiprocessor: each starts one instruction of a warp a cycle."""
L2_SPEEDUP = 2.5
"""Bandwidth of the L2 cache over that of memory; data sheets do not name it."""
FRAGMENT_TILES = ((1, 1), (1, 2), (2, 2), (2, 4), (4, 4))
"""(m, n) of one warp, in fragments: what is larger does not fit into the registers of its threads."""
FRAGMENT_REGISTERS = 24
"""Of a thread, beside OTHER_REGISTERS: each lane has several places in each panel."""
WARPS = ((1, 2), (2, 1), (2, 2), (2, 4), (4, 2))
"""Of a block, along m and n."""
NOT_HIDDEN = 0.1
"""Share of what other units do, or blocks wait for, that is not done beside what takes longest."""
PRODUCT_NOT_HIDDEN = 0.15
"""The same for contractions; with PANEL_CYCLES, what finds the best of ten shapes for most of nine products that were
measured on an H200."""


@dataclass(frozen=True, slots=True)
class ContractionSize:
    """How `C[m, n] += A[m, k] * B[k, n]` is dealt out to blocks and threads."""

    block_m: int
    block_n: int
    block_k: int
    """The block's tile of C, and how deep its panels of A and B are, in elements."""
    thread_m: int
    thread_n: int
    """The tile of C that one thread keeps in registers."""
    threads: int
    """Of a block: (block_n / thread_n) along x times (block_m / thread_m) along y."""
    stages: int
    """Buffers for each panel in shared memory: 2 where the next one is loaded while this one is used."""
    shared_bytes: int
    """Of a block, with padding."""
    registers: int
    """Estimate for one thread, of 32 bits."""
    blocks_per_multiprocessor: int
    score: float
    """Predicted share of the arithmetic limit that useful work reaches, from 0 to 1."""
    reason: str
    """What binds, with the numbers: `arithmetic`, `shared memory`, `instructions`, `latency`, `L2`, `memory`, or
    `parallelism` (there are fewer tiles than multiprocessors)."""
    fragment: Fragment | None = None
    """What tensor cores multiply; None where each thread does it by itself."""
    warps: tuple[int, int] = (0, 0)
    """Along m and n, where a block is dealt out by its warps; a warp lies along x."""

    @property
    def told(self) -> str:
        """`64 x 64 x 16, 4 x 4 for each of 256 threads: 83.2 %`, of the arithmetic limit."""
        tile = f"{self.block_m} x {self.block_n} x {self.block_k}"
        on = " on tensor cores" if self.fragment is not None else ""
        twice = ", panels twice" if self.stages == 2 else ""
        each = f"{self.thread_m} x {self.thread_n} for each of {self.threads} threads"
        return f"{tile}, {each}{twice}{on}: {100 * self.score:.1f} %"

    @property
    def threads_x(self) -> int:
        return self.block_n // self.thread_n

    @property
    def threads_y(self) -> int:
        return self.threads // self.threads_x

    @property
    def block(self) -> tuple[int, int]:
        """Threads along x and y."""
        return (self.threads_x, self.threads_y) if self.warps == (0, 0) else (LANES, self.threads // LANES)


@dataclass(frozen=True, slots=True)
class _Problem:
    """The product, with its sizes."""

    machine: Gpu
    m: int
    n: int
    k: int
    batch: int
    element_bytes: int
    fragment: Fragment | None = None
    vectors: tuple[bool, bool] = (True, True)

    @property
    def rate(self) -> float:
        """Multiply-adds of one multiprocessor in a cycle."""
        if self.fragment is None:
            return self.machine.operations_per_cycle(max(self.element_bytes, 4))  # halves are added up as floats
        return self.machine.tensor_operations_per_cycle(2 if self.fragment is not TF32 else 4)


def contraction_candidates(
    machine: Gpu,
    m: int | None,
    n: int | None,
    k: int | None,
    batch: int | None,
    element_bytes: int,
    shared_limit: int | None = None,
    fragment: Fragment | None = None,
    granule: int = 1,
    vectors: tuple[bool, bool] = (True, True),
) -> list[ContractionSize]:
    """Shapes for a matrix product, or a batch of them, the best first; fewer than 200, and always one.

    m, n, k, batch: extents, None where they are known at run time only (then they count as large). Any extent is
                    right: edges are predicated, and what their idle threads cost counts.
    element_bytes:  of A, B and C: 2, 4 or 8; with a fragment, of A and B.
    shared_limit:   bytes of shared memory that a block may take; None: what needs no opt-in.
    fragment:       what tensor cores multiply, None for shapes without them; then there may be none that fits.
    granule:        the depth of panels is a multiple of it (with a fragment).
    vectors:        whether a thread loads what it needs for its rows, and for its columns, 16 bytes at once.
    source:         the hardware-centred space of Hidet (Ding et al. 2023, Section 5.3): sizes come from the machine
                    and not from divisors of the extents. The order is ours: a count of cycles. It is no measurement.
    """
    problem = _Problem(
        machine,
        _extent(m),
        _extent(n),
        _extent(k),
        LARGE_BATCH if batch is None else max(batch, 1),
        element_bytes,
        fragment,
        vectors,
    )
    limit = machine.shared_bytes_per_block if shared_limit is None else shared_limit
    shapes = _shapes(problem, limit) if fragment is None else _fragment_shapes(problem, fragment, limit, granule)
    found = [size for size in shapes if size.blocks_per_multiprocessor]
    return sorted(found, key=_rank)


def _extent(given: int | None) -> int:
    return LARGE if given is None else max(given, 1)


def _rank(size: ContractionSize) -> tuple[float | int, ...]:
    """Best first; among equals the one that takes less of the machine. Floats are rounded: equal means equal."""
    return (
        -round(size.score, 4),
        size.threads,
        size.registers,
        size.shared_bytes,
        size.stages,
        size.block_m,
        size.block_n,
        size.block_k,
        size.thread_m,
    )


def _shapes(problem: _Problem, limit: int) -> Iterator[ContractionSize]:
    """Every shape that the machine can run, with its prediction."""
    machine, size = problem.machine, problem.element_bytes
    words = max(1, size // 4)
    counts = sorted(t for t in THREADS if t <= machine.threads_per_block and t % machine.warp_size == 0)
    for (tm, tn), threads, x, bk, stages in product(REGISTER_TILES, counts, THREADS_X, DEPTHS, (1, 2)):
        bm, bn = threads // x * tm, x * tn
        panels = bk * (bm + bn)
        if max(bm, bn) > 2 * min(bm, bn):
            continue  # a square has the most reuse
        at_once = 4 if tm * tn * words <= MANY_SUMS else 2
        if panels % threads or not 2 * size <= panels // threads * size <= at_once * VECTOR_BYTES * words:
            continue  # each thread copies as much as the others, and keeps little of it on the way
        shared_bytes = stages * bk * (bm + bn + 2 * PAD_BYTES // size) * size
        if shared_bytes > limit:
            continue
        on_the_way = -(-panels * size // (threads * 4))
        registers = (tm * tn + tm + tn) * words + on_the_way + OTHER_REGISTERS
        if registers > machine.registers_per_thread * REGISTER_SHARE:
            continue  # it is an estimate, and a spill costs more than a smaller tile
        resident = machine.resident(threads, registers, shared_bytes)
        if resident.blocks == 0:
            continue
        tile = _Tile(problem, bm, bn, bk, tm, tn, threads, stages, resident.blocks)
        share, bound = tile.predicted()
        reason = f"bound by {bound}; {resident.blocks} blocks a multiprocessor, which {resident.bound} limit"
        warps = bm // tm // WARP[0], x // WARP[1]
        yield ContractionSize(
            *(bm, bn, bk, tm, tn, threads, stages, shared_bytes, registers, resident.blocks, share, reason), warps=warps
        )


def _fragment_shapes(problem: _Problem, fragment: Fragment, limit: int, granule: int) -> Iterator[ContractionSize]:
    """The same for warps that sum up fragments together."""
    machine, size = problem.machine, problem.element_bytes
    depths = sorted({-(-depth // granule) * granule for depth in DEPTHS if depth % fragment.depth == 0})
    for (wm, wn), (fm, fn), bk, stages in product(WARPS, FRAGMENT_TILES, depths, (1, 2)):
        threads, bm, bn = wm * wn * LANES, wm * fm * ROWS, wn * fn * COLUMNS
        if max(bm, bn) > 2 * min(bm, bn) or threads > machine.threads_per_block:
            continue  # a square has the most reuse
        shared_bytes = stages * (bk * (bm + bn) * size + (bm + bn) * PAD_BYTES)
        # Each lane has four sums of a fragment, and of its operands what it has of the sums' rows and columns.
        registers = fm * fn * 4 + (fm * ROWS + fn * COLUMNS) * fragment.depth // fragment.packed // LANES
        registers += OTHER_REGISTERS + FRAGMENT_REGISTERS
        if shared_bytes > limit or registers > machine.registers_per_thread * REGISTER_SHARE:
            continue
        resident = machine.resident(threads, registers, shared_bytes)
        if resident.blocks == 0:
            continue
        tile = _Tile(problem, bm, bn, bk, 2 * fm, 2 * fn, threads, stages, resident.blocks)
        share, bound = tile.predicted()
        reason = f"bound by {bound}; {resident.blocks} blocks a multiprocessor, which {resident.bound} limit"
        yield ContractionSize(
            bm,
            bn,
            bk,
            2 * fm,
            2 * fn,
            threads,
            stages,
            shared_bytes,
            registers,
            resident.blocks,
            share,
            reason,
            fragment,
            (wm, wn),
        )


@dataclass(frozen=True, slots=True)
class _Tile:
    """One shape for one product: how many cycles all of its tiles take."""

    problem: _Problem
    m: int
    n: int
    k: int
    thread_m: int
    thread_n: int
    threads: int
    stages: int
    resident: int
    """Blocks of a multiprocessor at once."""

    @property
    def count(self) -> int:
        """Tiles in all, those at the edges as well."""
        return _parts(self.problem.m, self.m) * _parts(self.problem.n, self.n) * self.problem.batch

    def predicted(self) -> tuple[float, str]:
        """The share of the arithmetic limit that useful work reaches, and what binds."""
        p, machine = self.problem, self.problem.machine
        rate = p.rate
        of_one = _parts(self.count, machine.multiprocessors)  # tiles of the busiest multiprocessor
        rounds, left = divmod(of_one, self.resident)
        inside, why = self.round(min(of_one, self.resident))
        computing = rounds * inside + (self.round(left)[0] if left else 0.0)
        l2, memory = (b / machine.bytes_per_cycle() for b in self.traffic())
        cycles, bound = _together({why: computing, "L2": l2 / L2_SPEEDUP, "memory": memory})
        if bound == why and self.count < machine.multiprocessors:
            bound = f"parallelism ({self.count} tiles for {machine.multiprocessors} multiprocessors)"
        useful = float(p.m) * p.n * p.k * p.batch
        return useful / (rate * machine.multiprocessors * cycles), bound

    def round(self, tiles: int) -> tuple[float, str]:
        """Cycles in which a multiprocessor makes some tiles at once, and what takes them."""
        size, machine = self.problem.element_bytes, self.problem.machine
        rate = self.problem.rate
        warps = self.threads // machine.warp_size
        loads, row = self.operands()
        instructions = self.products() + loads
        busy = {
            "arithmetic": self.m * self.n / rate,
            "shared memory": float(warps * row),
            "instructions": warps * instructions / SCHEDULERS,
        }
        of_step, why = _together(busy)
        copies = self.k * (self.m + self.n) * size / (machine.shared_banks * machine.shared_bank_bytes)
        every = tiles * (self.k * of_step + copies)
        # What one block waits for, and others fill: its own work, then a load from memory and barriers.
        work = self.thread_m * self.thread_n * machine.warp_size * SCHEDULERS / rate
        own = self.k * max(of_step, SHARED_CYCLES + work) + copies
        waits = PANEL_CYCLES + (BARRIER_CYCLES if self.stages == 2 else MEMORY_CYCLES + 2 * BARRIER_CYCLES)
        alone = (max(own, MEMORY_CYCLES) if self.stages == 2 else own) + waits
        step = max(every + PRODUCT_NOT_HIDDEN * waits, alone)
        return _parts(self.problem.k, self.k) * step + MEMORY_CYCLES, why if every >= alone else "latency"

    def products(self) -> float:
        """Instructions of one warp for one step of k that multiply, and convert what they multiply."""
        fragment = self.problem.fragment
        if fragment is None:
            return self.thread_m * self.thread_n
        loads, _ = self.operands()
        return self.thread_m * self.thread_n / 4 / fragment.depth + (loads if fragment is TF32 else 0)

    def operands(self) -> tuple[float, float]:
        """For one warp and one step of k: loads from shared memory, and the cycles that its banks take for them."""
        size, machine = self.problem.element_bytes, self.problem.machine
        if self.problem.fragment is not None:
            each = (self.thread_m // 2 * ROWS + self.thread_n // 2 * COLUMNS) / LANES
            return each, each  # panels are laid out so that lanes read different banks
        wide = machine.shared_banks * machine.shared_bank_bytes
        loads = cycles = 0
        for length, distinct, wide_loads in zip(
            (self.thread_m, self.thread_n), WARP, self.problem.vectors, strict=True
        ):
            count = _parts(length * size, VECTOR_BYTES) if wide_loads else length
            loads += count
            passes = 2 * count if wide_loads and length * size >= VECTOR_BYTES else count  # 16 bytes a lane take two
            cycles += max(passes, _parts(distinct * length * size, wide))
        return loads, cycles

    def traffic(self) -> tuple[float, float]:
        """Bytes that come from the L2 cache, and from memory: tiles that run at once share rows and columns."""
        p = self.problem
        in_n = _parts(p.n, self.n)
        of_sums = p.element_bytes if p.fragment is None else 4
        ends = 2.0 * p.m * p.n * p.batch * of_sums  # C is read and written once
        deep = float(p.k) * p.element_bytes
        least = (p.m + p.n) * deep * p.batch
        at_once = min(self.count, p.machine.multiprocessors * self.resident)
        columns, rows = min(at_once, in_n), _parts(at_once, in_n)
        fresh = _parts(self.count, at_once) * (rows * self.m + columns * self.n) * deep
        if (p.m + p.n) * deep <= p.machine.l2_bytes:
            fresh = least  # the whole of A and B stays in the cache
        return self.count * (self.m + self.n) * deep + ends, max(least, fresh) + ends


def _together(cycles: dict[str, float]) -> tuple[float, str]:
    """What several units take that work beside each other, and the name of the slowest."""
    slowest = max(cycles, key=lambda name: cycles[name])
    return (1 - PRODUCT_NOT_HIDDEN) * cycles[slowest] + PRODUCT_NOT_HIDDEN * sum(cycles.values()), slowest


def _parts(extent: int, size: int) -> int:
    return -(-extent // size)
