"""Limits on what a test may take of the machine."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager

from polyc.bounded import addresses


@contextmanager
def more_memory_at_most(limit_bytes: int) -> Iterator[None]:
    """Let this process take no more than `limit_bytes` beyond what it has.

    A worker of the test suite may hold gigabytes of addresses already (OpenCL's compiler and its threads), so that a
    limit on the whole would leave nothing, and CPython answers a frame that it cannot allocate with a SystemError.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (addresses() + limit_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
