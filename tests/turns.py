"""Turns: where much is tried in many modes, machines or targets, neighbours try different ones in `make test`.

`make test-all` (POLYC_ALL_MODES=1) tries everything everywhere.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TypeVar

Item = TypeVar("Item")
EVERYTHING = bool(os.environ.get("POLYC_ALL_MODES"))


def turn(items: Sequence[Item], position: int, share: int = 2) -> list[Item]:
    """Each `share`-th of some items, from another one on for each position."""
    return list(items) if EVERYTHING else list(items[position % share :: share])


def on_targets(names: Iterable[str], share: int = 3) -> list[tuple[str, str]]:
    """Names with a target: each second one for CUDA, whose shim sees races; some of the others for OpenCL, where passes
    and values are the same and only the text differs."""
    every = list(names)
    return [(name, "cuda") for name in turn(every, 0)] + [(name, "opencl") for name in turn(every, 1, 2 * share)]
