"""Find each nest's permutable bands and coincident loops with isl's scheduler."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import islpy as isl

from polyc.codegen.to_isl import from_isl
from polyc.model.program import Program
from polyc.model.tree import Domain, Filter, Node, Sequence, rewrite
from polyc.passes.naming import name_members
from polyc.poly import budget, is_over_budget, names

STAGE = "schedule"

HEURISTICS: dict[str, dict[str, int]] = {
    # Algorithm 1, line 1: no fusion at all; Algorithms 1 to 4 decide what goes together.
    "basteln": {"serialize_sccs": 1, "outer_coincidence": 1},
    "min": {"serialize_sccs": 1, "outer_coincidence": 1},
    "smart": {"serialize_sccs": 0, "whole_component": 0, "maximize_band_depth": 1, "outer_coincidence": 1},
    "max": {"serialize_sccs": 0, "whole_component": 1, "maximize_band_depth": 0, "outer_coincidence": 0},
}
DEFAULTS = {"serialize_sccs": 0, "whole_component": 0, "maximize_band_depth": 0, "outer_coincidence": 0}


def schedule_nests(program: Program) -> Program:
    """Replace the original order by isl's schedule: permutable bands, outer parallelism first.

    tree:     any -> domain - sequence(filter - band …), one child a strongly connected component (serialised)
    requires: dependences of the original order
    ensures:  the new order respects `flow` and `false`; `private_false` wherever a live range is not local
    source:   Zhao et al. 2024, Algorithm 1, line 1; the scheduler is Verdoolaege and Janssens, CW 706
    """
    scop, dependences = program.scop, program.dependences
    order = dependences.flow.union(dependences.false)
    constraints = isl.ScheduleConstraints.on_domain(scop.domain).set_context(scop.context)
    constraints = constraints.set_validity(order).set_coincidence(order).set_proximity(dependences.flow)
    if not dependences.tagged_private_false.is_empty():
        constraints = constraints.set_conditional_validity(dependences.tagged_flow, dependences.tagged_private_false)
    context = scop.domain.get_ctx()
    try:
        with _heuristic(context, program.options.fuse), budget(context, program.options.budget):
            found = constraints.compute_schedule()
    except isl.Error as error:
        if not is_over_budget(error):
            raise
        return program.remark(
            "schedule-budget",
            STAGE,
            "isl's scheduler did not end within its budget; the original order stays",
            tuple(scop.statements),
        )
    tree = in_source_order(from_isl(found), program)
    return replace(program, tree=name_members(tree, scop))


def in_source_order(tree: Domain, program: Program) -> Domain:
    """Put the steps of each sequence into the user's order as far as no dependence says otherwise.

    isl orders independent components as it likes; people look for their loops where they wrote them, and
    Algorithm 1 joins neighbours.
    """
    every = program.dependences.all
    rank = {name: position for position, name in enumerate(program.scop.statements)}

    def change(node: Node) -> Node:
        if not isinstance(node, Sequence):
            return node
        waiting = list(node.children)
        ordered: list[Filter] = []
        while waiting:
            free = [s for k, s in enumerate(waiting) if not any(_depends(every, e, s) for e in waiting[:k])]
            chosen = min(free, key=lambda s: min(rank[name] for name in names(s.filter)))
            waiting.remove(chosen)
            ordered.append(chosen)
        return Sequence(tuple(ordered))

    return Domain(tree.domain, rewrite(tree.child, change))


def _depends(every: isl.UnionMap, first: Filter, second: Filter) -> bool:
    between = every.intersect_domain(first.filter).intersect_range(second.filter)
    back = every.intersect_domain(second.filter).intersect_range(first.filter)
    return not (between.is_empty() and back.is_empty())


@contextmanager
def _heuristic(context: isl.Context, name: str) -> Iterator[None]:
    """Set the scheduler's options for one run; they belong to the context and would stay set."""
    chosen = DEFAULTS | HEURISTICS[name]
    before = {option: getattr(context, f"get_schedule_{option}")() for option in chosen}
    for option, value in chosen.items():
        getattr(context, f"set_schedule_{option}")(value)
    try:
        yield
    finally:
        for option, value in before.items():
            getattr(context, f"set_schedule_{option}")(value)
