"""Loops over what iterations share: all pixels of one cell add to it, and no others do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import islpy as isl

from polyc.model.program import Program
from polyc.model.scop import Access, AccessKind
from polyc.model.tree import Band, Domain, Member, Node, Sequence, partial_schedule
from polyc.nests.naming import fresh
from polyc.nests.nest import Outer
from polyc.poly import affine_of, among, everywhere, in_name, maps, names, pinned

STAGE = "schedule"


def with_loops_over_cells(tree: Domain, program: Program) -> tuple[Domain, Program]:
    """Put a loop over the cells of an array around a nest whose iterations depend on each other within a cell only.

    rewrite:  for y for x grid[y / 8][x / 8][z] += e     (z is read from data)
              -> for cell (parallel) for y in 8 cell .. 8 cell + 7 for x grid[y / 8][x / 8][z] += e
    math:     f, a rounded-down subscript of something that the nest writes, as a function of its loops; if f(x) = f(y)
              for each dependence x -> y, the loop over f may stand outside of all others, and carries nothing
    requires: a nest without a parallel loop in its outer band
    ensures:  the order within each cell
    source:   isl's scheduler looks for linear functions of loops; those of a scatter into cells are rounded ones
    """
    finder = _Finder(program)
    child = finder.below(tree.child, tree.domain, Outer())
    return (tree, program) if child is tree.child else (Domain(tree.domain, child), finder.program)


class _Finder:
    def __init__(self, program: Program) -> None:
        self.program = program
        d = program.dependences
        self.order = d.flow.union(d.lasting_false).intersect_params(program.scop.context)

    def below(self, node: Node, instances: isl.UnionSet, outer: Outer) -> Node:
        match node:
            case Sequence(children=steps):
                inside = [self.below(s.child, instances.intersect(s.filter), outer) for s in steps]
                if all(new is s.child for new, s in zip(inside, steps, strict=True)):
                    return node
                return Sequence(tuple(replace(s, child=new) for s, new in zip(steps, inside, strict=True)))
            case Band() if node.coincident_prefix == 0:
                member = self.member(node, instances, outer)
                if member is not None:
                    return Band((member,), True, node)
                child = self.below(node.child, instances, outer.under(node))
                return node if child is node.child else replace(node, child=child)
            case _:
                return node

    def member(self, band: Band, instances: isl.UnionSet, outer: Outer) -> Member | None:
        """The loop over cells, with a remark; None where there is none."""
        loops = _chain(band)
        writes = list(self.rounded(instances))
        if not writes:
            return None
        own = outer.same_iteration(among(self.order, instances))
        for access, position in writes:
            schedule = _over_cells(loops, instances, access, position)
            if schedule is None:
                continue
            name = fresh("cell", self.program.scop.used_names)
            member = Member(schedule, coincident=True, name=name)
            if own.is_subset(Outer((member,)).same_iteration(own)) and self.keeps_private_values(instances, own):
                array = self.program.scop.arrays[access.array].c_name
                statements = tuple(names(instances))
                verb = "run" if len(statements) > 1 else "runs"
                message = (
                    f"{', '.join(statements)} {verb} cell by cell along dimension {position + 1} of {array}: "
                    "iterations that go to different cells there are independent"
                )
                self.program = self.program.remark("cells", STAGE, message, statements, array=array)
                return member
        return None

    def rounded(self, instances: isl.UnionSet) -> Iterator[tuple[Access, int]]:
        """The subscripts of what the nest writes that several iterations share because they are rounded down."""
        for name in names(instances):
            for access in self.program.scop.statements[name].accesses:
                if (
                    access.kind is AccessKind.READ
                    or not access.placed
                    or access.array in self.program.scop.privatizable
                ):
                    continue
                wide = everywhere(pinned(access.relation, access.loose))
                if wide is None:
                    continue
                function = isl.PwMultiAff.from_map(wide)
                for position in range(wide.dim(isl.dim_type.out)):
                    value = affine_of(function.get_pw_aff(position))
                    if value is not None and value.dim(isl.dim_type.div) == 1:
                        yield access, position

    def keeps_private_values(self, instances: isl.UnionSet, own: isl.UnionMap) -> bool:
        """Whether no value of an array that each thread may have a copy of comes into the nest or leaves it."""
        scop, flows = self.program.scop, self.program.dependences.flow_by_array
        for name in names(instances):
            for access in scop.statements[name].accesses:
                flow = flows.get(access.array)
                if access.array not in scop.privatizable or flow is None:
                    continue
                flow = flow.intersect_params(scop.context)
                here = flow.intersect_domain(instances).union(flow.intersect_range(instances))
                if not here.is_subset(own):
                    return False
        return True


def _chain(band: Band) -> tuple[Member, ...]:
    """The loops of a nest that all of its statements have."""
    loops, below = band.members, band.child
    while isinstance(below, Band):
        loops, below = loops + below.members, below.child
    return loops


def _over_cells(
    loops: tuple[Member, ...], instances: isl.UnionSet, access: Access, position: int
) -> isl.UnionPwAff | None:
    """`{ S[i] -> [cell] }` for all statements of a nest: what the subscript of one of them is at their iteration."""
    schedule = isl.UnionMap.from_multi_union_pw_aff(partial_schedule(loops)).intersect_domain(instances)
    by_name = {in_name(piece): piece for piece in maps(schedule)}
    if any(not piece.is_injective() for piece in by_name.values()) or len(by_name) < len(names(instances)):
        return None
    subscript = pinned(access.relation, access.loose)
    rank = subscript.dim(isl.dim_type.out)
    subscript = subscript.project_out(isl.dim_type.out, position + 1, rank - position - 1)
    subscript = subscript.project_out(isl.dim_type.out, 0, position)
    cell = everywhere(by_name[in_name(subscript)].reverse().apply_range(subscript))
    if cell is None:
        return None
    found = isl.UnionPwAff.empty(instances.get_space())
    for piece in by_name.values():
        value = isl.PwMultiAff.from_map(piece.apply_range(cell)).get_pw_aff(0)
        found = found.union_add(isl.UnionPwAff.from_pw_aff(value))
    return found
