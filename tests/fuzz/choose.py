"""Where choices come from: integers from a Chooser, the least of which is the plainest.

So the same code serves hypothesis, which shrinks what it chose, and `random.Random`, which is fast.
"""

from __future__ import annotations

import random
from typing import Protocol


class Chooser(Protocol):
    def integer(self, low: int, high: int) -> int:
        """A number, both ends included."""


class RandomChooser:
    def __init__(self, seed: str) -> None:
        self.random = random.Random(seed)

    def integer(self, low: int, high: int) -> int:
        return self.random.randint(low, high)
