"""Arrays that nobody writes, read from copies: the cheap half of the dataflow check.

math: an array without a writer has one value in each cell. What copies put into a buffer's cell `buffer[o, x]` is that
      value of x, whenever they do it. So a read of `buffer[o, x]` is right if some copy has filled the cell before it:
      if, in one iteration of the loops around the sequence at which their paths part, the copy's step comes first.
"""

from __future__ import annotations

import islpy as isl

from polyc.analysis.order import Run, parting
from polyc.model.program import Program
from polyc.model.scop import AccessKind
from polyc.model.tree import Step
from polyc.poly import out_name
from polyc.verify.expand import Expanded


def filled_before_read(program: Program, now: Expanded, array: str) -> bool:
    """Whether all reads of an array that nobody writes see its own values; False says nothing."""
    keys = {b.key for b in program.buffers.values() if b.array == array}
    writers: list[tuple[Run, isl.Map]] = []
    readers: list[tuple[Run, isl.Map]] = []
    for run, accesses in now.per_run:
        for access, relation in accesses:
            if access.array != array:
                continue
            if access.kind is AccessKind.READ:
                if out_name(relation) in keys:
                    readers.append((run, relation))
            elif run.statement in program.copies and out_name(relation) in keys:
                writers.append((run, relation))
            else:
                return False
    known = program.scop.known
    return all(filled(run, cells.intersect_params(known), writers) for run, cells in readers)


def filled(reader: Run, cells: isl.Map, writers: list[tuple[Run, isl.Map]]) -> bool:
    """Whether some copy has filled each cell of a buffer before a leaf reads it."""
    by_place: dict[int, isl.Map] = {}
    for run, written in writers:
        if out_name(written) != out_name(cells):
            continue
        at = parting(run.path, reader.path)
        if at is None or not _earlier(run, reader, at):
            continue
        filled = run.before(at).reverse().apply_range(written)
        by_place[at] = by_place[at].union(filled) if at in by_place else filled
    return any(
        reader.before(at).intersect_domain(cells.domain()).reverse().apply_range(cells).is_subset(filled)
        for at, filled in by_place.items()
    )


def _earlier(one: Run, two: Run, at: int) -> bool:
    first, second = one.path.steps[at], two.path.steps[at]
    assert isinstance(first, Step)
    assert isinstance(second, Step)
    return first.index < second.index
