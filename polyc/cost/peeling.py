"""Which loops of a few iterations C compilers write out, before they look for vectors of the loop around."""

from __future__ import annotations

import islpy as isl

from polyc.cost.time import operations
from polyc.model.program import Program
from polyc.model.scop import Statement
from polyc.model.tree import Band, Member, Node, walk
from polyc.nests.strides import UNROLLED, iterations, iterations_below
from polyc.nests.windows import first_inside, window_of
from polyc.poly import box_volume, names

PEELED = 250
"""Operations of all of their iterations up to which gcc does: 200 instructions where a third is gone by then
(`max-completely-peeled-insns`), with those of addresses, which are not counted here."""


MOST_PEELED = 16
"""Iterations of a loop that gcc writes out (`max-completely-peel-times`)."""


def has_small_windows(statements: list[Statement], around: tuple[Member, ...]) -> bool:
    """Whether the loops below some others have so few iterations, wherever all of them run, that C compilers write them
    out."""
    counts = _windows(statements, around)
    return bool(counts) and 1 < max(counts) <= UNROLLED


def is_peeled(node: Node, program: Program, around: tuple[Member, ...]) -> bool:
    """Whether C compilers write out the loops of a subtree, by the operations of what they repeat."""
    bands = [n for n in walk(node) if isinstance(n, Band)]
    counted = [iterations(member, program) for band in bands for member in band.members]
    if any(count is not None and count > MOST_PEELED for count in counted):
        return False
    inside = {name for band in bands for name in names(band.members[0].schedule.domain())}
    statements = [program.statements[name] for name in sorted(inside)]
    counts = _windows(statements, around)
    if not counts:
        return iterations_below(node, program) <= UNROLLED
    work = sum(n * operations(s, subscripts=False) for n, s in zip(counts, statements, strict=True))
    return work <= PEELED


def _windows(statements: list[Statement], around: tuple[Member, ...]) -> list[int]:
    """How many iterations of the loops below some others each statement has; nothing where one has no end."""
    counts = []
    for statement in statements:
        first = first_inside(statement, around)
        window = window_of(statement.domain, first)
        if window is None and first < len(statement.loops):
            return []
        counts.append(1 if window is None else int(box_volume(window.project_out(isl.dim_type.set, 0, first))))
    return counts
