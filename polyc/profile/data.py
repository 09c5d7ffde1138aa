"""A profile as the data that `polyc profile --format json` prints: the names are a contract."""

from __future__ import annotations

from typing import Any

from polyc.profile.measured import KernelProfile, Profile
from polyc.profile.predicted import SECTOR_BYTES
from polyc.runtime.cuda_shim import Counts, Launch

WARP = 32
"""Lanes of a warp, whatever the machine: the shim's."""


def kernel_data(kernel: KernelProfile, lines: list[str]) -> dict[str, Any]:
    """One kernel; `lines`: of the CUDA text."""
    launch, resources, predicted = kernel.launch, kernel.resources, kernel.predicted
    total = launch.total
    return {
        "name": launch.kernel,
        "grid": list(launch.grid),
        "block": list(launch.block),
        "launches": launch.launches,
        "blocks_run": launch.blocks_run,
        "registers": resources.registers if resources else None,
        "spills": resources.spills if resources else None,
        "shared_bytes": launch.shared_bytes,
        "occupancy": predicted.occupancy,
        "occupancy_bound": predicted.occupancy_bound,
        "blocks_per_multiprocessor": predicted.blocks_per_multiprocessor,
        "global": {**global_data(total), **traffic(launch)},
        "shared": shared_data(total),
        "active_lanes": active_lanes(total),
        "requests": total.requests,
        "divergent_requests": total.divergent,
        "divergent_branches": total.splits,
        "atomics": total.atomics,
        "copies": total.copies,
        "barriers": launch.barriers,
        "bound": predicted.bound,
        "seconds": predicted.seconds,
        "limit": predicted.limit,
        "share_of_limit": predicted.share_of_limit,
        "lines": [line_data(number, counts, lines) for number, counts in sorted(launch.lines.items()) if number],
    }


def profile_data(found: Profile) -> list[dict[str, Any]]:
    """The kernels of a region."""
    lines = found.text.split("\n")
    return [kernel_data(kernel, lines) for kernel in found.kernels]


def line_data(number: int, counts: Counts, lines: list[str]) -> dict[str, Any]:
    """One line of a kernel."""
    return {
        "line": number,
        "text": lines[number - 1].strip() if number <= len(lines) else "",
        "global": global_data(counts),
        "shared": shared_data(counts),
        "active_lanes": active_lanes(counts),
        "requests": counts.requests,
        "divergent_requests": counts.divergent,
        "divergent_branches": counts.splits,
        "copies": counts.copies,
        "executed": counts.executed,
        "executed_lanes": counts.executed_lanes / (WARP * counts.executed) if counts.executed else None,
    }


def global_data(counts: Counts) -> dict[str, int]:
    names = ("requests", "sectors", "sectors_least")
    return {f"{kind}_{name}": getattr(counts, f"{kind}_{name}") for kind in ("load", "store") for name in names}


def shared_data(counts: Counts) -> dict[str, int]:
    return {
        "requests": counts.shared_requests,
        "wavefronts": counts.wavefronts,
        "wavefronts_least": counts.wavefronts_least,
    }


def traffic(launch: Launch) -> dict[str, int]:
    """What the requests move, and what any kernel has to move that touches the same memory."""
    return {
        "bytes": SECTOR_BYTES * (launch.total.load_sectors + launch.total.store_sectors),
        "bytes_compulsory": SECTOR_BYTES * sum(launch.compulsory),
    }


def active_lanes(counts: Counts) -> float | None:
    """The share of a warp's 32 lanes that take part in a request, on average over all requests; None without any."""
    return counts.lanes / (WARP * counts.requests) if counts.requests else None
