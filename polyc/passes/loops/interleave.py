"""Recurrences along the rows of an array: several rows at once, so that no element waits for the one before it."""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl

from polyc.cost.recurrences import LEAST, MOST, Chain, Rows, chain_of, rows_of, waits_for_nothing
from polyc.model.program import Program
from polyc.model.scop import AccessKind
from polyc.model.tree import (
    Band,
    Domain,
    Extension,
    Mark,
    Member,
    Node,
    Role,
    Sequence,
    child_nodes,
)
from polyc.nests.nest import Outer, has_loops, values
from polyc.nests.strides import iterations
from polyc.nests.sums import streams
from polyc.nests.tiling import tile_members
from polyc.passes.loops.vectorize import sink
from polyc.poly import among, empty_map, names, sets
from polyc.records import dataclass, replace

STAGE = "interleave"


def interleave_rows(program: Program) -> Program:
    """Run the recurrences of neighbouring rows at once, the loop over the rows innermost.

    rewrite:  for i for j A[i][j] = B[i][j] / (c * A[i][j - 1] + d);
              -> for it by 8 for j for i in it A[i][j] = B[i][j] / (c * A[i][j - 1] + d);
    tree:     band(i, j) - S  ->  band(i by 8, j) - band(i) - S
    math:     i is coincident: given the loops around it, it carries no dependence, so that it may be compared last
    requires: the loop j carries a dependence; i goes from row to row in most of what is touched
    ensures:  the same order in each row
    then:     `stagger_rows`, for rows that wait for each other
    source:   ours; unroll-and-jam for latency (Callahan, Carr, Kennedy 1990), as `jam.py` does it for sums
    """
    if not streams(program.options):
        return program
    inner = _Interleaver(program)
    child = inner.at(program.tree.child, ())
    return stagger_rows(replace(inner.program, tree=Domain(program.tree.domain, child)) if inner.made else program)


@dataclass(slots=True)
class _Interleaver:
    program: Program
    made: bool = False

    def at(self, node: Node, above: tuple[Member, ...], added: isl.UnionMap | None = None) -> Node:
        match node:
            case Sequence(children=steps):
                return Sequence(tuple(replace(s, child=self.at(s.child, above, added)) for s in steps))
            case Mark(kind="tiles"):
                return node  # tiles over time have an order of their own
            case Extension(relation=relation):
                return replace(node, child=self.at(node.child, above, relation))
            case Mark():
                return replace(node, child=self.at(node.child, above, added))
            case Band():
                rows = rows_of(self.program, node, isinstance(node.child, Sequence))
                if rows is not None and not _keeps_privately(node, rows, self.program):
                    return self.interleaved(node, rows, _is_tiled(rows, above, added))
                return replace(node, child=self.at(node.child, above + node.members, added))
            case _:
                return node

    def interleaved(self, band: Band, rows: Rows, in_tile: bool) -> Node:
        below = sink(replace(rows.along, role=Role.POINT), band.child, waits_for_nothing)
        if in_tile:
            members = tuple(m for m in band.members if m is not rows.along)
        else:
            (strip,) = tile_members((rows.along,), (rows.count,))
            members = tuple(strip if m is rows.along else m for m in band.members)
        statements = tuple(names(rows.along.schedule.domain()))
        message = (
            f"{', '.join(statements)}: {rows.count} iterations of {rows.along.name} at once, since an element waits "
            f"{rows.latency:g} cycles for the one before it, and takes {rows.work:.1f}"
        )
        data = {"rows": rows.count, "latency_cycles": rows.latency, "work_cycles": round(rows.work, 2)}
        self.program = self.program.remark("interleaved", STAGE, message, statements, **data)
        self.made = True
        return replace(band, members=members, child=below) if members else below


def _is_tiled(rows: Rows, above: tuple[Member, ...], added: isl.UnionMap | None) -> bool:
    """Whether a tile around has few rows already; `added`: what an extension runs in its tiles."""
    most = 2 * rows.count
    instances = rows.along.schedule.domain()
    if added is None or added.intersect_range(instances).is_empty():
        tiles = [m for m in above if m.role is Role.TILE and m.name == rows.along.name]
        return rows.along.role is Role.POINT and any(m.size <= most for m in tiles)
    in_tile = added.intersect_range(instances).apply_range(values((rows.along,), instances))
    if not in_tile.range().is_empty() and len(sets(in_tile.range())) == 1:
        found = isl.Map.from_union_map(in_tile)
        extent = found.dim_max(0).sub(found.dim_min(0)).max_val()
        return bool(extent.is_int()) and int(extent.to_python()) < most
    return False


def _keeps_privately(band: Band, rows: Rows, program: Program) -> bool:
    """Whether the nest keeps a private value longer than one iteration of its innermost loops, so that rows that run
    at once would need one each."""
    instances = rows.along.schedule.domain()
    own = [program.statements[name] for name in names(instances)]
    written = {a.array for s in own for a in s.accesses if a.kind is not AccessKind.READ}
    for array in written & program.scop.privatizable:
        flow = among(program.dependences.flow_by_array.get(array, empty_map(instances)), instances)
        for members in _paths(band):
            ran = members[-1].schedule.domain()
            flow = flow.subtract(Outer(members).same_iteration(among(flow, ran)))
        if program.scop.arrays[array].rank or not flow.is_empty():
            return True
    return False


def _paths(node: Node, above: tuple[Member, ...] = ()) -> Iterator[tuple[Member, ...]]:
    """The loops around each piece of code without any, from a node on."""
    here = (*above, *node.members) if isinstance(node, Band) else above
    below = [child for child in child_nodes(node) if has_loops(child)]
    if not below and here:
        yield here
    for child in below:
        yield from _paths(child, here)


__all__ = ["interleave_rows"]


# --- rows that wait for the row before --------------------------------------------------------------------------------

BEHIND = (1, 2, 3)
"""Columns by which a row may be behind the one before."""
SHORT = 4
"""Times as many columns as rows at once, below which the beginnings and the ends of the rows take too long."""


def stagger_rows(program: Program) -> Program:
    """Run neighbouring rows at once that wait for each other, each some columns behind the one before.

    rewrite:  for j for i A[j][i] = f(A[j][i - 1], A[j - 1][i], A[j][i + 1]) / c;
              -> for jt by 8 for w for j in jt A[j][w - j] = f(A[j][w - j - 1], A[j - 1][w - j], A[j][w - j + 1]) / c;
    tree:     band(j) - band(i) - S  ->  band(j by 8) - band(i + k j) - band(j) - S; without tiles below those of a few
              rows
    math:     with D the dependences within one iteration of the loops around, of different (j, i): i + k j increases
              along all of D, and j, which was the outer loop, never decreases. So the tile of j, and i + k j inside of
              it, are in order, and j may be compared last
    requires: an element waits longer for the one before than a core computes it; what is private lives in one (j, i)
    ensures:  each instance runs once, on the same values
    source:   Wolf and Lam, PLDI 1991 (skewing, wavefronts), for latency; as above where rows do not wait
    """
    stagger = _Stagger(program)
    child = stagger.at(program.tree.child, ())
    return replace(stagger.program, tree=Domain(program.tree.domain, child)) if stagger.made else program


@dataclass(slots=True)
class _Stagger:
    program: Program
    made: bool = False
    timed: bool = False
    """Whether this is below tiles over time."""

    def at(self, node: Node, above: tuple[Member, ...]) -> Node:
        match node:
            case Sequence(children=steps):
                return Sequence(tuple(replace(s, child=self.at(s.child, above)) for s in steps))
            case Band(members=(*outer, rows), child=Band() as inner) if len(inner.members) == 1:
                found = self.staggered(tuple(outer), rows, inner, above)
                return found or replace(node, child=self.at(inner, above + node.members))
            case Band(members=(*outer, rows, _)) if not has_loops(node.child):
                inner = replace(node, members=node.members[-1:])
                return self.staggered(tuple(outer), rows, inner, above) or node
            case Band(members=members):
                return replace(node, child=self.at(node.child, above + members))
            case Mark(kind="tiles", region=region):
                self.timed = True
                child = self.at(node.child, above)
                self.timed = False
                assert region is not None
                assert isinstance(child, Band)
                return replace(node, child=child, region=_stripped(region, child.members))
            case Mark():
                return replace(node, child=self.at(node.child, above))
            case _:
                return node  # also what tiles compute for themselves

    def staggered(self, outer: tuple[Member, ...], rows: Member, inner: Band, above: tuple[Member, ...]) -> Node | None:
        """Some loops, the one over the rows and the one along them; None where they stay as they are."""
        along, above = inner.members[0], (*above, *outer)
        if rows.coincident or along.coincident or isinstance(inner.child, Extension | Mark):
            return None
        tiled = any(m.role is Role.TILE for m in above) and not self.timed  # as blocks of triangular solves are
        if tiled or any(m.role not in (Role.LOOP, Role.POINT) for m in (rows, along)):
            return None
        chain = chain_of(self.program, inner, (*above, rows))
        if chain is None or not self.is_long(rows, along, chain) or not self.lives_in_one(rows, along, above):
            return None
        behind = next((k for k in BEHIND if self.is_in_order(rows, along, k, above)), None)
        if behind is None:
            return None
        wave = replace(along, schedule=_wave(rows, along, behind))
        below = Band((wave,), False, Band((replace(rows, role=Role.POINT),), False, inner.child))
        self.tell(rows, behind, chain)
        strips = () if self.few_in_tile(rows, above) else tile_members((rows,), (chain.rows,))
        return Band((*outer, *strips), False, below) if outer or strips else below

    def is_long(self, rows: Member, along: Member, chain: Chain) -> bool:
        """Whether rows and columns are not known to be few."""
        pairs = ((rows, chain.rows), (along, SHORT * chain.rows))
        counts = ((iterations(member, self.program), least) for member, least in pairs)
        return all(count is None or count >= least for count, least in counts)

    def lives_in_one(self, rows: Member, along: Member, above: tuple[Member, ...]) -> bool:
        """Whether each private value that the loops make is read in the iteration that makes it alone."""
        program, instances = self.program, along.schedule.domain()
        own = [program.statements[name] for name in names(instances)]
        written = {a.array for s in own for a in s.accesses if a.kind is not AccessKind.READ}
        flows = program.dependences.flow_by_array
        for array in written & program.scop.privatizable:
            flow = flows.get(array, empty_map(instances))
            flow = flow.intersect_domain(instances).union(flow.intersect_range(instances))
            if not flow.is_subset(Outer((*above, rows, along)).same_iteration(among(flow, instances))):
                return False
        return True

    def is_in_order(self, rows: Member, along: Member, behind: int, above: tuple[Member, ...]) -> bool:
        """Whether all dependences between iterations lead to a later wave."""
        dependences = self.program.dependences
        here = among(dependences.flow.union(dependences.false), along.schedule.domain())
        here = Outer(above).same_iteration(here) if above else here
        here = here.subtract(Outer((rows, along)).same_iteration(here))
        order = isl.UnionMap.from_union_pw_aff(_wave(rows, along, behind))
        return bool(here.is_subset(order.lex_lt_union_map(order)))

    def few_in_tile(self, rows: Member, above: tuple[Member, ...]) -> bool:
        """Whether an iteration of the loops around has so few rows that all of them may run at once."""
        instances = rows.schedule.domain()
        if rows.role is not Role.POINT or not any(m.role is Role.TILE for m in above):
            return False
        found = isl.Map.from_union_map(values(above, instances).reverse().apply_range(values((rows,), instances)))
        extent = found.dim_max(0).sub(found.dim_min(0)).floor().max_val()
        return bool(extent.is_int()) and LEAST // 2 <= int(extent.to_python()) + 1 <= MOST

    def tell(self, rows: Member, behind: int, chain: Chain) -> None:
        statements = tuple(names(rows.schedule.domain()))
        message = (
            f"{', '.join(statements)}: {chain.rows} iterations of {rows.name} at once, each {behind} behind the one "
            f"before, since an element waits {chain.latency:g} cycles for others, and takes {chain.work:.1f}"
        )
        data = {"rows": chain.rows, "behind": behind, "latency_cycles": chain.latency}
        self.program = self.program.remark("interleaved", STAGE, message, statements, **data)
        self.made = True


def _stripped(region: isl.Set, members: tuple[Member, ...]) -> isl.Set:
    """The values of the loops of a band over tiles over time, of which the last one may be over strips of rows now, or
    gone."""
    last = len(members) - 1
    if region.dim(isl.dim_type.set) > len(members):
        return region.project_out(isl.dim_type.set, last + 1, 1)
    if members[last].role is not Role.TILE:
        return region
    values = isl.MultiAff.identity_on_domain_space(region.get_space())
    by = isl.Val.int_from_si(region.get_ctx(), members[last].size)
    corner = values.get_aff(last).scale_down_val(by).floor().scale_val(by)
    return region.apply(isl.Map.from_multi_aff(values.set_aff(last, corner)))


def _wave(rows: Member, along: Member, behind: int) -> isl.UnionPwAff:
    factor = isl.Val.int_from_si(along.schedule.get_ctx(), behind)
    return along.schedule.add(rows.schedule.scale_val(factor))


__all__ = ["stagger_rows"]
