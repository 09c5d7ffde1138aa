"""Arrays whose values never leave an iteration, and the statements that touch each array."""

from __future__ import annotations

from collections.abc import Mapping

import islpy as isl

from polyc.model.program import Program
from polyc.model.scop import Statement
from polyc.model.tree import Band, Member, partial_schedule
from polyc.poly import maps, names, out_name

_LAST: list[tuple[Mapping[str, Statement], dict[str, set[str]]]] = []
"""What `touching_of` said last: it is asked of the same statements again and again."""


def kept_by_iterations(program: Program, band: Band, instances: isl.UnionSet) -> frozenset[str]:
    """Arrays that will be variables: each iteration of the nest's loops makes the values that it reads, and nobody else
    needs them."""
    scop, here = program.scop, set(names(instances))
    mine = {a.array for name in here for a in program.statements[name].accesses if a.array not in scop.live_out}
    touching = touching_of(program.statements)
    mine = {array for array in mine if touching[array] <= here}
    found = set()
    for array in mine:
        flow = program.dependences.flow_by_array.get(array)
        if flow is not None and scop.arrays[array].rank and stays_within(flow, band.members):
            found.add(array)
    if found:
        found.difference_update(out_name(m) for m in maps(program.dependences.live_in))
    return frozenset(found)


def touching_of(statements: Mapping[str, Statement]) -> dict[str, set[str]]:
    """The statements that touch each array."""
    if not _LAST or _LAST[0][0] is not statements:
        found: dict[str, set[str]] = {}
        for name, statement in statements.items():
            for access in statement.accesses:
                found.setdefault(access.array, set()).add(name)
        _LAST[:] = [(statements, found)]
    return _LAST[0][1]


def stays_within(flow: isl.UnionMap, members: tuple[Member, ...]) -> bool:
    """Whether no dependence enters an iteration of the loops from another one, or from elsewhere.

    Tiles leave out what nobody needs: what would read there reads nothing.
    """
    flow = flow.intersect_range(members[0].schedule.domain())
    if flow.is_empty():
        return False
    return bool(flow.is_subset(flow.eq_at_multi_union_pw_aff(partial_schedule(members))))
