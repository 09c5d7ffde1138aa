"""What the shim counted in each launch of a library that was built with `count`, by kernels and source lines."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import fields
from pathlib import Path
from typing import Any

from polyc.records import dataclass, field, replace
from polyc.runtime.cuda_shim.library import SOURCE
from polyc.runtime.cuda_shim.operations import Operations, operations_of_blocks

BLOCKS = "POLYC_SHIM_BLOCKS"
"""In the environment of a run: about how many blocks of a launch it counts, at most; 0 or nothing for all. Otherwise it
leaves out launches, too, where a kernel has many of the same grid."""
LOADS, STORES, COPIES = ("load", "copy load"), ("store", "update", "copy store"), ("copy load", "copy store")
UPDATE, BLOCK = "update", "block"


@dataclass(slots=True)
class Counts:
    """Counts of warps' requests to memory; a request is what lanes of one warp ask for at once, by one instruction."""

    requests: int = 0
    """Of global and shared memory."""
    lanes: int = 0
    """That take part in these."""
    divergent: int = 0
    """Requests in which not all threads of the warp take part."""
    load_requests: int = 0
    load_sectors: int = 0
    """Of 32 bytes of global memory that loads ask for, request by request."""
    load_sectors_least: int = 0
    """Sectors that would hold the different bytes of each request."""
    store_requests: int = 0
    """Atomic updates too."""
    store_sectors: int = 0
    store_sectors_least: int = 0
    atomics: int = 0
    """Requests that update, in global and in shared memory."""
    shared_requests: int = 0
    wavefronts: int = 0
    """Passes over the banks of shared memory: more than the least are conflicts."""
    wavefronts_least: int = 0
    """Passes that the different words of each request would take, spread over all banks."""
    copies: int = 0
    """Requests of cp.async, from global to shared memory."""
    executed: int = 0
    """Times that a warp comes to a basic block."""
    executed_lanes: int = 0
    """Lanes that come there."""
    splits: int = 0
    """Times that lanes which come to a branch together go on apart."""

    def add(self, other: Counts) -> None:
        for one in fields(Counts):
            setattr(self, one.name, getattr(self, one.name) + getattr(other, one.name))


@dataclass(slots=True)
class Launch:
    """One launch of a kernel, or several of the same grid and block added up."""

    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int
    """Of a block, static and dynamic."""
    launches: int = 1
    blocks_run: int = 0
    """That were counted; where these are fewer than the grid has, they stand for all."""
    barriers: int = 0
    """That all threads of a block wait at, over all blocks."""
    compulsory: tuple[int, int] = (0, 0)
    """Different sectors that the launch loads, and stores."""
    of_rows: tuple[int, int] = (0, 0)
    """The same where a block finds only what the block in front of it along x has touched."""
    of_blocks: tuple[int, int] = (0, 0)
    """The same for each block by itself, added up."""
    chains: int = 0
    """Times that a warp comes to a basic block which loads from global memory by other means than cp.async."""
    shared_chains: int = 0
    """The same for shared memory."""
    operations: Operations | None = field(default_factory=Operations)
    """None where nothing could be read of the machine code."""
    total: Counts = field(default_factory=Counts)
    lines: dict[int, Counts] = field(default_factory=dict)
    """By the line of the CUDA text."""

    @property
    def sampled(self) -> bool:
        return self.blocks_run < self.launches * self.grid[0] * self.grid[1] * self.grid[2]

    def add(self, other: Launch) -> None:
        """Add what another launch of the kernel did."""
        for name in ("launches", "blocks_run", "barriers", "chains", "shared_chains"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name in ("compulsory", "of_rows", "of_blocks"):
            one, more = getattr(self, name), getattr(other, name)
            setattr(self, name, (one[0] + more[0], one[1] + more[1]))
        if self.operations is not None and other.operations is not None:
            self.operations.add(other.operations)
        self.total.add(other.total)
        for line, counts in other.lines.items():
            self.lines.setdefault(line, Counts()).add(counts)


def read_counters(library: Path) -> list[Launch]:
    """What the library's last process counted, in the order of the launches; equal ones are added up."""
    file = Path(f"{library}.profile")
    if not file.exists():
        return []
    written = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    places = sorted({site["place"] for launch in written for site in launch.get("sites", ())})
    lines = kernel_lines(library, places)
    of_blocks = operations_of_blocks(library)
    found: dict[tuple[Any, ...], dict[int, Stratum]] = {}
    for one in written:
        strata = found.setdefault((one["kernel"], *one["grid"], *one["block"], one["shared_bytes"]), {})
        stratum = strata.setdefault(one["stratum"], Stratum())
        stratum.launches += 1
        if "sites" in one:
            stratum.counted = launch_of(one, lines, of_blocks)
    return [added_up(list(strata.values())) for strata in found.values()]


@dataclass(slots=True)
class Stratum:
    """Launches of one kernel, grid and block that follow each other, of which one was counted."""

    launches: int = 0
    counted: Launch | None = None


def added_up(strata: list[Stratum]) -> Launch:
    """All launches: those that were not counted are as the one that was; the last stratum may have none."""
    total = strata[0].counted
    assert total is not None
    last = total
    for stratum in strata[1:]:
        last = stratum.counted or last
        for k in range(stratum.launches):
            total.add(last if k == 0 and stratum.counted else replace(last, blocks_run=0))
    return total


def launch_of(written: dict[str, Any], lines: dict[int, int], of_blocks: dict[int, Operations] | None) -> Launch:
    """One launch, from what the shim wrote and the lines of its places."""
    launch = Launch(
        written["kernel"],
        tuple(written["grid"]),
        tuple(written["block"]),
        written["shared_bytes"],
        operations=None if of_blocks is None else Operations(),
    )
    for name in ("blocks_run", "barriers", "compulsory", "of_rows", "of_blocks"):
        value = written[name]
        setattr(launch, name, tuple(value) if isinstance(value, list) else value)
    loading: dict[str, set[int]] = {"global": set(), "shared": set()}
    block, times = 0, {0: 0}
    for site in sorted(written["sites"], key=lambda s: (s["place"], s["kind"] != BLOCK)):
        counts = counts_of(site)
        if site["kind"] == BLOCK:
            block = site["place"]
            times[block] = site["requests"]
            if launch.operations is not None and of_blocks is not None and block in of_blocks:
                launch.operations.add(of_blocks[block], site["lanes"])
        elif site["kind"] == "load":
            loading["shared" if site["shared"] else "global"].add(block)
        launch.total.add(counts)
        launch.lines.setdefault(lines.get(site["place"], 0), Counts()).add(counts)
    launch.chains, launch.shared_chains = (sum(times[b] for b in loading[space]) for space in ("global", "shared"))
    if launch.operations is not None:
        launch.operations.tensor_half, launch.operations.tensor_tf32 = written["tensor_operations"]
    return launch


def counts_of(site: dict[str, Any]) -> Counts:
    """The counts of one place of the program."""
    kind, requests, lanes = site["kind"], site["requests"], site["lanes"]
    if kind == BLOCK:
        return Counts(executed=requests, executed_lanes=lanes, splits=site["splits"])
    counts = Counts(requests=requests, lanes=lanes, divergent=site["divergent"])
    counts.atomics = requests if kind == UPDATE else 0
    if site["shared"]:
        counts.shared_requests = requests
        counts.wavefronts, counts.wavefronts_least = site["wavefronts"], site["wavefronts_least"]
        return counts
    counts.copies = requests if kind in COPIES else 0
    if kind in LOADS:
        counts.load_requests = requests
        counts.load_sectors, counts.load_sectors_least = site["sectors"], site["sectors_least"]
    else:
        counts.store_requests = requests
        counts.store_sectors, counts.store_sectors_least = site["sectors"], site["sectors_least"]
    return counts


def kernel_lines(library: Path, places: list[int]) -> dict[int, int]:
    """The line of the kernel for each place: of functions that are inlined there, that of the call.

    Empty where the tool for it is missing.
    """
    tool = shutil.which("addr2line")
    if not places or not tool:
        return {}
    addresses = "".join(f"{place - 1:#x}\n" for place in places)
    command = [tool, "-a", "-i", "-s", "-e", str(library)]
    done = subprocess.run(command, capture_output=True, check=False, text=True, input=addresses)
    lines: dict[int, int] = {}
    place = 0
    for line in done.stdout.splitlines():
        if line.startswith("0x"):
            place = int(line, 16) + 1
        elif match := re.match(rf"{re.escape(SOURCE)}:(\d+)", line):
            lines[place] = int(match[1])  # callers come last
    return lines
