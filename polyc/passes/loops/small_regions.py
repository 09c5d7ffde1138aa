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
from polyc.poly import affine_of, box_extents, box_volume, set_name, sets, value_on

FROM_AFAR = 2.0
"""How many times longer than its operations a loop takes at least whose data come from memory: it is not known where
they are, and threads start when in doubt."""


def worth_of(program: Program, machine: Cpu, at: isl.Set, above: Sequence[Member], member: Member) -> Worth | None:
    """From which sizes on threads save more than they take to start; None where that is not known.

    math:  with S the largest statement of the loop, as a box: prod over its loops of (max - min + 1), affine in the
           parameters, times the operations of an iteration, against the operations that one core does in the time that
           a parallel region takes
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
    total, count, largest = sum(w for w, _, _ in work), *max(work, key=lambda one: one[0])[1:]
    if not 0 < total < float("inf"):
        return None
    fixed = _dimensions(above, largest)
    if fixed is None:
        return None
    extents = box_extents(largest, program.scop.known, fixed)
    if extents is None:
        return None
    seconds = machine.parallel_region_us * 1e-6 / (1 - 1 / machine.cores)
    cycles = seconds * machine.clock_ghz * 1e9
    least = cycles * Rates().operations / FROM_AFAR / (total / count)
    constants = [int(e.max_val().to_python()) for e in extents if e.is_cst()]
    return Worth(tuple(e for e in extents if not e.is_cst()), _plain(least / prod(constants)))


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
