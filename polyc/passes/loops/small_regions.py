"""Whether a parallel loop is worth the start of its threads: always, never, or from sizes that only a run knows."""

from __future__ import annotations

from collections.abc import Sequence
from math import log10, prod

import islpy as isl

from polyc.cost.time import Rates, operations
from polyc.machine import Cpu
from polyc.model import ctree as c
from polyc.model.program import Program
from polyc.model.tree import Member, Worth
from polyc.nests.samples import written_cells
from polyc.poly import affine_of, box_extents, box_volume, set_name, sets, value_on

FROM_AFAR = 2.0
"""How many times longer than its operations a loop takes at least whose data come from memory."""
SEARCHED = 4
"""How many times as much has to be done where a search starts threads as well, and runs through the loops before."""
VECTOR_BYTES = 16
"""In which a core does as many operations in vectors as `Rates` says for one by one."""


def worth_of(program: Program, machine: Cpu, at: isl.Set, above: Sequence[Member], member: Member) -> Worth | None:
    """From which sizes on threads save more than they take to start; None where that is not known.

    math:  with S the largest statement of the loop, as a box: prod over its loops of (max - min + 1), affine in the
           parameters, times the operations of an iteration, against the operations that one core does in the time that
           a parallel region takes: as slowly as data come from memory, or in vectors, where there are some and all
           data fit into the core's share of the last cache: a loop so small takes time only where it runs again and
           again
    at:    the sample sizes, by which the statements of one loop are compared
    above: the loops around it, which have to be loops as they were written
    """
    if machine.cores < 2:
        return None
    work: list[tuple[float, float, isl.Set]] = []
    for piece in sets(member.schedule.domain()):
        statement = program.statements[set_name(piece)]
        instances = statement.domain.intersect(piece)
        if any(isinstance(node, c.For | c.While) for node in c.walk(statement.body)):
            return None  # nobody knows how often a loop of its own runs
        count = box_volume(instances.intersect_params(at))
        work.append((count * operations(statement), count, instances))
    runs = any(w > 0 for w, _, _ in work)
    if not runs:  # at the sample sizes: `if (mode == 2)`
        work = [(operations(program.statements[set_name(piece)]), 1.0, piece) for _, _, piece in work]
    total, count, largest = sum(w for w, _, _ in work), *max(work, key=lambda one: one[0])[1:]
    if not total < float("inf"):
        return None
    fixed = _dimensions(above, largest)
    if fixed is None:
        return None
    extents = box_extents(largest, program.scop.known, fixed)
    if extents is None:
        return None
    seconds = machine.parallel_region_us * 1e-6 / (1 - 1 / machine.cores)
    cycles = seconds * machine.clock_ghz * 1e9 * (1 if program.scop.search is None else SEARCHED)
    each = total / count
    least = cycles * Rates().operations / FROM_AFAR / each
    within = _within(largest, at, fixed)
    lanes, data = _vectors(program, largest, at, within) if runs else (0.0, 0.0)
    if lanes > 0:
        first, last = machine.levels[0], machine.levels[-1]
        near = cycles / max(each / (Rates().operations * lanes), data / within / machine.bytes_per_cycle(first))
        least = min(near, max(least, machine.capacity(last, machine.cores) * within / data))
    most = [e.intersect_domain(program.scop.bounded).max_val() for e in extents]
    if all(m.is_int() for m in most) and least > prod(m.to_python() for m in most):
        return Worth((), 2)
    constants = prod(int(e.max_val().to_python()) for e in extents if e.is_cst())
    open_ones = tuple(e for e in extents if not e.is_cst())
    return Worth(open_ones, _plain(least / constants) if open_ones else 0)


def _within(instances: isl.Set, at: isl.Set, fixed: set[int]) -> float:
    """How many instances the loops have without those of which the dimensions are fixed."""
    inner = instances.intersect_params(at)
    for d in sorted(fixed, reverse=True):
        inner = inner.project_out(isl.dim_type.set, d, 1)
    return box_volume(inner)


def _vectors(program: Program, instances: isl.Set, at: isl.Set, within: float) -> tuple[float, float]:
    """How many times as many operations the vectors of a statement do in a cycle, 0 where it has none as far as can be
    seen, and the bytes of all elements that it touches.

    within: how many instances a run of the loop has
    """
    statement = program.statements[set_name(instances)]
    if any(isinstance(node, c.Call) for node in c.walk(statement.body)) or not all(a.exact for a in statement.accesses):
        return 0.0, 0.0
    there = instances.intersect_params(at)
    cells: dict[str, float] = {}
    for access in statement.accesses:
        if access.relation.dim(isl.dim_type.out):
            touched = access.relation.intersect_domain(there).range()
            if box_volume(touched) == float("inf"):  # of `a[now][x]` the row that is touched, whichever it is
                touched = touched.intersect_params(isl.Set.from_point(touched.params().sample_point()))
            cells[access.array] = max(cells.get(access.array, 0.0), box_volume(touched))
    if written_cells(program, there) < within:
        return 0.0, 0.0  # a sum
    sizes = {name: max(1, program.scop.arrays[name].element.size_bytes) for name in cells}
    return max(1.0, VECTOR_BYTES / max(sizes.values())), sum(cells[name] * sizes[name] for name in cells)


def _dimensions(above: Sequence[Member], instances: isl.Set) -> set[int] | None:
    """The dimensions of a statement whose loops stand around; None where these are others than those written."""
    found = set()
    for member in above:
        value = affine_of(value_on(member.schedule, instances.get_space()))
        if value is None or member.size != 1:
            return None
        used = [d for d in range(instances.dim(isl.dim_type.set)) if value.involves_dims(isl.dim_type.in_, d, 1)]
        if len(used) != 1:
            return None
        found.add(used[0])
    return found


def _plain(count: float) -> int:
    """With two digits, as people write numbers that are about right."""
    if count < 1:
        return 0
    unit = int(10 ** max(0, int(log10(count)) - 1))
    return round(count / unit) * unit
