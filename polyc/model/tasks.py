"""Task mappings: which thread runs which points of a tile, in which order.

A mapping is a product of parts, outermost first. `repeat(2, 2)` is one thread that runs four points in turn;
`spatial(16, 16)` is 256 threads with a point each. Their product first deals out blocks of points, and then the points
of a block: in `repeat(2, 2) * spatial(16, 16) * repeat(4, 4)` each thread owns four squares of 4 x 4 points, 64 apart.
In each dimension a point is a number whose digits are the parts' indices.

source: Ding et al. 2023 (Hidet), Section 4.1: task mappings, their composition (4) and the laws of it
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import prod

from polyc.records import dataclass

Point = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """One factor: `spatial` parts deal their points out to threads, the others are loops of a thread."""

    spatial: bool
    sizes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TaskMapping:
    """Points of a box, dealt out to threads."""

    parts: tuple[Part, ...]

    def __post_init__(self) -> None:
        if not self.parts or any(len(p.sizes) != self.rank or min(p.sizes) < 1 for p in self.parts):
            raise ValueError("the parts of a task mapping have one rank, and positive sizes")

    def __mul__(self, inner: TaskMapping) -> TaskMapping:
        """Each task of this mapping becomes a block of the inner one's tasks. Associative; not commutative."""
        return TaskMapping(self.parts + inner.parts)

    @property
    def rank(self) -> int:
        return len(self.parts[0].sizes)

    @property
    def shape(self) -> tuple[int, ...]:
        """The box's extents."""
        return tuple(prod(p.sizes[d] for p in self.parts) for d in range(self.rank))

    @property
    def threads(self) -> int:
        return prod(prod(p.sizes) for p in self.parts if p.spatial)

    @property
    def repeats(self) -> int:
        """Points of each thread."""
        return prod(prod(p.sizes) for p in self.parts if not p.spatial)

    def weight(self, part: int, dimension: int) -> int:
        """How far apart neighbours in a part lie: what the parts inside of it span."""
        return prod(p.sizes[dimension] for p in self.parts[part + 1 :])

    def thread_weight(self, part: int, dimension: int) -> int:
        """How far apart the numbers of threads are that are neighbours in a spatial part: the last counts fastest."""
        inside = [s for p in self.parts[part + 1 :] if p.spatial for s in p.sizes]
        return prod(inside) * prod(self.parts[part].sizes[dimension + 1 :])

    def register_weight(self, part: int, dimension: int) -> int:
        """How far apart the places are, in this dimension of a thread's own box, of neighbours in a repeated part."""
        return prod(p.sizes[dimension] for p in self.parts[part + 1 :] if not p.spatial)

    @property
    def registers(self) -> tuple[int, ...]:
        """The extents of a thread's own box."""
        return tuple(prod(p.sizes[d] for p in self.parts if not p.spatial) for d in range(self.rank))

    def points(self, thread: int) -> Iterator[Point]:
        """The points of a thread, in the order in which it runs them."""
        ranges = []
        for k, part in enumerate(self.parts):
            if part.spatial:
                own = tuple(thread // self.thread_weight(k, d) % size for d, size in enumerate(part.sizes))
                ranges.append([own])
            else:
                ranges.append(list(product(*(range(s) for s in part.sizes))))
        for digits in product(*ranges):
            yield tuple(sum(digit[d] * self.weight(k, d) for k, digit in enumerate(digits)) for d in range(self.rank))


def repeat(*sizes: int) -> TaskMapping:
    """One thread that runs all points, the last dimension fastest."""
    return TaskMapping((Part(False, sizes),))


def spatial(*sizes: int) -> TaskMapping:
    """A thread for each point, numbered with the last dimension fastest."""
    return TaskMapping((Part(True, sizes),))
