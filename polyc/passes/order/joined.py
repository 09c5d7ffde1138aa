"""Parallel loops inside of parallel loops as one band, whose tiles a GPU's blocks take."""

from __future__ import annotations

from dataclasses import replace

from polyc.model.program import Program
from polyc.model.tree import Band, Domain, Filter, Node, Role, Sequence, restrict, rewrite


def join_parallel_loops(program: Program) -> Program:
    """Make one permutable band of parallel loops that stand right inside of each other, and of the band below them.

    tree:     band[c](y) - band[c](x) - x  ->  band[cc](y, x) permutable - x
    math:     each dependence stays in an iteration of y, and in one of x: any order of the two keeps it
    requires: what is private has a copy for each iteration (`privatize`), as for each parallel loop
    source:   m parallel dimensions as Zhao et al. 2024 ask for (Section 5.4): blocks and threads have two and more
    """

    return replace(program, tree=Domain(program.tree.domain, rewrite(program.tree.child, _joined)))


def distribute_parallel_loops(node: Node) -> Node:
    """A nest whose parallel loops each have one step, joined: the grid of a kernel has all of them then.

    tree:     band[c](y) - sequence(A - band[c](x), B)  ->  sequence(A - band[cc](y, x), B - band[c](y))
    math:     no dependence leads from one iteration of y to another, so that all of A may run before all of B
    """

    def distributed(node: Node) -> Node:
        match node:
            case Band(child=Sequence(children=steps)) if all(m.coincident for m in node.members):
                each = ((s.filter, restrict(replace(node, child=s.child), s.filter)) for s in steps)
                return Sequence(tuple(Filter(instances, distributed(band)) for instances, band in each))
            case _:
                return node

    return rewrite(rewrite(node, distributed), _joined)


def _joined(node: Node) -> Node:
    match node:
        case Band(child=Band() as inner) if (
            all(m.coincident for m in node.members)
            and inner.coincident_prefix
            and (inner.permutable or all(m.coincident for m in inner.members))
            and all(m.role is Role.LOOP and not m.mapped for m in (*node.members, *inner.members))
        ):
            return replace(inner, members=(*node.members, *inner.members), permutable=True)
        case Band(members=members) if len(members) > 1 and all(m.coincident for m in members):
            return replace(node, permutable=True)
        case _:
            return node
