"""Bring the loop that runs along consecutive memory innermost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce
from itertools import groupby
from typing import TypeAlias

import islpy as isl

from polyc.analysis.coincident import within_iteration
from polyc.cost.recurrences import looks_up
from polyc.model.program import Buffer, Program
from polyc.model.tree import (
    Band,
    Domain,
    Extension,
    Filter,
    Leaf,
    Mark,
    Member,
    Node,
    Role,
    Sequence,
    outermost_bands,
    walk,
)
from polyc.nests.nest import has_loops
from polyc.nests.strides import (
    UNROLLED,
    bytes_apart,
    gain_of,
    iterations_below,
    makes_no_vectors,
    private_across,
    private_between,
    strides_of,
    unrolled_below,
)
from polyc.nests.tiling import point_members, tile_members
from polyc.poly import in_name, maps, out_name, set_name, sets
from polyc.poly import names as names_in
from polyc.records import replace

STAGE = "vectorize"
PAGE = 4096
"""Bytes of memory that one entry of a table of addresses tells where to find."""


def sink_vector_loops(program: Program) -> Program:
    """Move one coincident loop of each innermost permutable band below everything else, where memory likes it.

    rewrite:  for w { S2; for kh for kw S3; S4 }  ->  for w S2;  for kh for kw for w S3;  for w S4
              for x for y for d S(y, x, d)  ->  for xt for y for x in xt for d S(y, x, d), y from page to page
    math:     a coincident member of a band has distance 0 for every dependence that its band does not leave to
              outer bands, so it may be the last comparison instead of an early one
    requires: no private scalar lives across what the loop would be distributed over
    source:   the intra-tile distribution of Zhao et al. 2024, Section 5.1 ([70] there)
    """

    program = turned_buffers(program)
    return replace(program, tree=Domain(program.tree.domain, _all_sunk(program.tree.child, program)))


def _all_sunk(node: Node, program: Program, around: frozenset[str] = frozenset(), in_tile: bool = False) -> Node:
    """The subtree with the loops of all its bands sunk.

    around: the buffers that are allocated around it; in_tile: whether a loop over tiles that may run at once is
    """
    match node:
        case Leaf():
            return node
        case Sequence(children=steps):
            return Sequence(tuple(replace(s, child=_all_sunk(s.child, program, around, in_tile)) for s in steps))
        case Mark(kind="allocate", names=keys):
            return replace(node, child=_all_sunk(node.child, program, around | set(keys), in_tile))
        case Mark() | Extension():
            return replace(node, child=_all_sunk(node.child, program, around, in_tile))
    tiles = any(m.role is Role.TILE and m.coincident for m in node.members)
    band = replace(node, child=_all_sunk(node.child, program, around, in_tile or tiles))
    if any(m.role is Role.TILE for m in band.members) or _in_registers(band):
        return band
    ordered = _in_memory_order(band, program)
    if ordered is not band:
        return ordered if in_tile else _in_strips(band, ordered, program)
    return _sunk(band, _with_buffers_of(band, program, around))


def _in_memory_order(band: Band, program: Program) -> Band:
    """A band in which loops that go to another page in each step stand outside of those that do not, around whatever
    they have inside: where rows wait for the rows above, isl puts the loop along them, which waits for nothing,
    outside."""
    steps = {id(m): [step for step in bytes_apart(m, program) if step] for m in band.members}
    far = tuple(m for m in band.members if steps[id(m)] and min(steps[id(m)]) >= PAGE)
    near = tuple(m for m in band.members if m not in far)
    if not far or not near or not has_loops(band.child) or band.members[: len(far)] == far or not band.permutable:
        return band
    if any(max(steps[id(m)], default=0) > PAGE / 4 or gain_of(m, program) > 0 for m in near):
        return band  # along elements they go innermost
    if private_between(band, program):
        return band
    return replace(band, members=(*far, *near))


def _in_strips(band: Band, ordered: Band, program: Program) -> Band:
    """A band in its new order in strips of the parallel loop that was its first, which threads share."""
    along = band.members[0]
    step = max((step for step in bytes_apart(along, program)), default=0)
    if not along.coincident or along.role is not Role.LOOP or not 0 < step < PAGE:
        return band
    size = 1 << (int(PAGE / step).bit_length() - 1)
    return Band(tile_members((along,), (size,)), True, replace(ordered, members=point_members(ordered.members)))


def _with_buffers_of(band: Band, program: Program, around: frozenset[str]) -> Program:
    """The program without the buffers that other iterations of its statements have: what a tile at the edge reads from
    the array itself lies there as the array does."""
    inside = (n.names for n in walk(band) if isinstance(n, Mark) and n.kind == "allocate")
    here = around.union(*inside)
    away = {key for key, buffer in program.buffers.items() if buffer.order and key not in here}
    if not away:
        return program
    return replace(program, buffers={key: b for key, b in program.buffers.items() if key not in away})


def turned_buffers(program: Program) -> Program:
    """Store the buffers of a tile with another dimension innermost, where its loops like that better.

    rewrite:  double q_tile[8][1000];  for i for j q_tile[i][j] = f(u[j][i], q_tile[i][j - 1]);
              -> double q_tile[1000][8];  for j for i q_tile[j][i] = f(u[j][i], q_tile[j - 1][i]);
    requires: nothing is copied into or out of them
    ensures:  the same values: a buffer's layout is a map on its index space
    """
    for mark in [n for n in walk(program.tree.child) if isinstance(n, Mark) and n.kind == "allocate"]:
        mine = [program.buffers[name] for name in mark.names]
        if not mine or any(_is_fixed(b, program) for b in mine) or _in_registers_below(mark.child):
            continue
        best = _liked(mark.child, program), program
        for last in range(min(len(b.extents) for b in mine) - 1):
            orders = {b.key: (*(d for d in range(len(b.extents)) if d != last), last) for b in mine}
            turned = {key: replace(program.buffers[key], order=order) for key, order in orders.items()}
            tried = replace(program, buffers=program.buffers | turned)
            score = _liked(mark.child, tried)
            if score > best[0]:
                best = score, tried
        if best[1] is not program:
            arrays = ", ".join(b.name for b in mine)
            below = tuple(sorted({name for b in mine for name, _ in b.accesses}))
            verb = "lie" if len(mine) > 1 else "lies"
            message = f"{arrays} {verb} in the tile with another dimension innermost: vector loops run along it"
            program = best[1].remark("turned", STAGE, message, below)
    return program


def _is_fixed(buffer: Buffer, program: Program) -> bool:
    """Whether a buffer keeps its layout: it has one, has one dimension, sizes that are not known, or copies."""
    constant = all(extent.is_cst() for extent in buffer.extents)
    copied = any(name in program.copies for name, _ in buffer.accesses)
    return buffer.storage != "tile" or bool(buffer.order) or len(buffer.extents) < 2 or not constant or copied


def _in_registers_below(node: Node) -> bool:
    return any(isinstance(n, Band) and _in_registers(n) for n in walk(node))


def _liked(node: Node, program: Program) -> float:
    """How well the vector loops of the statements with the most loops like the memory, once they are sunk."""
    found: list[tuple[int, float]] = []
    for band in walk(_all_sunk(node, program)):
        if isinstance(band, Band) and not any(isinstance(n, Band) for n in walk(band.child)):
            member = band.members[-1]
            depth = max(len(program.statements[set_name(s)].loops) for s in sets(member.schedule.domain()))
            found.append((depth, max(0.0, gain_of(member, program)) if member.coincident else 0.0))
    most = max((depth for depth, _ in found), default=0)
    return sum(gain for depth, gain in found if depth == most)


def _in_registers(band: Band) -> bool:
    """Whether the band belongs to a register tile, whose loops are in their order."""
    return any(m.role is Role.REGISTER for n in walk(band) if isinstance(n, Band) for m in n.members)


def _sunk(band: Band, program: Program) -> Node:
    loops_below = _loops(band.child)
    candidates = [m for m in band.members if m.coincident]
    if not candidates:
        return band
    strides = {id(m): strides_of(m, program) for m in (*band.members, *(m for b in loops_below for m in b.members))}
    best = max(candidates, key=lambda m: strides[id(m)].gain)
    if strides[id(best)].gain <= 0:
        return band
    innermost = [n.members[-1] for n in (*loops_below, band) if not _loops(n.child)]
    if all(m is best for m in innermost):
        return band
    # Against what is innermost now: a loop that is itself coincident and consecutive stays where it is.
    if innermost and all(m.coincident and strides[id(m)].gain >= strides[id(best)].gain for m in innermost):
        return band
    # A line of the cache for each element of a vector: not where the loops as they are go along the lines.
    if innermost and all(strides[id(m)].far < strides[id(best)].far for m in innermost):
        return band
    still = innermost and not any(strides[id(m)].far for m in innermost)
    if still and makes_no_vectors(band.members[0].schedule.domain(), program):
        return band
    if (
        not loops_below
        and private_between(band, program)
        and not looks_up(program, band.members, program.scop.privatizable)
    ):
        return band  # what goes from iteration to iteration stays in a register
    if unrolled_below(band, program) if loops_below else len(band.members) == 1:
        return band
    behind = band.members[[m is best for m in band.members].index(True) + 1 :]
    if not loops_below and behind and iterations_below(replace(band, members=behind), program) <= UNROLLED:
        return band
    below = sink(best, band.child)
    rest = tuple(m for m in band.members if m is not best)
    if loops_below and private_across(band, program):
        # What is kept for an iteration costs nothing where it is: another order has to be better for all that moves.
        poor = (strides[id(m)].gain < 0 or strides[id(m)].far > 0 for m in innermost)
        clear = strides[id(best)].far == 0 and all(poor)
        if not clear or _parts_values(below, program, rest):
            return band
    return replace(band, members=rest, child=below) if rest else below


def _parts_values(node: Node, program: Program, above: tuple[Member, ...]) -> bool:
    """Whether a subtree hands a value of a private array from one iteration of its innermost loops to another, or from
    one of these loops to the next. What it has from outside, or leaves there, is as near as before."""
    bodies = list(_bodies(node, above))
    every = {name for names, _ in bodies for name in names}
    for array in program.scop.privatizable:
        flow = program.dependences.flow_by_array.get(array)
        for piece in maps(flow) if flow is not None else ():
            ends = {in_name(piece), out_name(piece)}
            if not ends <= every:
                continue
            inside = [(names, path) for names, path in bodies if ends & names]
            whole = isl.UnionMap.from_map(piece.intersect_params(program.scop.known))
            if inside and not any(
                ends <= names and whole.is_subset(within_iteration(whole, path)) for names, path in inside
            ):
                return True
    return False


def _bodies(node: Node, above: tuple[Member, ...]) -> Iterator[tuple[set[str], tuple[Member, ...]]]:
    """The statements of each innermost loop, with all loops around it from `above` on."""
    for inner in outermost_bands(node):
        path = (*above, *inner.members)
        if has_loops(inner.child):
            yield from _bodies(inner.child, path)
        else:
            yield set(names_in(inner.members[0].schedule.domain())), path


def _loops(node: Node) -> list[Band]:
    """The bands of a subtree, but for those of which each iteration is printed by itself."""
    return [n for n in walk(node) if isinstance(n, Band) and n.members[-1].role is not Role.WRITTEN_OUT]


Parts: TypeAlias = Callable[[list[Filter]], list[list[Filter]]]


def together(steps: list[Filter]) -> list[list[Filter]]:
    """Steps that share a loop."""
    return [steps]


def sink(
    member: Member,
    node: Node,
    around: Callable[[Node], bool] = lambda node: False,
    parts: Parts = together,
) -> Node:
    """The subtree with the loop below all others but unrolled ones; steps without loops share it with their
    neighbours.

    around: nests that it stays around
    parts: which of several steps without loops share it
    """
    match node:
        case Band() if has_loops(node) and not around(node):
            return replace(node, child=sink(member, node.child, around, parts))
        case Sequence(children=steps) if has_loops(node) or len(parts(list(steps))) > 1:
            runs = (list(run) for _, run in groupby(steps, lambda s: id(s) if has_loops(s.child) else None))
            pieces = [piece for run in runs for piece in (parts(run) if len(run) > 1 else [run])]
            together = [run[0] if len(run) == 1 else _step_of(run) for run in pieces]
            return Sequence(
                tuple(Filter(s.filter, sink(_restricted(member, s.filter), s.child, around, parts)) for s in together)
            )
        case _:
            return Band((member,), True, node)


def _step_of(steps: list[Filter]) -> Filter:
    return Filter(reduce(isl.UnionSet.union, (s.filter for s in steps)), Sequence(tuple(steps)))


def _restricted(member: Member, instances: isl.UnionSet) -> Member:
    return replace(member, schedule=member.schedule.intersect_domain(instances))
