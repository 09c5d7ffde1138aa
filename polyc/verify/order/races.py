"""No loop that is printed as parallel or as a vector loop may carry a dependence on memory.

math: for a loop at position d of the tree, P(x) the steps before it and v(x) its value:
      two instances x, y with P(x) = P(y) and v(x) != v(y) must not touch one cell when one of them writes it,
      unless the cell belongs to a buffer or private copy that is declared inside the loop.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import islpy as isl

from polyc.analysis.expand import Expanded, buffer_of, expand
from polyc.analysis.expressions.updates import any_order, has_parts, only_combines, sums_wrap
from polyc.analysis.order import Run
from polyc.model.fault import Fault
from polyc.model.program import Program
from polyc.model.scop import Access, AccessKind, Scop
from polyc.model.tree import Member
from polyc.poly import empty_map, maps, without_sizes
from polyc.records import dataclass
from polyc.verify.order.reduced import Parts, parts_of


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
    if len(below) == 1 and _moves_each_cell_once(program, below[0][0], loop):
        return []
    reduced = _reduced(program, loop, [run.statement for run, _ in below])
    if loop.member.owned and (twice := _written_twice(program, below, loop)):
        return [Fault("race", f"an iteration of {loop.member.name} may run in several parts, and writes {twice}", "")]
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
    written = dict.fromkeys(a.array for _, accesses in below for a, _ in accesses if a.kind is not AccessKind.READ)
    for array in written:
        if _one_iteration_a_cell(below, array, position) or _no_cell_of_two(below, array, position, scop):
            continue
        # Instances that touch one cell, in one iteration of the outer loops, but not in one of this loop.
        outer, through = (touching(below, array, end, scop) for end in (position, position + 1))
        carried = outer.subtract(through).intersect_params(scop.known)
        if not carried.is_empty():
            yield array, str(maps(carried)[0].sample())


def _moves_each_cell_once(program: Program, run: Run, loop: _Loop) -> bool:
    """Whether a copy is all that is below, in one tile: its instances are the cells (`wellformed.py`)."""
    inside = run.path.extension is not None and loop.depth >= run.path.depth_of_extension
    return inside and run.statement in program.copies


def _one_iteration_a_cell(
    below: Sequence[tuple[Run, Sequence[tuple[Access, isl.Map]]]], array: str, position: int
) -> bool:
    """Whether each cell belongs to one iteration of the loop, for one of those around; even if the sizes could change
    in between, which makes it simple to say. False says nothing."""
    found: isl.UnionMap | None = None
    for run, accesses in below:
        for access, relation in accesses:
            if access.array == array:
                cells = without_sizes(run.beside(relation, position))
                one = isl.UnionMap.from_map(cells.reverse().apply_range(without_sizes(run.columns[position])))
                found = one if found is None else found.union(one)
    return found is not None and bool(found.is_single_valued())


def _no_cell_of_two(
    below: Sequence[tuple[Run, Sequence[tuple[Access, isl.Map]]]], array: str, position: int, scop: Scop
) -> bool:
    """Whether no cell is written in one iteration of the loop, and touched in another one, for one of those around.

    math: `{ [outer, cell] -> v }` for writes, and for all accesses: pairs (v, w) of one cell have v = w. The instances
          are gone from these, which makes them small. False says nothing.
    """
    writes = every = empty_map(scop.domain)
    for run, accesses in below:
        for access, relation in accesses:
            if access.array == array:
                cells = run.beside(relation, position).reverse().apply_range(run.columns[position])
                one = isl.UnionMap.from_map(cells.intersect_params(scop.known))
                every = every.union(one)
                if access.kind is not AccessKind.READ:
                    writes = writes.union(one)
    pairs = writes.range_product(every).range().unwrap()
    return all(pair.is_subset(isl.Map.identity(pair.get_space())) for pair in maps(pairs))


def touching(
    below: Sequence[tuple[Run, Sequence[tuple[Access, isl.Map]]]], array: str, position: int, scop: Scop
) -> isl.UnionMap:
    """`{ x -> y }`: y touches a cell of the array that x writes, and they agree in the steps before a position."""
    writes = every = empty_map(scop.domain)
    for run, accesses in below:
        for access, relation in accesses:
            if access.array == array:
                one = isl.UnionMap.from_map(run.beside(relation, position))
                every = every.union(one)
                if access.kind is not AccessKind.READ:
                    writes = writes.union(one)
    return writes.apply_range(every.reverse())


def conflicts(
    one: tuple[Run, Sequence[tuple[Access, isl.Map]]],
    two: tuple[Run, Sequence[tuple[Access, isl.Map]]],
    position: int,
    scop: Scop,
) -> Iterator[tuple[str, str]]:
    """The arrays of which two leaves touch one cell, one of them writing, where they agree in the steps before."""
    for a, first in one[1]:
        for b, second in two[1]:
            if a.array != b.array or (a.kind is AccessKind.READ and b.kind is AccessKind.READ):
                continue
            left, right = (
                isl.UnionMap.from_map(run.beside(m, position)) for run, m in ((one[0], first), (two[0], second))
            )
            pairs = left.apply_range(right.reverse()).intersect_params(scop.known)
            if not pairs.is_empty():
                yield a.array, str(maps(pairs)[0].sample())


def _reduced(program: Program, loop: _Loop, statements: list[str]) -> set[str]:
    """Arrays that the loop combines by a reduction clause or atomic updates: every statement that touches one only
    reduces into it, and in any order it gives the same, or the user allows another one."""
    if loop.member.mapped and (loop.member.owned or not loop.member.atomics):
        return set()  # a kernel has no reduction clause: `reduced.py`
    pairs = (() if loop.member.mapped else loop.member.reductions) + loop.member.atomics
    named = [array for _, array in pairs + loop.member.owned]
    # Each cell of these is one thread's, which updates it in the order of the iterations.
    owned = {
        array for _, array in loop.member.owned if program.scop.arrays[array].rank == 1 and named.count(array) == 1
    }
    found = owned | {
        array
        for operator, array in pairs
        if named.count(array) == 1
        and (
            (program.options.reassociate and not loop.member.mapped)  # where a GPU's threads add, any run has its order
            or sums_wrap(operator, array, program.scop.arrays)
            or (not program.scop.arrays[array].rank and any_order(operator, array, program.scop))
        )
        and ((operator, array) in loop.member.atomics or has_parts(program.scop.arrays[array]))
    }
    if not loop.member.mapped:  # a clause names the variable, and no place of one that has several
        spread = [b for b in program.buffers.values() if b.places is not None]
        found -= {b.array for b in spread if any(name in statements for name, _ in b.accesses)}
    for name in statements:
        statement = program.statements[name]
        for access in statement.accesses:
            if access.array in found and not any(
                only_combines(statement, operator, array, program.scop.arrays, program.scop.arrays[array].rank > 0)
                for operator, array in (*pairs, *loop.member.owned)
                if array == access.array
            ):
                found.discard(access.array)
    return found


def _written_twice(program: Program, below: Sequence[tuple[Run, Sequence[tuple[Access, isl.Map]]]], loop: _Loop) -> str:
    """What an iteration of a loop with owners writes besides their cells, and outside of its own storage; "" if
    nothing: several threads may run it."""
    owned = {array for _, array in loop.member.owned}
    for run, accesses in below:
        for access, _ in accesses:
            if access.kind is AccessKind.READ or access.array in owned or _private_to(program, run, access, loop):
                continue
            return program.scop.arrays[access.array].c_name
    return ""


def _private_to(program: Program, run: Run, access: Access, loop: _Loop) -> bool:
    """Whether the access goes to storage that is declared inside the loop."""
    buffer = buffer_of(program, run, access)
    if buffer is not None and buffer.storage == "register":
        return loop.member.mapped.startswith("thread")  # `padding.py` shows that a cell is one thread's
    return buffer is not None and buffer.depth > loop.depth
