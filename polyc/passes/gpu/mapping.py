"""Map loops to a GPU: which nests are kernels, which loops are dealt out to blocks and threads."""

from __future__ import annotations

from itertools import groupby
from math import prod

import islpy as isl

from polyc.cost.gpu_tiles import default_block
from polyc.machine import GENERIC, load_gpu
from polyc.model.program import Program
from polyc.model.tree import (
    ALL_THREADS,
    BLOCK_AXES,
    FOLDED,
    GLOBAL_AXES,
    LINEAR,
    THREAD_AXES,
    Band,
    Domain,
    Extension,
    Filter,
    Mark,
    Member,
    Node,
    Role,
    Sequence,
    deals_to_threads,
    partial_schedule,
    walk,
)
from polyc.nests.boxes import extents_in_each
from polyc.nests.points import SEVERAL_TIMES, is_elementwise, points_of
from polyc.nests.strides import axes_of
from polyc.passes.gpu.map_reductions import Reductions
from polyc.poly import greatest_of, maps, set_name, sets
from polyc.records import dataclass, replace

STAGE = "mapping"
MANY = 64
"""Iterations of a loop from which on it has work for as many threads as a block has along an axis."""


def map_to_kernels(program: Program) -> Program:
    """Make each outermost nest with a parallel loop a kernel: tiles to blocks, points to threads.

    tree:     band(tile: it, jt) - sequence(band(i, j) …, band(k) …)
              -> mark(kernel) - band(block.y: it, block.x: jt) -
                 sequence(band(thread.y: i, thread.x: j) …, mark(once) …)
    requires: coincidence as isl or a pass that proved it set it
    ensures:  every loop above a kernel is sequential and runs on the host; on each path below one, the iterations of
              mapped loops are dealt out to all blocks and all threads of a block, or to one (`once`)
    source:   Zhao et al. 2024, Section 6.2; each member's points go to the same threads, strided, as Hidet's
              `repeat * spatial` task mapping (Ding et al. 2023, Section 4)
    """
    mapper = _Mapper(program)
    child = mapper.host(program.tree.child)
    return replace(mapper.program, tree=Domain(program.tree.domain, child))


@dataclass(frozen=True, slots=True)
class _Block:
    """Where we are below a kernel."""

    wide: bool
    """Its threads are a square, not a row."""
    tiles: tuple[isl.UnionMap, ...]
    """`{ [tile] -> S[i] }`: what a block runs, the extension's instances apart."""
    sizes: tuple[int, ...] = ()
    """Its threads along x, y; () where a tile is not shared."""
    copied: isl.UnionMap | None = None
    """`{ [outer] -> copy[x] }`: what the steps below run in each iteration of the loops around them; None where no
    extension says it."""

    def fixes(self, member: Member) -> bool:
        """Whether the loop has one iteration in each tile."""
        value = isl.UnionMap.from_union_pw_aff(member.schedule)
        return all(tile.apply_range(value).is_single_valued() for tile in self.tiles)

    def iterations(self, member: Member) -> int:
        """At most so many iterations the loop has in a tile; MANY where nothing bounds them, or that is too much to
        find out."""
        value = isl.UnionMap.from_union_pw_aff(member.schedule)
        most = 1
        for reached in (m for tile in self.tiles for m in maps(tile.apply_range(value))):
            distance = greatest_of(reached.reverse().apply_range(reached).deltas(), 0)
            most = max(most, distance.to_python() + 1 if distance.is_int() else MANY)
        return min(most, MANY)


class _Mapper:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.machine = load_gpu(program.options.machine)
        self.reductions = Reductions(program, self.machine)

    # --- on the host ---------------------------------------------------------------------------------------------

    def host(self, node: Node, looped: bool = False) -> Node:
        """The subtree with its kernels marked; loops that stay outside of them run on the host (`looped`: there are
        some above)."""
        if not _has_work_for_many(node):
            return Mark("kernel", node, sizes=(1,))
        match node:
            case Sequence(children=steps):
                return self.in_turn(steps, looped)
            case Mark(kind="reduce"):
                return self.reductions.kernel(node, looped)
            case Mark(kind="group", child=Band() as band) if band.coincident_prefix:
                kernel = self.kernel(band, node.sizes)
                return replace(kernel, child=replace(node, child=kernel.child, sizes=()))
            case Mark() | Extension():
                return replace(node, child=self.host(node.child, looped))
            case Band() as band:
                outer, inner = _split(band)
                if inner is None:
                    return replace(band, child=self.host(band.child, True))
                kernel = self.kernel(inner)
                return replace(band, members=outer, child=kernel) if outer else kernel
        raise AssertionError(node)

    def in_turn(self, steps: tuple[Filter, ...], looped: bool) -> Node:
        """The steps of a sequence; neighbours without a parallel loop share a kernel of one thread, or of one block
        where short reductions are among them."""
        found: list[Filter] = []
        for kind, group in groupby(steps, key=lambda s: self.kind(s.child, looped)):
            run = tuple(group)
            if kind == "many" or len(run) == 1:
                found += [replace(s, child=self.host(s.child, looped)) for s in run]
                continue
            instances = run[0].filter
            for step in run[1:]:
                instances = instances.union(step.filter)
            together = Sequence(run)
            if _has_work_for_many(together):
                found.append(Filter(instances, self.one_block(together)))
            else:
                found.append(Filter(instances, self.host(together)))
        return Sequence(tuple(found))

    def kind(self, node: Node, looped: bool) -> str:
        """`many` for what has work for many blocks, `few` for what one block or one thread does."""
        if _has_coincident(node):
            return "many"
        marks = [n for n in walk(node) if isinstance(n, Mark) and n.kind == "reduce"]
        return "many" if any(not self.reductions.is_small(m, looped) for m in marks) else "few"

    def one_block(self, node: Node) -> Mark:
        """What has no parallel loop but reductions, as the kernel of one block."""
        sizes = default_block(self.machine, False, self.program.options.block)
        return Mark("kernel", self.block(node, _Block(False, ())), sizes=sizes)

    def kernel(self, band: Band, block: tuple[int, ...] = ()) -> Mark:
        """A nest whose outermost loop is parallel; `block` is what its tile was made for."""
        count = band.coincident_prefix
        by_one_index = any(member.mapped for member in band.members)
        if not by_one_index and any(isinstance(n, Mark) and n.kind == "reduce" for n in walk(band.child)):
            return self.reductions.columns(band)
        chosen = next((n.sizes for n in walk(band) if isinstance(n, Mark) and n.kind == "threads"), None)
        square = count > 1 and not by_one_index
        sizes = chosen or block or default_block(self.machine, square, self.program.options.block)
        wide = len(sizes) > 1
        if by_one_index:
            inside = band
            if not any(deals_to_threads(member) for member in band.members):
                inside = replace(band, child=self.block(band.child, _Block(wide, ())))
        elif band.members[0].role is Role.TILE:
            members = _mapped(band.members, tuple(reversed(range(count)))[: len(BLOCK_AXES)], BLOCK_AXES)
            tiles = isl.UnionMap.from_multi_union_pw_aff(partial_schedule(members)).reverse()
            inside = replace(band, members=members, child=self.block(band.child, _Block(wide, (tiles,), sizes)))
        else:
            inside = replace(
                band, members=_mapped(band.members, axes_of(band.members[:count], self.program), GLOBAL_AXES)
            )
        if self.program.options.grid is not None and any(m.mapped in FOLDED for m in inside.members):
            self.round_grid(band)
        return Mark("kernel", inside, sizes=sizes, blocks=self.most_blocks(band, prod(sizes)))

    def most_blocks(self, band: Band, threads: int) -> int:
        """What the machine holds several times over, for a nest whose tiles share nothing; 0 for no bound.

        More blocks would only start later, each with its own preparations. Where no machine is named, nothing is
        known; where tiles differ in their work, the GPU deals blocks out better than a loop does.
        """
        if self.program.options.machine == GENERIC:
            return 0
        points = points_of(band)
        members = points.members[: points.coincident_prefix] if isinstance(points, Band) else ()
        if not members or not is_elementwise(self.program, members, self.program.tree.domain, band.child):
            return 0
        resident = min(self.machine.blocks_per_multiprocessor, self.machine.threads_per_multiprocessor // threads)
        return self.machine.multiprocessors * max(resident, 1) * SEVERAL_TIMES

    def round_grid(self, band: Band) -> None:
        """Say that a kernel cannot have the blocks along x that the user wants."""
        names = tuple(set_name(s) for s in sets(band.members[0].schedule.domain()))
        assert self.program.options.grid is not None
        self.program = self.program.remark(
            "grid-rounded",
            STAGE,
            f"the kernel of {', '.join(names)} has more than three parallel loops, of which several share x: its "
            f"{self.program.options.grid[0]} blocks along x are rounded to a multiple of what the inner ones need",
            names,
            grid=list(self.program.options.grid),
        )

    # --- in a block ----------------------------------------------------------------------------------------------

    def block(self, node: Node, block: _Block) -> Node:
        """What all threads of a block run together."""
        if not _has_work_for_many(node):
            return Mark("once", node)
        match node:
            case Mark(kind="reduce"):
                return self.reductions.in_block(node)
            case Sequence(children=steps):
                return Sequence(tuple(replace(s, child=self.block(s.child, block)) for s in steps))
            case Extension(relation=relation):
                inside = replace(block, tiles=(*block.tiles, relation), copied=relation)
                return replace(node, child=self.block(node.child, inside))
            case Mark(kind="threads"):
                return self.block(node.child, block)
            case Mark():
                return replace(node, child=self.block(node.child, block))
            case Band(members=members) if any(m.mapped for m in members):
                return node
            case Band() as band:
                outer, inner = _split(band)
                if inner is None:
                    return replace(band, child=self.block(band.child, replace(block, copied=None)))
                if outer:
                    block = replace(block, copied=None)
                dealt = self.threads(inner, block)
                return replace(band, members=outer, child=dealt) if outer else dealt
        raise AssertionError(node)

    def threads(self, band: Band, block: _Block) -> Band:
        """A band whose points are dealt out: two of its parallel loops, or one over all threads."""
        parallel = band.members[: band.coincident_prefix]
        moving = [k for k, member in enumerate(parallel) if not block.fixes(member)] or [0]
        first, *others = (moving[k] for k in axes_of(tuple(parallel[k] for k in moving), self.program))
        if block.wide and len(moving) > 2:  # the longest of the others keeps the most threads busy
            others = sorted((k for k in reversed(moving) if k != first), key=lambda k: -block.iterations(parallel[k]))
        positions = (first, *others[:1])
        axes = THREAD_AXES if block.wide and len(positions) > 1 else (ALL_THREADS,)
        widths = block.sizes if len(axes) > 1 else (prod(block.sizes),)
        by_one = self.by_one_index(band, block, dict(zip(positions, widths, strict=False)))
        return by_one or replace(band, members=_mapped(band.members, positions, axes))

    def by_one_index(self, band: Band, block: _Block, widths: dict[int, int]) -> Band | None:
        """A band that fills a box of constant size, all its loops dealt out by the index of the thread in its block;
        None where an axis for some of them leaves no thread without work.

        widths: threads along these axes, by the position of the loop, the one along consecutive memory first

        rewrite:  for i = ty; j; k = tx  (64 x 3 x 3 by 8 x 16 threads) -> for c = 16 * ty + tx: i = c / 9, j, k = c % 3
        math:     repeat(ceil(e / t)) * spatial(t) over the e iterations in the order of memory
        source:   Ding et al. 2023 (Hidet), Section 4.1: task mappings
        """
        parallel = band.members[: band.coincident_prefix]
        if block.copied is None or len(parallel) < len(band.members) or not band.permutable:
            return None
        value = isl.UnionMap.from_multi_union_pw_aff(partial_schedule(parallel))
        extents = extents_in_each(block.copied.apply_range(value), self.program.scop.known)
        if extents is None:
            return None
        first = next(iter(widths))
        moving = [*(k for k, extent in enumerate(extents) if extent > 1 and k != first), first]
        if len(moving) < 2 or all(extents[k] % width == 0 for k, width in widths.items()):
            return None
        axes = (ALL_THREADS, *(LINEAR for _ in moving[1:]))
        members = _mapped(band.members, tuple(moving), axes)
        fixed = [k for k in range(len(members)) if k not in moving]
        return replace(band, members=tuple(members[k] for k in (*fixed, *moving)))


def _mapped(members: tuple[Member, ...], positions: tuple[int, ...], axes: tuple[str, ...]) -> tuple[Member, ...]:
    axis_of = dict(zip(positions, axes, strict=False))
    return tuple(
        replace(member, mapped=axis_of[k], parallel=True) if k in axis_of else member
        for k, member in enumerate(members)
    )


def _split(band: Band) -> tuple[tuple[Member, ...], Band | None]:
    """The sequential loops at the top of a band, and the rest of it from its first parallel loop on."""
    for position, member in enumerate(band.members):
        if member.coincident:
            return band.members[:position], replace(band, members=band.members[position:])
    return band.members, None


def _has_coincident(node: Node) -> bool:
    return any(isinstance(n, Band) and any(m.coincident for m in n.members) for n in walk(node))


def _has_work_for_many(node: Node) -> bool:
    """Whether several threads can share what is below."""
    return _has_coincident(node) or any(isinstance(n, Mark) and n.kind == "reduce" for n in walk(node))


# --- barriers --------------------------------------------------------------------------------------------------------
