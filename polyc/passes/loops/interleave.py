"""Recurrences along the rows of an array: several rows at once, so that no element waits for the one before it."""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl

from polyc.cost.recurrences import Rows, rows_of, waits_for_nothing
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
from polyc.nests.sums import streams
from polyc.nests.tiling import tile_members
from polyc.passes.loops.stagger import stagger_rows
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
    then:     `stagger.py`, for rows that wait for each other
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
