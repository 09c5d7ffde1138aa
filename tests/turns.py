"""Turns: where much is tried in many modes, machines or targets, neighbours try different ones.

In `make test` (POLYC_TURNS=1) tests with many cases take turns as well. `make test-all` (POLYC_ALL_MODES=1) tries
everything everywhere.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TypeVar
from zlib import crc32

Item = TypeVar("Item")
EVERYTHING = bool(os.environ.get("POLYC_ALL_MODES"))
IN_TURNS = not EVERYTHING and bool(os.environ.get("POLYC_TURNS"))
COMPILING = ("benchmarks", "differential", "gpu", "model", "mutation", "passes", "remarks", "reread", "verify")
"""The folders of tests that compile a program for each case."""
SHARES = ((24, 6), (12, 4), (4, 2))
"""Cases of a test, and which share of them is tried from so many on."""


def in_turns(ids: Sequence[str]) -> list[bool]:
    """Which of the tests are tried: with many cases each second to sixth, from another one on for each test."""
    tests = [one.partition("[")[0] for one in ids]
    counts, seen = Counter(tests), Counter[str]()
    found: list[bool] = []
    for test in tests:
        compiles = test.split("/")[1:2] and test.split("/")[1] in COMPILING
        share = next((share for count, share in SHARES if compiles and counts[test] >= count), 1)
        found.append((seen[test] + crc32(test.encode())) % share == 0)
        seen[test] += 1
    return found


def turn(items: Sequence[Item], position: int, share: int = 2) -> list[Item]:
    """Each `share`-th of some items, from another one on for each position."""
    return list(items) if EVERYTHING else list(items[position % share :: share])


def on_targets(names: Iterable[str], share: int = 3) -> list[tuple[str, str]]:
    """Names with a target: each second one for CUDA, whose shim sees races; some of the others for OpenCL, where passes
    and values are the same and only the text differs."""
    every = list(names)
    return [(name, "cuda") for name in turn(every, 0)] + [(name, "opencl") for name in turn(every, 1, 2 * share)]
