"""Deal a reduction's loops out: to one block, or to many, whose sums a second kernel adds up."""

from __future__ import annotations

from dataclasses import replace
from math import prod

import islpy as isl

from polyc.cost.gpu_tiles import default_block
from polyc.machine import Gpu
from polyc.model.program import Program
from polyc.model.tree import ALL_THREADS, BLOCK_AXES, GLOBAL_AXES, PART_AXES, Band, Mark, Node, rewrite
from polyc.nests.nest import values
from polyc.nests.samples import sample_parameters
from polyc.nests.strides import gain_of
from polyc.poly import greatest_of, least_of

ONE_BLOCK = 4096
"""Iterations up to which a second kernel costs more than many blocks save."""
LOOPED_ONE_BLOCK = 65536
"""The same for a reduction in a loop of the host, which starts its kernels again and again."""
MOST_PARTS = 1024
"""Blocks of a reduction, at most: the second kernel has one block for their sums."""
COLUMNS = 64
"""Threads of a block that have a result each."""
THREADS_AT_ONCE = 1024
"""Of such blocks, on each multiprocessor."""
BLOCKS_AT_ONCE = 4
"""Of a reduction, on each multiprocessor."""


class Reductions:
    """Maps the marks `reduce` of one program."""

    def __init__(self, program: Program, machine: Gpu) -> None:
        self.program = program
        self.machine = machine

    def kernel(self, mark: Mark, looped: bool) -> Mark:
        """A reduction that is a kernel by itself.

        tree: mark(reduce) - band(i) -> mark(kernel, blocks) - mark(reduce) - band(global.x: i)
              mark(reduce) - band(i, j) -> mark(kernel, blocks) - mark(reduce) - band(block.x: i, thread: j)
        """
        sizes = default_block(self.machine, False, self.program.options.block)
        if self.is_small(mark, looped):
            return Mark("kernel", self.in_block(mark), sizes=sizes)
        band = _band(mark)
        axes = [GLOBAL_AXES[0]]
        positions = [0]
        if len(band.members) > 1:
            axes, positions = [BLOCK_AXES[0], ALL_THREADS], [0, self.fastest(band, 1)]
        inside = replace(mark, child=_dealt(band, dict(zip(positions, axes, strict=True))))
        blocks = min(MOST_PARTS, self.machine.multiprocessors * BLOCKS_AT_ONCE)
        return Mark("kernel", inside, sizes=sizes, blocks=blocks)

    def columns(self, band: Band) -> Mark:
        """A nest of a thread for each result, in which blocks share the reduction.

        tree: band(k, j) - sequence(S0, mark(reduce) - band(i)) -> mark(kernel) - band(block.y: k, global.x: j) -
              sequence(S0, mark(reduce) - band(part.z: i))
        """
        fastest = self.fastest(band, 0)
        outer = _dealt(band, {k: GLOBAL_AXES[0] if k == fastest else BLOCK_AXES[1] for k in range(len(band.members))})
        axes = PART_AXES[len(band.members) - 1 :]

        def dealt(node: Node) -> Node:
            if not isinstance(node, Mark) or node.kind != "reduce":
                return node
            inner = _band(node)
            return replace(node, child=_dealt(inner, dict(enumerate(reversed(axes[: len(inner.members)])))))

        sizes = default_block(self.machine, False, self.program.options.block or (COLUMNS,))
        wanted = self.machine.multiprocessors * max(1, THREADS_AT_ONCE // prod(sizes))
        return Mark("kernel", replace(outer, child=rewrite(outer.child, dealt)), sizes=sizes, blocks=wanted)

    def in_block(self, mark: Mark) -> Mark:
        """A reduction that the threads of a block share."""
        band = _band(mark)
        return replace(mark, child=_dealt(band, {self.fastest(band, 0): ALL_THREADS}))

    def fastest(self, band: Band, start: int) -> int:
        """The loop for the threads: the one along consecutive memory, of those from a position on."""
        return max(range(start, len(band.members)), key=lambda k: (gain_of(band.members[k], self.program), k))

    def is_small(self, mark: Mark, looped: bool) -> bool:
        """Whether one block is enough."""
        band = _band(mark)
        here = band.members[0].schedule.domain().intersect(self.program.tree.domain)
        known = self.program.scop.known
        if looped:
            known = sample_parameters(self.program)
        extents = []
        for member in band.members:
            one = isl.Set.from_union_set(values((member,), here).range()).intersect_params(known)
            if one.is_empty():
                return True
            low, high = least_of(one, 0), greatest_of(one, 0)
            if not (low.is_int() and high.is_int()):
                return False
            extents.append(high.to_python() - low.to_python() + 1)
        return prod(extents) <= (LOOPED_ONE_BLOCK if looped else ONE_BLOCK)


def _band(mark: Mark) -> Band:
    assert isinstance(mark.child, Band)
    return mark.child


def _dealt(band: Band, axes: dict[int, str]) -> Band:
    return replace(
        band, members=tuple(replace(m, mapped=axes.get(k, ""), parallel=True) for k, m in enumerate(band.members))
    )
