"""What threads get of a parallel loop: whether it is worth starting them, and whether its iterations are equally long.

All at sample sizes (`time.py`), in one iteration of the loops around, in their middle.
"""

from __future__ import annotations

import islpy as isl

from polyc.cost.time import Rates, all_operations, operations
from polyc.machine import Cpu
from polyc.model.program import Program
from polyc.model.tree import Member
from polyc.nests.nest import values
from polyc.nests.samples import middle_tile
from polyc.poly import box_volume, free_volume, greatest_of, least_of, names, set_name, sets

RATIO = 1.5
"""Between a long and a short iteration, from which on threads get iterations as they come."""


def saved_seconds(
    program: Program,
    machine: Cpu,
    at: isl.Set,
    above: tuple[Member, ...],
    member: Member,
    added: isl.UnionMap | None = None,
) -> float | None:
    """What running the loop on all cores saves, if its data are in a cache; None where that is not known.

    at: the sample sizes; above: the loops around it; added: the relations of the extension nodes around it
    """
    count = 0.0
    for piece in sets(member.schedule.domain()):
        statement = program.statements[set_name(piece)]
        if statement.name in program.copies:  # of a panel that all threads wait for
            return None
        instances = _in_the_middle(statement.domain.intersect(piece).intersect_params(at), above, added)
        if instances is None:
            return None
        count += free_volume(instances) * max(operations(statement), all_operations(program, statement))
    return count / (Rates().operations * machine.clock_ghz * 1e9) * (1 - 1 / machine.cores)


def is_uneven(
    program: Program, at: isl.Set, above: tuple[Member, ...], member: Member, added: isl.UnionMap | None = None
) -> bool:
    """Whether late iterations have more to do than early ones, or less, as in a triangle."""
    found: list[isl.Map] = []
    for piece in sets(member.schedule.domain()):
        domain = program.statements[set_name(piece)].domain
        if domain.is_box():
            continue
        instances = _in_the_middle(domain.intersect(piece).intersect_params(at), above, added)
        if instances is not None and not instances.is_empty():
            found.append(isl.Map.from_union_map(values((member,), isl.UnionSet.from_set(instances))))
    if not found:
        return False
    bounds = [(least_of(v.range(), 0), greatest_of(v.range(), 0)) for v in found]
    if not all(low.is_int() and high.is_int() for low, high in bounds):
        return False
    low = min(int(one.to_python()) for one, _ in bounds)
    high = max(int(one.to_python()) for _, one in bounds)
    early = sum(_volume(v, low + (high - low) // 8, high) for v in found)
    late = sum(_volume(v, high - (high - low) // 8, low) for v in found)
    return max(early, late) > RATIO * min(early, late)


def _in_the_middle(instances: isl.Set, above: tuple[Member, ...], added: isl.UnionMap | None = None) -> isl.Set | None:
    """Those of one iteration of the loops around; None where these have no bounds, or none run in the middle.

    math: a statement that an extension node adds runs in the tiles that the node's relation says: the loops above that
          node have no value for it
    """
    if not above or instances.is_empty():
        return instances
    ran = isl.UnionSet.from_set(instances)
    around = values(tuple(m for m in above if set_name(instances) in names(m.schedule.domain())), ran)
    tiles = None if added is None else added.reverse().intersect_domain(ran)
    if tiles is not None and not tiles.is_empty():
        around = tiles.flat_range_product(around)
    found = isl.Map.from_union_map(around)
    middle = middle_tile(found.range())
    here = None if middle is None else found.intersect_range(middle).domain()
    return None if here is None or here.is_empty() else here  # what runs at borders only is as large as what does not


def _volume(value: isl.Map, wanted: int, towards: int) -> float:
    """Of what runs for the value that is nearest to the one wanted, on its side of another one: whole tiles."""
    context = value.get_ctx()
    if towards > wanted:
        there = value.lower_bound_val(isl.dim_type.out, 0, isl.Val.int_from_si(context, wanted)).range()
    else:
        there = value.upper_bound_val(isl.dim_type.out, 0, isl.Val.int_from_si(context, wanted)).range()
    if there.is_empty():
        return 0.0
    at = least_of(there, 0) if towards > wanted else greatest_of(there, 0)
    return box_volume(value.fix_val(isl.dim_type.out, 0, at).domain())
