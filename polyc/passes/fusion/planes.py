"""Loops over a few planes of an image as the innermost ones, so that an iteration has all planes of a pixel."""

from __future__ import annotations

from dataclasses import replace

from polyc.model.program import Program
from polyc.model.tree import Band, Member, Role
from polyc.nests.nest import Nest, has_loops
from polyc.nests.strides import gain_of, iterations

FEW = 4
"""Iterations of a loop that may stand inside of loops along memory."""


def with_planes_inside(program: Program, nest: Nest) -> Nest | None:
    """The nest with its loops of few iterations innermost, each of which is printed by itself; as it is, where it has
    none.

    rewrite:  for c for y for x t[c][y][x] = f(A[c][y][x]);  ->  for y for x { t[0][y][x] = …; t[1][y][x] = …; }
    tree:     band(c, y, x) - S  ->  band(y, x) - band(c, written out) - S
    math:     all loops are coincident, so that they may be compared in any order
    ensures:  None where the nest has other loops inside, where no loop goes along memory, or where data choose what is
              read: a loop for all planes is no vector loop then
    """
    band = nest.band
    if band is None or not band.permutable or band.coincident_prefix < len(band.members):
        return None
    long, short = by_length(program, band)
    if not long or gain_of(long[-1], program) <= 0 or looks_up(program, nest):
        return None
    if not short:
        return nest
    if has_loops(band.child):
        return None
    written_out = tuple(replace(member, role=Role.WRITTEN_OUT) for member in short)
    return replace(nest, node=replace(band, members=long, child=Band(written_out, True, band.child)))


def by_length(program: Program, band: Band) -> tuple[tuple[Member, ...], tuple[Member, ...]]:
    """The loops of a band, and apart from them those of few iterations."""
    short = tuple(m for m in band.members if 0 < (iterations(m, program) or 0) <= FEW)
    return tuple(m for m in band.members if m not in short), short


def looks_up(program: Program, nest: Nest) -> bool:
    """Whether some of the elements that a nest reads are those that data choose."""
    return any(access.loose for name in nest.statements for access in program.statements[name].accesses)
