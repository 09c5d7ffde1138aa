"""Buffers that share a place: no value is overwritten before it is read for the last time.

The dataflow check takes each buffer for an array of its own. Two buffers K and L of one name, declared by one mark, are
one array in C. That is the same if in each iteration of the loops around the declaration (a life of the array) all that
touches K comes before all that touches L, or after: then no write of L lies between a write of K and a read of it.
math: for the runs a of K and b of L, let s(a) and s(b) be the steps at which they part, in sequences right below the
      declaration, and l(a) the lives in which a has an instance. No two have s(a) = s(b), and
        the lives of all l(a) ∩ l(b) with s(a) < s(b), and of those with s(a) > s(b), are disjoint.
      Where all s(a) are smaller, or all are larger, nothing has to be computed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import combinations

import islpy as isl

from polyc.analysis.expand import Expanded
from polyc.analysis.order import Run
from polyc.model.fault import Fault
from polyc.model.program import Buffer, Program
from polyc.model.tree import Mark, Step, walk
from polyc.poly import out_name


def sharing_faults(program: Program, now: Expanded, padded: Collection[str] = ()) -> Iterator[Fault]:
    """Buffers of one name that are in use at once, or differ in how they are stored.

    padded: statements that may run outside of their domains, of which `now` says nothing
    """
    users: dict[str, list[Run]] = {}
    for mark in walk(program.tree.child):
        if not isinstance(mark, Mark) or mark.kind != "allocate":
            continue
        for one, two in combinations([program.buffers[key] for key in mark.names], 2):
            if one.name == two.name:
                users = users or _users(now)
                yield from _pair_faults(program, now, mark, (one, two), users, padded)


def _pair_faults(
    program: Program,
    now: Expanded,
    mark: Mark,
    pair: tuple[Buffer, Buffer],
    of: Mapping[str, list[Run]],
    padded: Collection[str],
) -> Iterator[Fault]:
    """of: who uses which buffer."""
    one, two = pair
    if program.options.gpu:  # threads of a block are in several steps at once
        yield Fault("form", f"{one.key} and {two.key} are both called {one.name}", "")
        return
    if not _stored_alike(program, one, two):
        yield Fault("form", f"{one.key} and {two.key} are both called {one.name}, and differ", "")
        return
    if not now.listed:
        yield Fault("form", f"it is not known who uses {one.name}", "")
        return
    users = [of.get(buffer.key, []) for buffer in pair]
    for run in (*users[0], *users[1]):
        if run.statement in padded or not any(above is mark for above in run.path.marks):
            yield Fault("form", f"{run.statement} uses {one.name} where it is not known", "")
            return
    position, depth = _place(mark, (*users[0], *users[1]))
    if not _lives_apart(users[0], users[1], position, depth, program.scop.known):
        yield Fault("storage", f"{one.key} and {two.key} share {one.name}, and both are in use at once", "")


def _stored_alike(program: Program, one: Buffer, two: Buffer) -> bool:
    elements = [program.scop.arrays[buffer.array].element for buffer in (one, two)]
    if elements[0] != elements[1] or one.array == two.array or len(one.extents) != len(two.extents):
        return False
    if {one.storage, two.storage} != {"tile"} or one.registers or two.registers or one.places or two.places:
        return False
    same = all(a.is_equal(b) for a, b in zip(one.extents, two.extents, strict=True))
    return same and (one.order, one.pad) == (two.order, two.pad)


def _users(now: Expanded) -> dict[str, list[Run]]:
    """The runs that touch each array or buffer."""
    found: dict[str, list[Run]] = {}
    for run, accesses in now.per_run:
        for key in dict.fromkeys(out_name(cells) for _, cells in accesses):
            found.setdefault(key, []).append(run)
    return found


def _place(mark: Mark, users: tuple[Run, ...]) -> tuple[int, int]:
    """How many steps, and how many loops, stand above a mark."""
    for run in users:
        for above, steps, depth in zip(run.path.marks, run.path.mark_steps, run.path.mark_depths, strict=True):
            if above is mark:
                return steps, depth
    return 0, 0


def _lives_apart(one: list[Run], two: list[Run], position: int, depth: int, known: isl.Set) -> bool:
    """Whether in each iteration of the `depth` loops above a place all of one run before all of two, or after.

    position: how many steps of the paths stand above that place, the same for all runs.
    """
    order = [(a, b, _comes_first(a, b, position)) for a in one for b in two]
    if any(first is None for _, _, first in order):
        return False
    if len({first for _, _, first in order}) < 2:
        return True
    before, after = (_lives([(a, b) for a, b, first in order if first is wanted], depth) for wanted in (True, False))
    return bool(before.intersect(after).intersect_params(known).is_empty())


def _comes_first(a: Run, b: Run, position: int) -> bool | None:
    """Whether a's step is before b's; None where no step right below the place tells them apart."""
    for one, two in zip(a.path.steps[position:], b.path.steps[position:], strict=False):
        if not (isinstance(one, Step) and isinstance(two, Step)):
            return None
        if one.index != two.index:
            return one.index < two.index
    return None


def _lives(pairs: list[tuple[Run, Run]], depth: int) -> isl.Set:
    """The values of the loops around the place at which both of some pair run."""
    found: isl.Set | None = None
    for a, b in pairs:
        both = a.prefix(depth).range().intersect(b.prefix(depth).range())
        found = both if found is None else found.union(both)
    assert found is not None
    return found
