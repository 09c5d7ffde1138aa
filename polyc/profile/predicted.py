"""Time of a kernel on a GPU, predicted from its counts and the machine's description. It is no measurement."""

from __future__ import annotations

from math import prod

from polyc.cost.gpu_sizes import BARRIER_CYCLES, L2_SPEEDUP, MEMORY_CYCLES, NOT_HIDDEN, SHARED_CYCLES
from polyc.machine import Gpu
from polyc.profile.ptxas import Resources
from polyc.records import dataclass
from polyc.runtime.cuda_shim import Launch, Operations

SECTOR_BYTES = 32
SECTORS_AT_ONCE = 4
"""Sectors that a multiprocessor's first cache passes on in a cycle: as many bytes as the banks of shared memory."""
IN_FLIGHT = 4
"""Iterations of a loop whose loads are on their way at once: nvcc unrolls so many."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """How a kernel runs on a machine, all of its launches added up."""

    blocks_per_multiprocessor: int
    occupancy: float
    """Warps that a multiprocessor holds at once, as a share of those that it can hold."""
    occupancy_bound: str
    """What keeps a multiprocessor from holding one more block."""
    seconds: float
    """Without the time that it takes to start the kernel."""
    bound: str
    """What takes longest: `memory`, `L2`, `shared memory`, `arithmetic`, `tensor cores`, `latency`, or `parallelism`
    where there are fewer blocks than multiprocessors."""
    limit: str
    """What a perfect kernel would be bound by: `memory`, with compulsory traffic only, or `arithmetic`."""
    share_of_limit: float
    """The time that this limit allows, as a share of the predicted one."""


def predict(launch: Launch, resources: Resources | None, machine: Gpu) -> Prediction:
    """Predict the time of a kernel; without `resources`, registers do not limit how many blocks run at once.

    math: cycles = (1 - h) * max(units) + h * sum(units), with h = NOT_HIDDEN; units that each multiprocessor has for
          itself take what the busiest one does, which has ceil(blocks / multiprocessors) of the blocks
    """
    blocks, threads = prod(launch.grid), prod(launch.block)
    resident = machine.resident(threads, resources.registers if resources else 1, launch.shared_bytes)
    at_once = max(1, resident.blocks)
    warps = -(-threads // machine.warp_size)
    most = machine.threads_per_multiprocessor // machine.warp_size
    busiest = -(-blocks // machine.multiprocessors)
    units = units_of(launch, machine, at_once, busiest / blocks)
    units["latency"] = launch.launches * latency(launch, blocks * warps) * max(1.0, busiest / at_once)
    slowest = max(units, key=lambda name: units[name])
    cycles = (1 - NOT_HIDDEN) * units[slowest] + NOT_HIDDEN * sum(units.values())
    bound = slowest
    if blocks < machine.multiprocessors and slowest not in ("memory", "L2"):
        bound = "parallelism"
    arithmetic = (
        sum(units[name] for name in ("arithmetic", "tensor cores")) * blocks / busiest / machine.multiprocessors
    )
    memory = SECTOR_BYTES * sum(launch.compulsory) / machine.bytes_per_cycle()
    return Prediction(
        resident.blocks,
        min(1.0, resident.blocks * warps / most),
        resident.bound,
        cycles / (machine.clock_mhz * 1e6),
        bound,
        "arithmetic" if arithmetic > memory else "memory",
        min(1.0, max(arithmetic, memory) / cycles) if cycles else 1.0,
    )


def units_of(launch: Launch, machine: Gpu, at_once: int, share: float) -> dict[str, float]:
    """The cycles that each unit of the machine takes; `share`: of all blocks, on the busiest multiprocessor."""
    total = launch.total
    operations = launch.operations or Operations()
    arithmetic = sum(
        operations.instructions(kind) / machine.operations_per_cycle(size)
        for kind, size in (("float", 4), ("double", 8))
    )
    tensor = sum(
        count / 2 / machine.tensor_operations_per_cycle(size)
        for count, size in ((operations.tensor_half, 2), (operations.tensor_tf32, 4))
    )
    # Multiprocessors keep what they have loaded; what they store goes on at once.
    passes = total.wavefronts + (total.load_sectors + total.store_sectors) / SECTORS_AT_ONCE
    return {
        "memory": SECTOR_BYTES * memory_sectors(launch, machine, at_once) / machine.bytes_per_cycle(),
        "L2": SECTOR_BYTES * (launch.of_blocks[0] + total.store_sectors) / (L2_SPEEDUP * machine.bytes_per_cycle()),
        "shared memory": passes * share,
        "arithmetic": arithmetic * share,
        "tensor cores": tensor * share,
    }


def memory_sectors(launch: Launch, machine: Gpu, at_once: int) -> float:
    """Sectors between the L2 cache and memory: each once where the cache holds all of them.

    Otherwise blocks that run at once share what they touch, and of rows of blocks those do.
    """
    once = sum(launch.compulsory)
    if SECTOR_BYTES * once <= machine.l2_bytes * launch.launches:
        return once
    rows_at_once = machine.multiprocessors * at_once / launch.grid[0]
    return once + max(0, sum(launch.of_rows) - once) * min(1.0, 1 / rows_at_once)


def latency(launch: Launch, warps: int) -> float:
    """Cycles that one warp waits, on average, for loads and barriers that come one after the other."""
    each = 1 / (warps * launch.launches)
    loads = MEMORY_CYCLES * launch.chains + SHARED_CYCLES * launch.shared_chains
    barriers = BARRIER_CYCLES * launch.barriers * warps / prod(launch.grid)
    return (loads / IN_FLIGHT + barriers) * each + MEMORY_CYCLES
