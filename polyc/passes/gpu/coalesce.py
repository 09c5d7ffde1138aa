"""One index for the loops of an elementwise nest on a GPU, so that warps are full and threads move 16 bytes at once."""

from __future__ import annotations

from math import prod

import islpy as isl

from polyc.cost.gpu_sizes import VECTOR_BYTES
from polyc.machine import load_gpu
from polyc.model import ctree as c
from polyc.model.program import Group, Program
from polyc.model.tree import BLOCK_AXES, GLOBAL_AXES, LINEAR, Band, Domain, Mark, Member, Node, Role, Sequence, walk
from polyc.nests.boxes import extents_of_box
from polyc.nests.nest import values
from polyc.nests.points import is_elementwise, points_of, statements_of
from polyc.nests.strides import axes_of, gain_of, iterations, subscript_from_right
from polyc.poly import constant_of
from polyc.records import dataclass, replace

STAGE = "coalesce"
LONG_ROW = 256
"""Iterations of the innermost loop from which on a part of a warp at its end does not matter."""
MOST_AT_ONCE = 8
"""Iterations that a thread has so that it moves 16 bytes at once, at most."""
LEAST_THREADS = 256
"""Of each multiprocessor: with fewer, more iterations for each thread would leave some without work."""


def coalesce_loops(program: Program) -> Program:
    """Deal the iterations of several loops out to threads by one index, where a row of the innermost is short, or
    where each thread can have neighbours in memory that it loads and stores at once.

    rewrite:  for i < n, j < 7, k < 9 in blocks of 32 x 8 threads
              -> for c < 63 n: i = c / 63, j = c / 9 % 7, k = c % 9 in blocks of 256 threads
              for i < n, j < 64 of floats -> for c < 16 n: i = c / 16, q = c % 16; for 4 q <= j < 4 q + 4
    tree:     mark(group) - band(tile: it, jt, kt) - band(i, j, k) …
              -> mark(group) - band(global.x: i, linear: j, k) … or band(global.x: i, linear: floor(j / 4)) - band(j) …
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
    at_once: int = 1
    """Iterations of the last one of them that a thread has, one after the other."""


class _Coalescer:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.machine = load_gpu(program.options.machine)
        self.warp = self.machine.warp_size

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
        members = band.members[: band.coincident_prefix]
        if not members:
            return None
        instances = reaching.intersect(members[0].schedule.domain())
        plan = self.plan(band, members, instances)
        if plan is None or not is_elementwise(self.program, members, instances, band.child):
            return None
        if self.has_rows(band.child, members[plan.counted[-1]]):
            return None  # `staging` gives each row to all threads of a block
        axes = dict(zip([k for k in plan.outer if plan.extents[k] != 1], BLOCK_AXES[1:], strict=False))
        axes |= dict.fromkeys(plan.counted, LINEAR) | {plan.counted[0]: GLOBAL_AXES[0]}
        dealt = tuple(
            replace(members[k], role=Role.LOOP, mapped=axes.get(k, ""), parallel=k in axes)
            for k in (*plan.outer, *plan.counted)
        )
        rest = tuple(replace(m, role=Role.LOOP) for m in band.members[len(members) :])
        self.tell(band, members, plan)
        if plan.at_once == 1:
            return replace(band, members=(*dealt, *rest))
        whole = members[plan.counted[-1]]
        count = isl.Val.int_from_si(instances.get_ctx(), plan.at_once)
        each = replace(whole, role=Role.LOOP, unroll=plan.at_once)
        part = replace(dealt[-1], schedule=whole.schedule.scale_down_val(count).floor())
        return replace(band, members=(*dealt[:-1], part), child=Band((each,), False, band.child))

    def plan(self, band: Band, members: tuple[Member, ...], instances: isl.UnionSet) -> _Plan | None:
        """Which loops share an index: the innermost ones, as far as their extents are constant, and one more."""
        extents = extents_of_box(values(members, instances), self.program.scop.known)
        if extents is None:
            return None
        *slower, fastest = _in_memory_order(members, self.program)
        row = extents[fastest]
        at_once = self.at_once(band, members, fastest, instances, extents)
        if row is None or row == 1 or (at_once == 1 and (row >= LONG_ROW or row % self.warp == 0)):
            return None
        counted, outer = [fastest], list[int]()
        for k in reversed(slower):
            if extents[k] == 1 or extents[counted[0]] is None:
                outer.insert(0, k)
            else:
                counted.insert(0, k)
        several = [k for k in outer if extents[k] != 1]
        if (len(counted) < 2 and at_once == 1) or len(several) > len(BLOCK_AXES[1:3]):
            return None
        return _Plan(tuple(outer), tuple(counted), extents, at_once)

    def at_once(
        self,
        band: Band,
        members: tuple[Member, ...],
        fastest: int,
        instances: isl.UnionSet,
        extents: tuple[int | None, ...],
    ) -> int:
        """How many neighbours along a loop one thread has, so that it moves 16 bytes of each array at once: rows begin
        at multiples of that, and enough threads are left. 1 where that gains nothing."""
        row, member = extents[fastest], members[fastest]
        if row is None or len(members) < len(band.members) or any(isinstance(n, Band) for n in walk(band.child)):
            return 1
        if gain_of(member, self.program) <= 0:
            return 1
        bodies = [self.program.statements[name].body for name in statements_of(band)]
        if any(map(c.has_loops, bodies)):
            return 1  # memory is not what it waits for
        arrays = {a.array for name in statements_of(band) for a in self.program.statements[name].accesses}
        sizes = [self.program.scop.arrays[a].element.size_bytes for a in arrays if self.program.scop.arrays[a].rank]
        count = min(MOST_AT_ONCE, VECTOR_BYTES // min(sizes, default=VECTOR_BYTES))
        starts = self.start_of(member, instances)
        if count < 2 or starts is None or starts % count or row % count:
            return 1
        known = [extent for extent in extents if extent is not None]
        threads = self.machine.multiprocessors * LEAST_THREADS
        return 1 if len(known) == len(extents) and prod(known) < count * threads else count

    def has_rows(self, below: Node, fastest: Member) -> bool:
        """Whether long loops inside run along memory, and the fastest one of those outside does not."""
        inner = [node.members[-1] for node in walk(below) if isinstance(node, Band)]
        long = [one for one in inner if (iterations(one, self.program) or LONG_ROW) > self.warp and one.coincident]
        most = max(0.0, gain_of(fastest, self.program))
        return any(gain_of(one, self.program) > most for one in long)

    def start_of(self, member: Member, instances: isl.UnionSet) -> int | None:
        """The loop's first value, if it is a constant."""
        reached = isl.Set.from_union_set(values((member,), instances).range())
        return constant_of(reached.dim_min(0).gist(self.program.scop.known.params()))

    def tell(self, band: Band, members: tuple[Member, ...], plan: _Plan) -> None:
        names = statements_of(band)
        known = [extent for k in plan.counted if (extent := plan.extents[k]) is not None]
        row = plan.extents[plan.counted[-1]]
        loops = ", ".join(members[k].name for k in plan.counted)
        dealt = f"the loops {loops} of {', '.join(names)} are" if len(plan.counted) > 1 else f"the loop {loops} is"
        why = f"since rows of {row} do not fill warps of {self.warp}"
        if plan.at_once > 1:
            why = f"{plan.at_once} neighbours along {members[plan.counted[-1]].name} to each, which it moves at once"
        self.program = self.program.remark(
            "coalesced",
            STAGE,
            f"{dealt} dealt out to threads by one index, {why}; nothing is shared in a tile",
            names,
            row=row,
            counted=prod(known),
            at_once=plan.at_once,
        )


def _in_memory_order(members: tuple[Member, ...], program: Program) -> list[int]:
    """The positions of the loops, the one that runs along consecutive memory last, before it the next ones."""
    far = [subscript_from_right(member, program) for member in members]
    fastest, *_ = axes_of(members, program)
    return [*sorted((k for k in range(len(members)) if k != fastest), key=lambda k: -far[k]), fastest]


def without_tiles(program: Program, names: tuple[str, ...], kept: tuple[str, ...]) -> Program:
    """The program whose group of these statements says that it has no tiles, and keeps no buffers in them."""

    def changed(group: Group) -> Group:
        if not set(names) & set(group.statements):
            return group
        return replace(group, tile_sizes=(), fused=(), extensions=(), footprints=tuple)

    buffers = {key: buffer for key, buffer in program.buffers.items() if key not in kept}
    return replace(program, groups=tuple(changed(group) for group in program.groups), buffers=buffers)
