"""Circular buffers: no cell is overwritten before it is read for the last time.

The dataflow check takes a buffer's cells apart for each cell of the array, also where it is circular, and two cells x
and y of the array share a place: in one dimension y - x is a multiple of the buffer's size M. That is the same if no
two of those are alive at once. Let b be the value of the first loop below the declaration, o those of the loops around
it, and t(o, b) the places along that dimension, rows for short, that are touched there.
math:   alive(o, b) = { x : some b1 <= b <= b2 with x in t(o, b1) and x in t(o, b2) }
        no x, y in alive(o, b) differ by a multiple of M.
      A row that is written or read at b is alive there. So between the first and the last use of x nobody touches a y
      that shares its place: one iteration of b counts as one moment. In it places are cells, so that what `races.py`
      shows of the loops inside holds; the loop over b itself has to run in order.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from math import gcd

import islpy as isl

from polyc.analysis.alive import alive_together, in_order
from polyc.analysis.expand import Expanded
from polyc.analysis.order import Run
from polyc.model.fault import Fault
from polyc.model.program import Program
from polyc.poly import constant_of, out_name


def window_faults(program: Program, now: Expanded, padded: Collection[str] = ()) -> Iterator[Fault]:
    """Circular buffers of which some place is used for two cells at once, or of which that is not known.

    padded: statements that may run outside of their domains, of which `now` says nothing
    """
    for buffer in program.buffers.values():
        if buffer.window is None:
            continue
        size = constant_of(buffer.extents[buffer.window]) if buffer.window < len(buffer.extents) else None
        plain = buffer.storage == "tile" and not (buffer.registers or buffer.places or program.options.gpu)
        if size is None or size < 1 or buffer.corner is None or not plain:
            yield Fault("form", f"{buffer.name} is circular, and it is not known in what", "")
            continue
        uses = [(run, cells) for run, accesses in now.per_run for _, cells in accesses if out_name(cells) == buffer.key]
        if not now.listed or any(run.statement in padded for run, _ in uses):
            yield Fault("form", f"it is not known who uses {buffer.name}", "")
            continue
        if any(not in_order(run, buffer.depth) for run, _ in uses):
            yield Fault("window", f"the loop that slides along {buffer.name} does not run in order", "")
            continue
        rows = [(run, _along(cells, buffer.depth + buffer.window)) for run, cells in uses]
        witness = _clash(rows, buffer.depth, size, program.scop.known)
        if witness:
            yield Fault("window", f"{buffer.name} has one place for two cells that are in use at once", witness)


def _along(cells: isl.Map, position: int) -> isl.Map:
    """`instance -> [x]`, one dimension of the cells."""
    after = cells.dim(isl.dim_type.out) - position - 1
    return cells.project_out(isl.dim_type.out, position + 1, after).project_out(isl.dim_type.out, 0, position)


def _clash(uses: Sequence[tuple[Run, isl.Map]], depth: int, size: int, known: isl.Set) -> str:
    """Rows that share a place and are alive in one iteration of the loop below `depth` others; "" if there are none.

    uses: who touches rows, `instance -> [x]`, each with a loop more than `depth` around it
    size: rows that are so far apart share a place
    Instead of what is touched its hull is taken, without remainders: that is more, and isl is fast.
    """
    if not uses:
        return ""
    whens = [run.prefix(depth + 1).intersect_params(known).intersect_domain(rows.domain()) for run, rows in uses]
    steps = _steps([when.range() for when in whens])
    touched: isl.Map | None = None
    for when, (_, rows) in zip(whens, uses, strict=True):
        here = steps.apply_range(when.reverse()).apply_range(rows)
        touched = here if touched is None else touched.union(here)
    assert touched is not None
    apart = isl.Map.read_from_str(touched.get_ctx(), f"{{ [x] -> [y] : (y - x) mod {size} = 0 and y > x }}")
    found = alive_together(touched, depth).intersect(apart)
    return "" if found.is_empty() else str(found.sample())


def _steps(values: list[isl.Set]) -> isl.Map:
    """`{ [v / stride] -> [v] }` for all of some values of loops: without the remainders that tile loops have."""
    count = values[0].dim(isl.dim_type.set)
    names = [f"o{k}" for k in range(count)]
    for strides in ([gcd(*(_stride(one, k) for one in values)) for k in range(count)], [1] * count):
        scaled = ", ".join(f"{max(1, stride)} * {name}" for stride, name in zip(strides, names, strict=True))
        steps = isl.Map.read_from_str(values[0].get_ctx(), f"{{ [{', '.join(names)}] -> [{scaled}] }}")
        if all(one.is_subset(steps.range()) for one in values):
            break
    return steps


def _stride(values: isl.Set, position: int) -> int:
    """How far apart the values of a loop are, at least; of one that is always equal to another isl says 1."""
    found = int(values.get_stride(position).to_python())
    if found != 1:
        return found
    after = values.dim(isl.dim_type.set) - position - 1
    alone = values.project_out(isl.dim_type.set, position + 1, after).project_out(isl.dim_type.set, 0, position)
    return int(alone.get_stride(0).to_python())


__all__ = ["alive_together", "window_faults"]
