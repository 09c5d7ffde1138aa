"""One index for several short loops of an elementwise nest on a GPU, so that warps are full."""

from __future__ import annotations

from math import prod

import islpy as isl

from polyc.machine import load_gpu
from polyc.model.program import Group, Program
from polyc.model.tree import BLOCK_AXES, GLOBAL_AXES, LINEAR, Band, Domain, Mark, Member, Node, Role, Sequence
from polyc.nests.boxes import extents_of_box
from polyc.nests.nest import values
from polyc.nests.points import is_elementwise, points_of, statements_of
from polyc.nests.strides import gain_of, subscript_from_right
from polyc.records import dataclass, replace

STAGE = "coalesce"
LONG_ROW = 256
"""Iterations of the innermost loop from which on a part of a warp at its end does not matter."""


def coalesce_loops(program: Program) -> Program:
    """Deal the iterations of several loops out to threads by one index, where a row of the innermost is short.

    rewrite:  for i < n, j < 7, k < 9 in blocks of 32 x 8 threads
              -> for c < 63 n: i = c / 63, j = c / 9 % 7, k = c % 9 in blocks of 256 threads
    tree:     mark(group) - band(tile: it, jt, kt) - band(i, j, k) …
              -> mark(group) - band(global.x: i, linear: j, k) …
    math:     the values of the band's parallel loops are one box for all statements below, constant but for the
              outermost loop that is counted
    requires: no iteration has data in common with another one, so that a tile has nothing to share
    source:   Zhao et al. 2024, Section 7.2.1 ("loop coalescing"); consecutive threads take consecutive cells, across
              the ends of rows
    """
    coalescer = _Coalescer(program)
    child = coalescer.at(program.tree.child, program.tree.domain)
    return replace(coalescer.program, tree=Domain(program.tree.domain, child))


@dataclass(frozen=True, slots=True)
class _Plan:
    """How the parallel loops of a band are dealt out."""

    outer: tuple[int, ...]
    """Positions of loops for y and z, or of one iteration."""
    counted: tuple[int, ...]
    """Positions of the loops that share an index, the one along consecutive memory last."""
    extents: tuple[int | None, ...]
    """Of each loop; None where the sizes decide."""


class _Coalescer:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.warp = load_gpu(program.options.machine).warp_size

    def at(self, node: Node, reaching: isl.UnionSet) -> Node:
        """The subtree with one index for the loops of its nests that gain by it."""
        match node:
            case Mark(kind="group", child=Band(members=tile) as tiles) if tile[0].role is Role.TILE:
                points, kept = self.points(points_of(tiles))
                changed = None if points is None else self.changed(points, reaching)
                if changed is None or points is None:
                    return node
                self.program = without_tiles(self.program, statements_of(points), kept)
                return replace(node, child=changed, sizes=(), text=f"{', '.join(statements_of(points))}, as one row")
            case Band() as band if band.coincident_prefix:
                return (None if band.members[0].role is Role.TILE else self.changed(band, reaching)) or band
            case Sequence(children=steps):
                return Sequence(tuple(replace(s, child=self.at(s.child, reaching.intersect(s.filter))) for s in steps))
            case Band():
                return replace(node, child=self.at(node.child, reaching))
            case _:
                return node

    def points(self, node: Node) -> tuple[Band | None, tuple[str, ...]]:
        """The band of a tile's points, and the buffers around it that hold only what the tile makes itself: without
        tiles, each is a variable of one iteration (`contract`), since no iteration has data in common with another."""
        match node:
            case Band():
                return node, ()
            case Mark(kind="allocate", names=names, child=Band() as points) if not (
                set(statements_of(points)) & self.program.copies
            ):
                return points, names
            case _:
                return None, ()

    def changed(self, band: Band, reaching: isl.UnionSet) -> Band | None:
        """The band with its parallel loops dealt out by one index; None where that gains nothing."""
        if band.coincident_prefix < 2:
            return None
        members = band.members[: band.coincident_prefix]
        instances = reaching.intersect(members[0].schedule.domain())
        plan = self.plan(members, instances)
        if plan is None or not is_elementwise(self.program, members, instances, band.child):
            return None
        axes = dict(zip([k for k in plan.outer if plan.extents[k] != 1], BLOCK_AXES[1:], strict=False))
        axes |= dict.fromkeys(plan.counted, LINEAR) | {plan.counted[0]: GLOBAL_AXES[0]}
        dealt = tuple(
            replace(members[k], role=Role.LOOP, mapped=axes.get(k, ""), parallel=k in axes)
            for k in (*plan.outer, *plan.counted)
        )
        rest = tuple(replace(m, role=Role.LOOP) for m in band.members[len(members) :])
        self.tell(band, members, plan)
        return replace(band, members=(*dealt, *rest))

    def plan(self, members: tuple[Member, ...], instances: isl.UnionSet) -> _Plan | None:
        """Which loops share an index: the innermost ones, as far as their extents are constant, and one more."""
        extents = extents_of_box(values(members, instances), self.program.scop.known)
        if extents is None:
            return None
        *slower, fastest = _in_memory_order(members, self.program)
        row = extents[fastest]
        if row is None or row == 1 or row >= LONG_ROW or row % self.warp == 0:
            return None
        counted, outer = [fastest], list[int]()
        for k in reversed(slower):
            if extents[k] == 1 or extents[counted[0]] is None:
                outer.insert(0, k)
            else:
                counted.insert(0, k)
        several = [k for k in outer if extents[k] != 1]
        if len(counted) < 2 or len(several) > len(BLOCK_AXES[1:3]):
            return None
        return _Plan(tuple(outer), tuple(counted), extents)

    def tell(self, band: Band, members: tuple[Member, ...], plan: _Plan) -> None:
        names = statements_of(band)
        known = [extent for k in plan.counted if (extent := plan.extents[k]) is not None]
        row = plan.extents[plan.counted[-1]]
        self.program = self.program.remark(
            "coalesced",
            STAGE,
            f"the loops {', '.join(members[k].name for k in plan.counted)} of {', '.join(names)} are dealt out to "
            f"threads by one index, since rows of {row} do not fill warps of {self.warp}; nothing is shared in a tile",
            names,
            row=row,
            counted=prod(known),
        )


def _in_memory_order(members: tuple[Member, ...], program: Program) -> list[int]:
    """The positions of the loops, the one that runs along consecutive memory last, before it the next ones."""
    far = [subscript_from_right(member, program) for member in members]
    gains = [gain_of(member, program) for member in members]
    fastest = max(range(len(members)), key=lambda k: (gains[k], k))
    return [*sorted((k for k in range(len(members)) if k != fastest), key=lambda k: -far[k]), fastest]


def without_tiles(program: Program, names: tuple[str, ...], kept: tuple[str, ...]) -> Program:
    """The program whose group of these statements says that it has no tiles, and keeps no buffers in them."""

    def changed(group: Group) -> Group:
        if not set(names) & set(group.statements):
            return group
        return replace(group, tile_sizes=(), fused=(), extensions=(), footprints=tuple)

    buffers = {key: buffer for key, buffer in program.buffers.items() if key not in kept}
    return replace(program, groups=tuple(changed(group) for group in program.groups), buffers=buffers)
