"""Loops of a given order that carry no dependence."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import islpy as isl

from polyc.model import ctree as c
from polyc.model.program import Program
from polyc.model.tree import (
    Band,
    Domain,
    Extension,
    Leaf,
    Mark,
    Member,
    Node,
    Sequence,
    outermost_bands,
    partial_schedule,
    walk,
)
from polyc.poly import OverBudget, among, budget


def with_coincident_loops(program: Program, more: isl.UnionMap | None = None) -> Program:
    """Mark the loops of a program's order that carry no dependence: isl's scheduler, which would say so, has not run.

    tree:     band[-] -> band[c]
    math:     with v the loop's value, u those of the loops around it, D = flow + false, inside of the loop:
              for all x -> y in D with u(x) = u(y): v(x) = v(y)
    more:     what else has to stay in its order
    ensures:  no loop around is changed; anti and output dependences of arrays that can be private hold no loop, since
              `privatize` gives each iteration a copy
    """
    scop, found = program.scop, program.dependences
    order = found.flow.union(found.false)
    order = (order if more is None else order.union(more)).intersect_params(scop.context)

    def below(node: Node, instances: isl.UnionSet, outer: tuple[Member, ...]) -> Node:
        match node:
            case Leaf():
                return node
            case Sequence(children=steps):
                parts = [(s, instances.intersect(s.filter)) for s in steps]
                return Sequence(tuple(replace(s, child=below(s.child, inside, outer)) for s, inside in parts))
            case Band(members=members):
                within = instances.intersect(members[0].schedule.domain())
                around = among(order, within)
                marked: list[Member] = []
                for position, member in enumerate(members):
                    same = within_iteration(around, outer + members[:position])
                    marked.append(replace(member, coincident=bool(same.is_subset(within_iteration(same, (member,))))))
                return replace(node, members=tuple(marked), child=below(node.child, within, outer + members))
            case Mark() | Extension():
                return replace(node, child=below(node.child, instances, outer))

    return replace(program, tree=Domain(program.tree.domain, below(program.tree.child, program.tree.domain, ())))


@lru_cache(maxsize=4)
def is_serial(program: Program) -> bool:
    """Whether all loops of a region, those of its statements too, carry dependences in their own order: nothing that is
    parallel, in vectors or in tiles could be made of any part of it."""
    scop = program.scop
    hidden = (any(isinstance(n, c.For | c.While) for n in c.walk(s.body)) for s in scop.statements.values())
    if scop.in_place or scop.inspection is not None or any(hidden):
        return False
    found = program.dependences
    marked = _as_written(replace(program, dependences=replace(found, false=found.lasting_false)))
    if marked is None:
        return False
    return not any(m.coincident for node in walk(marked.tree.child) if isinstance(node, Band) for m in node.members)


def is_parallel(program: Program) -> bool:
    """Whether the outermost loops of a region carry no dependence in its own order, as far as that is known."""
    marked = _as_written(program)
    return marked is not None and all(band.members[0].coincident for band in outermost_bands(marked.tree.child))


def _as_written(program: Program) -> Program | None:
    """The region in its own order, with the loops marked that carry nothing; None where that takes too long."""
    try:
        with budget(program.scop.domain.get_ctx(), program.operations):
            return with_coincident_loops(replace(program, tree=program.scop.tree))
    except OverBudget:
        return None


def within_iteration(relation: isl.UnionMap, members: tuple[Member, ...]) -> isl.UnionMap:
    """The pairs within one iteration of some loops."""
    if not members or relation.is_empty():
        return relation
    return relation.eq_at_multi_union_pw_aff(partial_schedule(members))
