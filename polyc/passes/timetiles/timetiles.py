"""Tile the time loop of iterated stencils together with their space."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import islpy as isl

from polyc.analysis.witness import Pairs, finder
from polyc.cost.time_sizes import DIAMOND, OVERLAPPED, SKEWED, Shape, Untiled, shape_for
from polyc.model.program import Group, Program
from polyc.model.tree import Band, Domain, Mark, Node, Sequence, walk
from polyc.nests.skew import NotSteps, Steps, far_values, stays_in_cells, time_steps, where_all_run
from polyc.passes.products.registers import is_sum
from polyc.passes.timetiles.overlapped import overlapped_tiles
from polyc.passes.timetiles.time_bands import TimeBand, diamond_band, skewed_band
from polyc.passes.timetiles.wavefronts import ordered_points
from polyc.poly import names

STAGE = "timetiles"


def tile_time_loops(program: Program) -> Program:
    """Run several steps of an iterated stencil on a tile of its arrays before the next tile.

    rewrite:  for t { for i B[i] = f(A[i-1..i+1]); for i A[i] = f(B[i-1..i+1]); }
              -> for w parallel for tt: for t in tt { for i in tile(w, tt, t) B[i] = …; for i in … A[i] = …; }
    tree:     band(t) - x  ->  mark(tiles) - band(wave, tile, …) - band(t) - x
    math:     hyperplanes of `skew.py`; inside of a tile the order stays as it was written, so that a dependence leads
              to a later tile, or stays inside of one and in its order
    requires: a nest that isl's schedule leaves alone in its place
    ensures:  each instance runs once, on the arrays themselves, and no dependence is turned round: what the check asks
              without computing any flow
    source:   Wolf and Lam, PLDI 1991 (skewing, wavefronts); Bandishti et al., SC 2012 (diamonds)
    """
    kind, _ = program.options.time_tile
    if kind == "none" or program.options.gpu:
        return program
    child = program.tree.child
    if isinstance(child, Sequence):
        steps = []
        for step in child.children:
            program, node = _tiled(program, step.filter.intersect(program.tree.domain), step.child)
            steps.append(replace(step, child=node))
        return replace(program, tree=Domain(program.tree.domain, Sequence(tuple(steps))))
    program, node = _tiled(program, program.tree.domain, child)
    return replace(program, tree=Domain(program.tree.domain, node))


def _tiled(program: Program, instances: isl.UnionSet, node: Node) -> tuple[Program, Node]:
    """The nest in time tiles, if it can be and it pays; a remark says which, or why not."""
    statements = tuple(names(instances))
    if program.options.time_tile[0] == "auto" and any(is_sum(program, n) for n in walk(node) if isinstance(n, Band)):
        return program, node  # registers serve it better (`registers.py`, `sums.py`)
    steps = time_steps(program, instances)
    if isinstance(steps, NotSteps):
        return _left(program, statements, steps.reason), node
    shape = shape_for(program, steps)
    if isinstance(shape, Untiled):
        told = _left(program, statements, shape.reason, **shape.data)
        return told.because(shape.dependence) if shape.reason else told, node
    if program.options.time_tile[0] == "auto" and stays_in_cells(steps):
        return _left(program, statements, _STAYS), node
    if shape.kind == OVERLAPPED:
        return _overlapped(program, steps, shape, statements, node)
    band = made(steps, shape.kind, shape.sizes)
    if band is None:
        pairs: Pairs = (lambda: [steps.same_step]) if shape.kind == DIAMOND else partial(far_values, steps)
        return _left(program, statements, _NO_PLANE[shape.kind]).because(finder(program.scop, pairs)), node
    if not band.region.is_bounded():
        # A statement that runs without the others, for a row of which there is none, has no bound in their sizes.
        guard = where_all_run(steps)
        band = made(replace(steps, known=guard), shape.kind, shape.sizes)
        assert band is not None
        if not band.region.is_bounded():
            return _left(program, statements, _UNBOUNDED), node
        program = replace(program, scop=replace(program.scop, assumed=program.scop.assumed.intersect(guard)))
    points = ordered_points(steps.node.child, steps.same_step)
    tiles = Mark("tiles", Band(band.members, False, points), region=band.region)
    text = f"{', '.join(statements)} in {_described(band)}"
    program = _told(program, shape, statements, band.kind, band.sizes, text)
    return program, Mark("group", tiles, text=text)


def _overlapped(
    program: Program, steps: Steps, shape: Shape, statements: tuple[str, ...], node: Node
) -> tuple[Program, Node]:
    """The nest in tiles that copy what they need, or a remark that says why not."""
    # Sizes at which a statement never runs keep the original text: no second array has a size of 0 then.
    guard = where_all_run(steps)
    found = overlapped_tiles(program, replace(steps, known=guard), shape.sizes)
    if isinstance(found, str):
        return _left(program, statements, found), node
    if not found.region.is_bounded():
        return _left(program, statements, _UNBOUNDED), node
    scop = replace(found.program.scop, assumed=found.program.scop.assumed.intersect(guard))
    found = replace(found, program=replace(found.program, scop=scop))
    height, *cells = found.sizes
    what = ", ".join(statements)
    text = f"{what} in overlapped tiles of {height} steps x {' x '.join(map(str, cells))} cells"
    return _told(found.program, shape, statements, OVERLAPPED, found.sizes, text), Mark("group", found.node, text=text)


def _told(
    program: Program, shape: Shape, statements: tuple[str, ...], kind: str, sizes: tuple[int, ...], text: str
) -> Program:
    """The program with a group, and a remark, for a nest in time tiles."""
    group = Group(statements, statements, (), sizes, True)
    program = replace(program, groups=(*program.groups, group))
    message = f"{text}: {shape.reason}"
    return program.remark("time-tiled", STAGE, message, statements, kind=kind, sizes=list(sizes), **shape.data)


_STAYS = "no value leaves its row, so that each row can run all steps by itself"
_UNBOUNDED = "no condition on its sizes bounds its tiles"
_NO_PLANE = {
    SKEWED: "a step reads values from so far, or from both sides within a step, that no skewed tile has them",
    DIAMOND: "values travel in one direction within a step, so that tiles cannot lean to both sides",
}


def made(steps: Steps, kind: str, sizes: tuple[int, ...]) -> TimeBand | None:
    """The tiles of a kind, or None where some dependence would lead back."""
    return {SKEWED: skewed_band, DIAMOND: diamond_band}[kind](steps, sizes)


def _described(band: TimeBand) -> str:
    if band.kind == DIAMOND:
        return f"diamonds of {' x '.join(map(str, band.sizes))} cells"
    steps, *cells = band.sizes
    return f"skewed tiles of {steps} steps x {' x '.join(map(str, cells))} cells"


def _left(program: Program, statements: tuple[str, ...], reason: str, **data: object) -> Program:
    if not reason:
        return program
    message = f"{', '.join(statements)} not tiled over time: {reason}"
    return program.remark("not-time-tiled", STAGE, message, statements, **data)
