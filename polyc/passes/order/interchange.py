"""Loops whose steps stay in a line of the cache, inside of those that leap over rows."""

from __future__ import annotations

from collections.abc import Sequence as List

from polyc.model.program import Program
from polyc.model.tree import Band, Domain, Member, Node, Role, rewrite
from polyc.nests.nest import has_loops
from polyc.nests.strides import LINE, UNROLLED, bytes_apart, gain_of, iterations, private_between
from polyc.poly import names
from polyc.records import replace

STAGE = "interchange"


def interchange_loops(program: Program) -> Program:
    """Bring a loop whose steps stay in a line of the cache inside of one that goes to other lines in each step.

    rewrite:  for j for k for i  for m < 5  r[i][j][k][m] = f(u[i - 1][j][k][m], u[i + 1][j][k][m])
              -> for j for i for k  for m < 5  r[i][j][k][m] = …
    tree:     band(j, k, i, m) -> band(j, i, k, m)
    math:     the loops of a permutable band may stand in any order: no dependence goes back along any of them
    requires: that loop carries nothing, and of few iterations inside of both compilers make straight-line code. Loops
              along consecutive elements, of which `vectorize` makes vectors, are left to it
    source:   McKinley, Carr, Tseng, "Improving data locality with loop transformations", TOPLAS 1996 (memory order)
    """
    told: list[tuple[str, tuple[str, ...]]] = []

    def change(node: Node) -> Node:
        found = _in_memory_order(node, program) if isinstance(node, Band) else None
        if not isinstance(node, Band) or found is None:
            return node
        members, inner = found
        here = tuple(names(node.members[0].schedule.domain()))
        told.append((f"the loop {inner.name} stands inside: its steps stay in a line of the cache", here))
        return replace(node, members=members)

    child = rewrite(program.tree.child, change)
    for message, here in told:
        program = program.remark("interchanged", STAGE, f"{', '.join(here)}: {message}", here)
    return replace(program, tree=Domain(program.tree.domain, child)) if told else program


def _in_memory_order(band: Band, program: Program) -> tuple[tuple[Member, ...], Member] | None:
    """The loops of a band in their new order, if there is a better one, and the one that goes inside."""
    if not band.permutable or has_loops(band.child) or any(m.role is not Role.LOOP for m in band.members):
        return None
    short = 0
    while short < len(band.members) and _is_short(band.members[-1 - short], program):
        short += 1
    long = band.members[: len(band.members) - short]
    if len(long) < 2 or not _leaps(bytes_apart(long[-1], program)) or private_between(band, program):
        return None
    near = [m for m in long[:-1] if m.coincident and gain_of(m, program) <= 0 and _stays(bytes_apart(m, program))]
    if not near:
        return None
    rest = tuple(m for m in long if m is not near[-1])
    return (*rest, near[-1], *band.members[len(long) :]), near[-1]


def _is_short(member: Member, program: Program) -> bool:
    count = iterations(member, program)
    return count is not None and count <= UNROLLED


def _leaps(steps: List[float]) -> bool:
    """Whether all that moves goes to another line."""
    return any(steps) and all(step == 0 or step > LINE for step in steps)


def _stays(steps: List[float]) -> bool:
    """Whether all that moves goes to a neighbour in the same line or in the next one."""
    return any(steps) and max(steps) <= LINE
