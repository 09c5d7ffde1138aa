"""Fuse nests before tiling where that costs nothing (Algorithm 1)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice, permutations

import islpy as isl

from polyc.model import ctree as c
from polyc.model.program import Program
from polyc.model.scop import AccessKind
from polyc.model.tree import Band, Filter, Member, Node, Sequence, partial_schedule, rewrite
from polyc.passes.nests import (
    Nest,
    Outer,
    all_instances,
    at_sequences,
    at_sequences_below,
    between,
    coincident_first,
    inside,
    sequence,
    values,
)
from polyc.passes.parallel import has_loops
from polyc.passes.tiling import worth_tiling
from polyc.poly import maps

STAGE = "pretiling"


def fuse_quasi_identical(program: Program) -> Program:
    """Join neighbouring nests whose dependences are quasi-identity relations into one nest.

    rewrite:  for h for w S2; for h for w for kh for kw S3; for h for w S4
              -> for h for w { S2; for kh for kw S3; S4 }
    tree:     sequence(band(h,w), band(h,w,kh,kw), band(h,w)) -> band(h,w) - sequence(leaf, band(kh,kw), leaf)
    math:     Definition 4.1 on schedule values: for c = min(m, n), every dependence R(v) -> T(v') between the two
              has v'_i = v_i for i <= c, and the other values of a flow dependence are constants
    requires: isl's schedule without fusion
    ensures:  coincidence and permutability of the common loops stay: the dependences have distance 0 there
    source:   Zhao et al. 2024, Section 4.1, Algorithm 1. We also ask that no parallel loop is lost: where one nest
              has fewer coincident loops than the other among the common ones, they stay apart. Where a nest has a loop
              on data, which is a black box, the other values need not be constants (Section 7.1.2: an extension
              schedule with an empty tile domain): the nests share the loops around the box, without tiles, if no
              tile of the others would meet its data again.
    """
    if program.options.fuse != "basteln":
        return program
    ordered = replace(program, tree=replace(program.tree, child=rewrite(program.tree.child, _ordered)))
    merger = _Merger(ordered)
    tree = at_sequences(ordered.tree, merger.merge)
    return replace(merger.program, tree=tree)


def _ordered(node: Node) -> Node:
    return coincident_first(node) if isinstance(node, Band) else node


class _Merger:
    """Walks the sequences and remembers the remarks."""

    def __init__(self, program: Program) -> None:
        self.program = program
        d = program.dependences
        self.flow = d.flow
        self.every = d.flow.union(d.false).union(d.private_false)

    def merge(self, nests: tuple[Nest, ...], outer: Outer) -> Node:
        groups: list[list[Nest]] = []
        for nest in nests:
            if groups and (joined := self.joined_somehow(groups[-1], nest, outer)):
                groups[-1] = joined
            else:
                groups.append([nest])
        merged = [self.group_nest(group, outer) if len(group) > 1 else group[0] for group in groups]
        done = [replace(n, node=inside(n, outer, self.merge)) for n in merged]
        return sequence(done, all_instances(nests))

    def joined_somehow(self, group: list[Nest], nest: Nest, outer: Outer) -> list[Nest] | None:
        """The group with one more nest; on a GPU also with the nest's parallel loops in another order."""
        orders = (nest, *(permuted(nest) if self.program.options.gpu else ()))
        return next((found for one in orders if (found := self.joined(group, one, outer))), None)

    def joined(self, group: list[Nest], nest: Nest, outer: Outer) -> list[Nest] | None:
        """The group with one more nest, if Definition 4.1 holds between it and all that the group has."""
        bands = [n.band for n in (*group, nest)]
        if any(b is None or b.coincident_prefix == 0 for b in bands):
            return None
        common = min(len(b.members) for b in bands if b is not None)
        parallel = {min(b.coincident_prefix, common) for b in bands if b is not None}
        if len(parallel) != 1:
            return None
        untiled = self.around_black_box((*group, nest), common)
        flows = [outer.same_iteration(between(self.flow, g, nest)) for g in group]
        if all(flow.is_empty() for flow in flows) and not any(self.reads_the_same(g, nest, outer) for g in group):
            return None  # what another iteration of the outer loops hands on is no nearer for it
        for member, flow in zip(group, flows, strict=True):
            dependence = outer.same_iteration(between(self.every, member, nest))
            if not self.quasi_identity(dependence, flow, member, nest, common, untiled):
                return None
        # What is lost when a deeper band is cut to the common loops: its tilability below (condition of 4.1 that
        # the remaining values are constant keeps this to initialisations and final steps).
        return [*group, nest]

    def reads_the_same(self, first: Nest, second: Nest, outer: Outer) -> bool:
        """Whether two nests that stream through memory read the same cells of an array in the same iterations: as one
        nest they read it once. (On a GPU that is one kernel less, with more registers: left to the tiles.)"""
        one, two = first.band, second.band
        if one is None or two is None or self.program.options.gpu or len(one.members) != len(two.members):
            return False
        if any(has_loops(b.child) or worth_tiling(self.program, b) for b in (one, two)):
            return False
        if any(self.program.statements[s].opaque for s in (*first.statements, *second.statements)):
            return False
        cells = self.cells_read(first, outer.members + one.members)
        return any(relation.is_equal(cells[array]) for array, relation in
                   self.cells_read(second, outer.members + two.members).items() if array in cells)  # fmt: skip

    def cells_read(self, nest: Nest, members: tuple[Member, ...]) -> dict[str, isl.Map]:
        """For each array, `{ [v] -> A[x] }`: what iterations of the loops read, where that is one element of each."""
        found: dict[str, isl.UnionMap] = {}
        at = values(members, nest.instances).reverse()
        for name in nest.statements:
            for access in self.program.statements[name].accesses:
                if access.kind is AccessKind.READ and access.exact and access.relation.dim(isl.dim_type.out):
                    cells = at.apply_range(isl.UnionMap.from_map(access.relation))
                    known = found.get(access.array)
                    found[access.array] = cells if known is None else known.union(cells)
        return {
            array: maps(cells)[0] for array, cells in found.items() if not cells.is_empty() and cells.is_single_valued()
        }

    def around_black_box(self, nests: tuple[Nest, ...], common: int) -> bool:
        """Whether a nest has a loop on data inside of the common loops, and no other one tiles that it would lose."""
        statements = [self.program.statements[s] for n in nests for s in n.statements]
        if not any(isinstance(n, c.For | c.While) for s in statements if s.opaque for n in c.walk(s.body)):
            return False
        bands = [n.band for n in nests if n.band is not None]
        return not any(len(b.members) > common and worth_tiling(self.program, b) for b in bands)

    def quasi_identity(
        self, every: isl.UnionMap, flow: isl.UnionMap, first: Nest, second: Nest, common: int, untiled: bool
    ) -> bool:
        """Definition 4.1; with `untiled`, what is inside of the common loops may be anything."""
        if every.is_empty():
            return True
        assert first.band is not None
        assert second.band is not None
        one, two = first.band.members, second.band.members
        shared = tuple(_joined_member(a, b) for a, b in zip(one[:common], two[:common], strict=True))
        if not every.is_subset(every.eq_at_multi_union_pw_aff(partial_schedule(shared))):
            return False
        if untiled:
            return True
        rest = [(m, first.instances) for m in one[common:]], [(m, second.instances) for m in two[common:]]
        sources = all(_constant(m, i.intersect(flow.domain())) for m, i in rest[0])
        targets = all(_constant(m, i.intersect(flow.range())) for m, i in rest[1])
        return sources and targets

    def group_nest(self, group: list[Nest], outer: Outer) -> Nest:
        """One band over the common loops, a sequence of what is left of each nest below."""
        bands = [n.band for n in group if n.band is not None]
        common = min(len(b.members) for b in bands)
        members = bands[0].members[:common]
        for band in bands[1:]:
            members = tuple(_joined_member(a, b) for a, b in zip(members, band.members, strict=False))
        steps: list[Filter] = []
        instances = group[0].instances
        for nest, band in zip(group, bands, strict=True):
            rest = band.members[common:]
            node = replace(band, members=rest) if rest else band.child
            steps += _flattened(nest.instances, node)
            instances = instances.union(nest.instances)
        permutable = all(b.permutable for b in bands)
        statements = tuple(s for n in group for s in n.statements)
        loops = f"{common} outer loops" if common > 1 else "outer loop"
        untiled = self.around_black_box(tuple(group), common)
        why = "the dependences between them are quasi-identity relations (Definition 4.1)"
        if untiled:
            why = "it is that of a loop on data, and all dependences between them stay in one iteration"
        self.program = self.program.remark(
            "pretiling-fused",
            STAGE,
            f"{', '.join(statements)} share their {loops}: {why}",
            statements,
            loops=common,
        )
        below: Node = Sequence(tuple(steps))
        if untiled:  # what is inside of the common loops has not been joined yet
            below = at_sequences_below(below, instances, Outer(outer.members + members), self.merge)
        return Nest(instances, Band(members, permutable, below))


MOST_LOOPS = 5
"""Parallel loops of a nest whose orders are tried: 24 of them, with the last loop in its place."""


def permuted(nest: Nest) -> Iterator[Nest]:
    """The nest with its parallel loops in other orders, as its band allows. The innermost one stays: what lies along
    consecutive memory still goes to neighbouring threads."""
    band = nest.band
    if band is None or not band.permutable or not 2 < band.coincident_prefix <= MOST_LOOPS:
        return
    outer, rest = band.members[: band.coincident_prefix - 1], band.members[band.coincident_prefix - 1 :]
    for order in islice(permutations(outer), 1, None):
        yield replace(nest, node=replace(band, members=(*order, *rest)))


def _flattened(instances: isl.UnionSet, node: Node) -> list[Filter]:
    """A step of the new sequence; steps of a sequence inside come up one level."""
    if isinstance(node, Sequence):
        return [Filter(s.filter.intersect(instances), s.child) for s in node.children]
    return [Filter(instances, node)]


def _joined_member(a: Member, b: Member) -> Member:
    schedule = a.schedule.union_add(b.schedule)
    return replace(a, schedule=schedule, coincident=a.coincident and b.coincident)


def _constant(member: Member, instances: isl.UnionSet) -> bool:
    """Whether a schedule value is one constant (in the parameters) for some instances."""
    pieces = maps(values((member,), instances))
    return all(isl.Map.from_range(p.range()).is_single_valued() for p in pieces)
