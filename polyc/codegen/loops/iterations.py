"""Iterations of the tree's loops that a piece of isl's AST belongs to, where isl has left loops out of it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

import islpy as isl

from polyc.errors import InternalError
from polyc.model.program import Program
from polyc.model.tree import Band, Mark, Member, Node, child_nodes, partial_schedule, paths
from polyc.poly import at_sizes, empty_map, maps, project_range
from polyc.records import dataclass


@dataclass(slots=True)
class Visit:
    """One statement instance of the AST: what is needed to print it, kept from isl's callback."""

    build: isl.AstBuild
    schedule: isl.UnionMap

    def kept(self, depth: int) -> list[int]:
        """Which of the first `depth` loops isl has not left out."""
        space = self.build.get_schedule_space()
        there = {space.get_dim_name(isl.dim_type.set, k) for k in range(space.dim(isl.dim_type.set))}
        return [k for k in range(depth) if f"c{k}_" in there]

    def outer_loops(self, count: int) -> isl.Map:
        """`{ [c] -> [k] }`: what the build's schedule gives -> the values of the outermost loops that are there."""
        (schedule,) = maps(self.schedule)
        nested = schedule.range()
        flat = isl.Map.identity(nested.get_space().map_from_set()).intersect_domain(nested).flatten_range()
        first = flat.project_out(isl.dim_type.out, count, flat.dim(isl.dim_type.out) - count)
        return first.reset_tuple_id(isl.dim_type.out)


def members_above(node: Node, mark: Mark, found: tuple[Member, ...] = ()) -> tuple[Member, ...] | None:
    """The band members above a mark, outermost first; None where it does not stand below the node."""
    if node is mark:
        return found
    if isinstance(node, Band):
        found = (*found, *node.members)
    below = (members_above(child, mark, found) for child in child_nodes(node))
    return next((one for one in below if one is not None), None)


def tiles_of(program: Program, instances: isl.Set, above: Sequence[Member]) -> isl.Map:
    """`{ S[i] -> [o] }`: for which values of the outermost band members an instance runs. Raises InternalError."""
    found = empty_map(instances)
    for path in paths(program.tree):
        members = [step for step in path.steps if isinstance(step, Member)][: len(above)]
        if not all(one is other for one, other in zip_longest(members, above)):
            continue
        if path.extension is None:
            values = isl.UnionMap.from_multi_union_pw_aff(partial_schedule(tuple(above)))
            found = found.union(values.intersect_domain(path.instances))
        else:
            values = path.extension.intersect_range(path.instances).reverse()
            inner = tuple(above[path.depth_of_extension :])
            if inner:  # loops below the extension
                values = values.flat_range_product(isl.UnionMap.from_multi_union_pw_aff(partial_schedule(inner)))
            found = found.union(values)
    tiles = maps(found.intersect_domain(isl.UnionSet.from_set(instances)))
    if len(tiles) != 1 or tiles[0].dim(isl.dim_type.out) < len(above):
        raise InternalError("no tile runs an instance that isl prints")
    return project_range(tiles[0], len(above))


def iterations_of(program: Program, visits: Sequence[Visit], above: Sequence[Member]) -> isl.Map | None:
    """`{ [k] -> [o] }`: loops of the AST around some visits -> values of the tree's outermost members that these
    instances run for. None where that is not known.

    requires: the visits stand in one iteration of these loops
    """
    found: isl.Map | None = None
    for visit in visits:
        (schedule,) = maps(visit.schedule)
        first = visit.outer_loops(len(visit.kept(len(above))))
        to_instance = at_sizes(schedule.reverse(), program.scop.known)
        try:
            tiles = tiles_of(program, to_instance.range(), above)
        except InternalError:
            return None
        here = first.reverse().apply_range(to_instance).apply_range(tiles)
        found = here if found is None else found.union(here)
    return found
