"""The CUDA shim's races against the definition, on random accesses of a few threads."""

from __future__ import annotations

import ctypes
import itertools
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from polyc.runtime.cuda_shim import build

pytestmark = pytest.mark.skipif(not shutil.which("g++"), reason="the shim is built with g++")

PROGRAM = Path(__file__).parent / "programs" / "interpreter.cu"
BLOCKS, THREADS, INTERVALS, SLOTS, CELLS = 3, 40, 3, 3, 8
READ, WRITE, UPDATE, READ_BYTE, WRITE_BYTE = range(1, 6)
BYTES = {READ: range(4), WRITE: range(4), UPDATE: range(4), READ_BYTE: range(1, 2), WRITE_BYTE: range(2, 3)}
Table = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Event:
    block: int
    interval: int
    part: int
    """How often its warp has waited for itself in the interval."""
    thread: int
    access: int


def races(steps: Table, warps: Table, in_shared: bool) -> bool:
    """Whether two accesses race: by the definition, pair by pair."""
    by_byte: dict[tuple[int, ...], list[Event]] = {}
    for event, place in events(steps, warps):
        for byte in BYTES[event.access]:
            by_byte.setdefault((event.block if in_shared else 0, place, byte), []).append(event)
    return any(race(a, b) for group in by_byte.values() for a, b in itertools.combinations(group, 2))


def race(a: Event, b: Event) -> bool:
    if {a.access, b.access} <= {READ, READ_BYTE} or a.access == b.access == UPDATE:
        return False
    if a.block != b.block:
        return True
    waited = a.thread // 32 == b.thread // 32 and a.part != b.part
    return a.thread != b.thread and a.interval == b.interval and not waited


def events(steps: Table, warps: Table) -> Iterator[tuple[Event, int]]:
    for block, interval, slot, thread in zip(*steps[..., 0].nonzero(), strict=True):
        access, place = steps[block, interval, slot, thread]
        part = warps[block, interval, :slot, thread // 32].sum()
        yield Event(block, interval, part, thread, access), place


def random_steps(rng: np.random.Generator) -> tuple[Table, Table]:
    """Few accesses, so that about half of the tables have no race."""
    shape = (BLOCKS, INTERVALS, SLOTS, THREADS)
    steps = np.zeros((*shape, 2), np.int32)
    here = rng.random(shape) < rng.choice([0.005, 0.01, 0.03])
    allowed = rng.choice([READ, WRITE, UPDATE, READ_BYTE, WRITE_BYTE], size=rng.integers(1, 6))
    steps[..., 0] = here * rng.choice(allowed, size=shape)
    steps[..., 1] = rng.integers(0, CELLS, size=shape)
    return steps, (rng.random((*shape[:3], 2)) < 0.4).astype(np.int32)


def test_races(tmp_path: Path) -> None:
    library = build(PROGRAM.read_text(), [], tmp_path)
    code = ctypes.CDLL(str(library))
    code.polyc_shim_report.restype = ctypes.c_char_p
    rng = np.random.default_rng(7)
    counts = {(where, expected): 0 for where in (0, 1) for expected in (False, True)}
    for number in range(600):
        steps, warps = random_steps(rng)
        in_shared = number % 2
        code.polyc_shim_clear()
        pointers = [a.ctypes.data_as(ctypes.c_void_p) for a in (steps, warps)]
        code.run(BLOCKS, THREADS, INTERVALS, SLOTS, in_shared, *pointers)
        found = code.polyc_shim_report().decode().splitlines()
        expected = races(steps, warps, bool(in_shared))
        assert any(line.startswith("race: ") for line in found) == expected, (number, found)
        assert {line.partition(":")[0] for line in found} <= {"race", "uninitialised"}
        counts[in_shared, expected] += 1
    assert min(counts.values()) > 50, counts
