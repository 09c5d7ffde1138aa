"""Blocks of sequential steps: updates that nobody in a block needs wait for its end, and are sums of products then."""

from __future__ import annotations

from math import lcm

import islpy as isl

from polyc.cost.given_sizes import BLOCKS, given_tile, rounded
from polyc.cost.micro_sizes import micro_sizes
from polyc.machine import load_cpu
from polyc.model.program import Program
from polyc.model.scop import AccessKind
from polyc.model.tree import LEAF, Band, Domain, Filter, Leaf, Mark, Member, Node, Role, Sequence, restrict
from polyc.nests.contractions import contraction_of
from polyc.nests.nest import Outer
from polyc.nests.samples import sample_parameters
from polyc.nests.wishes import asks_tiles
from polyc.poly import box_volume, names, sets
from polyc.records import dataclass, replace

STAGE = "blocking"
LARGE_PART = 0.1
"""Of a statement's instances: fewer that may wait are no sum of products, and of others no part of their own."""
SHORTEST = 32
"""Steps of a block at least: the sums have so many products."""


def block_updates(program: Program) -> Program:
    """Let updates of a loop's later steps wait for the end of a block of its steps, as in a blocked factorisation.

    rewrite:  for k { near(k); for i for j A[i][j] -= A[i][k] * A[k][j]; }
              -> for kt { for k in the block { near(k); the updates that this block needs; }
                          for i for j for k in the block A[i][j] -= A[i][k] * A[k][j]; }
    tree:     band(k) - sequence(near, S: band(i, j))
              -> band(kt) - sequence(band(k) - sequence(near, S in the block), S far: band(i, j) - band(k))
    math:     with D the dependences inside of one block and W the cells that S writes:
              needed = W^-1(W(dom(D from S to another statement, or cell))) in the same block, far = S \\ needed;
              no dependence in a block leads from far to anything else than far at the same cell
    requires: a loop that is not parallel, around a parallel nest that updates in place
    ensures:  each dependence keeps its order: those between blocks by kt, those inside by the order of the two steps
    source:   the blocked LU of Golub and Van Loan, "Matrix Computations", 4th edition, Section 3.2.11; here by
              index-set splitting (Griebl, Feautrier, Lengauer 2000) from the dependences alone
    """
    blocker = _Blocker(program)
    tree = Domain(program.tree.domain, blocker.at(program.tree.child, ()))
    return replace(blocker.program, tree=tree)


@dataclass(slots=True)
class _Blocker:
    program: Program

    def at(self, node: Node, above: tuple[Member, ...]) -> Node:
        match node:
            case Leaf():
                return node
            case Sequence(children=steps):
                return Sequence(tuple(replace(s, child=self.at(s.child, above)) for s in steps))
            case Band(members=(member,)) if asks_tiles(self.program, names(member.schedule.domain())):
                return node
            case Band(members=(member,), child=Sequence(children=steps)) if not member.coincident:
                found = self.blocked(node, member, steps, above)
                return found if found is not None else replace(node, child=self.at(node.child, (*above, member)))
            case Band(members=members):
                return replace(node, child=self.at(node.child, above + members))
            case Mark():
                return replace(node, child=self.at(node.child, above))
            case _:
                return node

    def blocked(self, band: Band, member: Member, steps: tuple[Filter, ...], above: tuple[Member, ...]) -> Node | None:
        """The loop in blocks; None where no step of it can wait."""
        far: list[tuple[isl.UnionSet, Band]] = []
        size = 0
        for step in steps:
            inner = step.child
            if not isinstance(inner, Band) or inner.coincident_prefix != 2 or inner.child is not LEAF:
                continue
            size = self.size_of(inner, member, step) or size
            waiting = self.waiting(step, member, size, above) if size else None
            if waiting is not None:
                far.append((waiting, inner))
        if not far:
            return None
        every = member.schedule.domain()
        rest = every
        for waiting, _ in far:
            rest = rest.subtract(waiting)
        rest = rest.coalesce()
        blocks = Member(_corner(member.schedule, size), False, member.name, Role.LOOP)
        parts = [Filter(rest, restrict(band, rest))]
        for waiting, inner in far:
            k = replace(member, schedule=member.schedule.intersect_domain(waiting))
            members = tuple(replace(m, schedule=m.schedule.intersect_domain(waiting)) for m in inner.members)
            sums = Band(members, inner.permutable, Band((k,), True, LEAF))
            parts.append(Filter(waiting, sums))
            statements = tuple(names(waiting))
            self.program = self.program.remark(
                "blocked",
                STAGE,
                f"updates of {', '.join(statements)} wait for the end of {size} steps of the loop {member.name}, where "
                "they are sums of products",
                statements,
                steps=size,
            )
        return Band((blocks,), False, Sequence(tuple(parts)))

    def size_of(self, inner: Band, member: Member, step: Filter) -> int | None:
        """Steps of a block; None where the nest is no sum of products."""
        k = replace(member, schedule=member.schedule.intersect_domain(step.filter))
        return block_of_products(self.program, replace(inner, child=Band((k,), True, LEAF)))

    def waiting(self, step: Filter, member: Member, size: int, above: tuple[Member, ...]) -> isl.UnionSet | None:
        """The instances of one statement that nobody in their block needs; None where there are none."""
        own = step.filter.intersect(member.schedule.domain())
        found = names(own)
        if len(found) != 1:
            return None
        block = Outer((*above, Member(_corner(member.schedule, size))))
        inside = block.same_iteration(self.program.dependences.all)
        writes = [a for a in self.program.statements[found[0]].accesses if a.kind is not AccessKind.READ]
        cell = isl.UnionMap.from_map(writes[0].relation)
        at_one_cell = cell.apply_range(cell.reverse())
        from_own = inside.intersect_domain(own)
        others = from_own.subtract_range(own).union(from_own.intersect_range(own).subtract(at_one_cell))
        in_block = block.same_iteration(isl.UnionMap.from_domain_and_range(own, own).intersect(at_one_cell))
        needed = others.domain().apply(in_block)
        far = largest_part(self.program, own.subtract(needed).coalesce(), own)
        if far is None:
            return None
        leaving = inside.intersect_domain(far)
        elsewhere = leaving.subtract_range(far).union(leaving.intersect_range(far).subtract(at_one_cell))
        return far if elsewhere.is_empty() else None


def block_of_products(program: Program, nest: Band) -> int | None:
    """Iterations of a block around a sum of products, so that register tiles begin where it ends; None where a nest is
    no such sum."""
    found = contraction_of(program, nest, in_place=True)
    if found is None:
        return None
    element = program.scop.arrays[found.array].element
    if element.text not in ("float", "double"):
        return None
    (size,) = micro_sizes(load_cpu(program.options.machine), None, None, None, element.size_bytes)
    (steps,) = given_tile(program, BLOCKS, (SHORTEST,), (found.statement,))
    return rounded(steps, lcm(size.rows, size.columns))


def largest_part(program: Program, waiting: isl.UnionSet, own: isl.UnionSet) -> isl.UnionSet | None:
    """The largest convex part of what may wait, with as few conditions as it takes: what is left over would make
    loops of its own."""
    (every,), parts = sets(own), sets(waiting)
    if len(parts) != 1:
        return None
    at = sample_parameters(program)
    pieces = parts[0].get_basic_sets()
    volumes = [box_volume(isl.Set.from_basic_set(p).intersect_params(at)) for p in pieces]
    if max(volumes) < LARGE_PART * box_volume(every.intersect_params(at)):
        return None  # a last step, that nobody needs any more
    piece = pieces[volumes.index(max(volumes))]
    # What is there for one value only (the last element, which nobody needs) would spoil the hull.
    large = [p for p, volume in zip(pieces, volumes, strict=True) if volume >= LARGE_PART * max(volumes)]
    together = isl.Set.from_basic_set(large[0])
    for other in large[1:]:
        together = together.union(isl.Set.from_basic_set(other))
    if every.intersect(isl.Set.from_basic_set(together.simple_hull())).is_subset(parts[0]):
        piece = together.simple_hull()
    needed = isl.Set.from_basic_set(piece).gist(every).get_basic_sets()[0].get_constraints()
    kept = list(needed)
    for one in needed:
        fewer = [constraint for constraint in kept if constraint is not one]
        if _all_of(every, fewer).is_subset(parts[0]):
            kept = fewer
    return isl.UnionSet.from_set(_all_of(every, kept))


def _all_of(instances: isl.Set, constraints: list[isl.Constraint]) -> isl.Set:
    for constraint in constraints:
        instances = instances.add_constraint(constraint)
    return instances


def _corner(schedule: isl.UnionPwAff, size: int) -> isl.UnionPwAff:
    value = isl.Val.int_from_si(schedule.get_ctx(), size)
    return schedule.scale_down_val(value).floor().scale_val(value)
