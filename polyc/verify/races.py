"""No loop that is printed as parallel or as a vector loop may carry a dependence on memory.

math: for a loop at position d of the tree, P(x) the steps before it and v(x) its value:
      two instances x, y with P(x) = P(y) and v(x) != v(y) must not touch one cell when one of them writes it,
      unless the cell belongs to a buffer or private copy that is declared inside the loop.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import islpy as isl

from polyc.analysis.order import Run
from polyc.model import ctree as c
from polyc.model.program import Program
from polyc.model.scop import Access, AccessKind, Scop, Statement
from polyc.model.tree import Member
from polyc.poly import empty_map, maps
from polyc.verify.expand import Expanded, buffer_of, expand
from polyc.verify.fault import Fault
from polyc.verify.reduced import Parts, parts_of

_UPDATES = {"+": ("+=", "-="), "*": ("*=",), "&": ("&=",), "|": ("|=",), "^": ("^=",)}
"""The assignments that OpenMP's reduction with an operator may combine."""


@dataclass(frozen=True, slots=True, eq=False)
class _Loop:
    """A marked loop: where it stands on the paths that share it."""

    member: Member
    position: int
    """Steps of the path above it."""
    depth: int
    """Band members above it."""


def race_faults(program: Program, expanded: Expanded | None = None) -> list[Fault]:
    """Every marked loop that carries a dependence, with two instances and the cell they share."""
    now = expanded or expand(program)
    loops: dict[tuple[int, int], _Loop] = {}
    for run in now.runs:
        depth = 0
        for position, step in enumerate(run.path.steps):
            if isinstance(step, Member):
                if step.parallel or step.vector or step.mapped:
                    loops[id(step), position] = _Loop(step, position, depth)
                depth += 1
    faults: list[Fault] = []
    parts = parts_of(program, now)
    for loop in loops.values():
        faults += _loop_faults(program, now, loop, parts)
    return faults


def _loop_faults(program: Program, now: Expanded, loop: _Loop, parts: Parts) -> list[Fault]:
    below = [
        (run, accesses)
        for run, accesses in now.per_run
        if len(run.path.steps) > loop.position and run.path.steps[loop.position] is loop.member
    ]
    reduced = _reduced(program, loop, [run.statement for run, _ in below])
    shared = [
        (
            run,
            [
                (a, m)
                for a, m in accesses
                if a.array not in reduced
                and not _private_to(program, run, a, loop)
                and not parts.private(run, a, loop.position)
            ],
        )
        for run, accesses in below
    ]
    kind = "vector" if loop.member.vector else "parallel"
    return [
        Fault("race", f"the {kind} loop {loop.member.name} carries a dependence on {array}", witness)
        for array, witness in carried_by(shared, loop.position, program.scop)
    ]


def carried_by(
    below: Sequence[tuple[Run, Sequence[tuple[Access, isl.Map]]]], position: int, scop: Scop
) -> Iterator[tuple[str, str]]:
    """The arrays on which the loop at a step of the paths carries a dependence, each with two instances."""
    start = empty_map(scop.domain)
    outer, through = start, start
    by_array: dict[str, tuple[isl.UnionMap, isl.UnionMap]] = {}
    for run, accesses in below:
        outer = outer.union(isl.UnionMap.from_map(run.before(position)))
        through = through.union(isl.UnionMap.from_map(run.before(position + 1)))
        for access, relation in accesses:
            writes, every = by_array.get(access.array, (start, start))
            one = isl.UnionMap.from_map(relation)
            if access.kind is not AccessKind.READ:
                writes = writes.union(one)
            by_array[access.array] = (writes, every.union(one))
    for array, (writes, every) in by_array.items():
        if writes.is_empty() or every.is_injective():
            continue  # no two instances touch one cell
        touched = without_sizes(outer.intersect_domain(every.domain()).range_product(every))
        if touched.reverse().apply_range(without_sizes(through)).is_single_valued():
            continue  # each cell belongs to one iteration, even if the sizes could change in between
        # Instances that touch one cell, in one iteration of the outer loops, but not in one of this loop.
        carried = _same(writes, every, outer).subtract(_same(writes, every, through)).intersect_params(scop.known)
        if not carried.is_empty():
            yield array, str(maps(carried)[0].sample())


def without_sizes(relation: isl.UnionMap) -> isl.UnionMap:
    """The relation of all sizes together."""
    return relation.project_out(isl.dim_type.param, 0, relation.dim(isl.dim_type.param))


def conflicts(
    one: tuple[Run, Sequence[tuple[Access, isl.Map]]],
    two: tuple[Run, Sequence[tuple[Access, isl.Map]]],
    position: int,
    scop: Scop,
) -> Iterator[tuple[str, str]]:
    """The arrays of which two leaves touch one cell, one of them writing, where they agree in the steps before."""
    before = [isl.UnionMap.from_map(run.before(position)) for run, _ in (one, two)]
    for a, first in one[1]:
        for b, second in two[1]:
            if a.array != b.array or (a.kind is AccessKind.READ and b.kind is AccessKind.READ):
                continue
            cells = [isl.UnionMap.from_map(m) for m in (first, second)]
            left, right = (p.range_product(c) for p, c in zip(before, cells, strict=True))
            pairs = left.apply_range(right.reverse()).intersect_params(scop.known)
            if not pairs.is_empty():
                yield a.array, str(maps(pairs)[0].sample())


def _reduced(program: Program, loop: _Loop, statements: list[str]) -> set[str]:
    """Scalars that the loop combines by a reduction clause: every statement that touches one only reduces into it."""
    if not program.options.reassociate:
        return set()
    if loop.member.mapped:
        return set()  # a kernel has no reduction clause: `reduced.py`
    found = {array for _, array in loop.member.reductions if program.scop.arrays[array].rank == 0}
    for name in statements:
        statement = program.statements[name]
        for access in statement.accesses:
            if access.array in found and not any(
                only_reduces(statement, operator, array)
                for operator, array in loop.member.reductions
                if array == access.array
            ):
                found.discard(access.array)
    return found


def only_reduces(statement: Statement, operator: str, array: str) -> bool:
    """Whether all that a statement does to a scalar is to combine its value with another one by an operator.

    The passes have their own answer (`analysis/reductions.py`); this one does not trust it.
    """
    if statement.opaque or not isinstance(statement.body, c.ExprStmt) or operator not in _UPDATES:
        return False
    update = statement.body.expr
    if not isinstance(update, c.Assign) or not _is(update.target, array):
        return False
    mentions = sum(_is(node, array) for node in c.walk(update))
    if update.op in _UPDATES[operator]:
        return mentions == 1
    match update:
        case c.Assign(op="=", value=c.Binary(op=op, left=left, right=right)) if op == operator:
            return mentions == 2 and (_is(left, array) or _is(right, array))
        case _:
            return False


def _is(node: c.Node, array: str) -> bool:
    return isinstance(node, c.ArrayRef) and node.array == array and not node.subscripts


def _same(writes: isl.UnionMap, every: isl.UnionMap, position: isl.UnionMap) -> isl.UnionMap:
    """`{ x -> y }`: y touches a cell that x writes, at the same position."""
    at = position.intersect_domain(writes.domain()).range_product(writes)
    other = position.intersect_domain(every.domain()).range_product(every)
    return at.apply_range(other.reverse())


def _private_to(program: Program, run: Run, access: Access, loop: _Loop) -> bool:
    """Whether the access goes to storage that is declared inside the loop."""
    buffer = buffer_of(program, run, access)
    if buffer is not None and buffer.storage == "register":
        return loop.member.mapped.startswith("thread")  # `padding.py` shows that a cell is one thread's
    return buffer is not None and buffer.depth > loop.depth
