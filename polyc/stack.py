"""Room on Python's stack for code that is nested deeply: reading, modelling and printing call themselves a level."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

PYTHON_CALLS = 20_000
"""Python's own limit of 1000 calls is less than what the deepest code that the frontend takes needs."""


@contextmanager
def room_for_depth() -> Iterator[None]:
    """Let Python's calls nest so deeply inside."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, PYTHON_CALLS))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
