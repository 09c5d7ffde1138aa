"""Pairs of cells of a buffer that hold live values at the same time."""

from __future__ import annotations

import islpy as isl

from polyc.analysis.order import Run
from polyc.model.tree import Member
from polyc.poly import coalesced


def alive_together(touched: isl.Map, depth: int) -> isl.Map:
    """`{ [x] -> [y] }`: pairs of rows that are alive in one iteration, and perhaps more.

    touched: `{ [o, b] -> [x] }`, with `depth` loops o around the declaration
    """
    hull = coalesced(touched.detect_equalities().remove_divs())
    later = _later(hull, depth)
    alive = later.apply_range(hull).intersect(later.reverse().apply_range(hull)).intersect_domain(hull.domain())
    return alive.range_product(alive).range().unwrap()


def in_order(run: Run, depth: int) -> bool:
    """Whether a run is in the loop below `depth` others, the same for all of them, and that is a sequential one."""
    members = [step for step in run.path.steps if isinstance(step, Member)][depth : depth + 1]
    return all(not (m.parallel or m.vector or m.mapped) for m in members) and bool(members)


def _later(touched: isl.Map, depth: int) -> isl.Map:
    """`{ [o, b] -> [o, b'] : b' <= b }`."""
    names = [f"o{k}" for k in range(depth)]
    first, second = ", ".join([*names, "b"]), ", ".join([*names, "c"])
    return isl.Map.read_from_str(touched.get_ctx(), f"{{ [{first}] -> [{second}] : c <= b }}")
