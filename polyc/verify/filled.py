"""Arrays that nobody writes, read from copies: the cheap half of the dataflow check.

math: an array without a writer has one value in each cell. What copies put into a buffer's cell `buffer[o, x]` is that
      value of x, whenever they do it. So a read of `buffer[o, x]` is right if some copy has filled the cell before it:
      if, in one iteration of the loops around the sequence at which their paths part, the copy's step comes first.
      A circular buffer lives as long as the loop right below its declaration: there an earlier iteration of that loop
      does as well, if the other loops have the same values.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import islpy as isl

from polyc.analysis.order import Run, parting
from polyc.flow import Flow
from polyc.model.program import Program
from polyc.model.scop import Access, AccessKind
from polyc.model.tree import Member, Step
from polyc.poly import at_sizes, names, out_name
from polyc.verify.expand import Expanded


def filled_before_read(program: Program, now: Expanded, array: str) -> bool:
    """Whether all reads of an array that nobody writes see its own values; False says nothing."""
    keys = {b.key for b in program.buffers.values() if b.array == array}
    if not now.listed:
        return False
    writers: list[tuple[Run, isl.Map]] = []
    readers: list[tuple[Run, isl.Map]] = []
    for run, access, relation in uses_of(now, array):
        if access.kind is AccessKind.READ:
            if out_name(relation) in keys:
                readers.append((run, relation))
        elif run.statement in program.copies and out_name(relation) in keys:
            writers.append((run, relation))
        else:
            return False
    return _all_filled(program, array, readers, writers)


def made_before_read(program: Program, now: Expanded, array: str, writes: isl.UnionMap, flow: Flow) -> bool:
    """Whether all reads of an array see what the one writer of their cell makes for them; False says nothing.

    writes, flow: what the original writes of the array, and its flow through it
    math: the writers W, of one statement or of several, are injective, so that each cell x has one writer W^-1(x), and
          in the original no read sees another value. So a read of x sees that writer's value, and now too, wherever
          and however often it runs, in a buffer or in the array itself, if a run for x comes before it in one iteration
          of the loops around the sequence at which they part. (What writers read is shown for its arrays.)
    """
    keys = {array, *(b.key for b in program.buffers.values() if b.array == array)}
    if not now.listed or array in program.scop.live_out or not flow.live_in.is_empty():
        return False
    for maker in names(writes.domain()):
        written = [a for a in program.scop.statements[maker].accesses if a.array == array]
        if len(written) != 1 or written[0].kind is not AccessKind.WRITE or not written[0].exact:
            return False
    if not writes.is_injective():
        return False
    writers: list[tuple[Run, isl.Map]] = []
    readers: list[tuple[Run, isl.Map]] = []
    for run, access, relation in uses_of(now, array):
        if out_name(relation) not in keys or run.statement in program.copies:
            return False
        (readers if access.kind is AccessKind.READ else writers).append((run, relation))
    return _all_filled(program, array, readers, writers)


def _all_filled(
    program: Program, array: str, readers: list[tuple[Run, isl.Map]], writers: list[tuple[Run, isl.Map]]
) -> bool:
    known = program.scop.known
    sliding = {b.key: b.depth for b in program.buffers.values() if b.array == array and b.window is not None}
    return all(filled(run, at_sizes(cells, known), writers, sliding.get(out_name(cells))) for run, cells in readers)


def uses_of(now: Expanded, array: str) -> Iterator[tuple[Run, Access, isl.Map]]:
    """Who touches the array or a buffer of it, and which cells."""
    yield from _uses(now).get(array, ())


@lru_cache(maxsize=4)
def _uses(now: Expanded) -> dict[str, list[tuple[Run, Access, isl.Map]]]:
    """By array, since each is asked for."""
    found: dict[str, list[tuple[Run, Access, isl.Map]]] = {}
    for run, accesses in now.per_run:
        for access, relation in accesses:
            found.setdefault(access.array, []).append((run, access, relation))
    return found


def filled(reader: Run, cells: isl.Map, writers: list[tuple[Run, isl.Map]], sliding: int | None = None) -> bool:
    """Whether some copy has filled each cell of a buffer before a leaf reads it.

    sliding: for a circular buffer, how many loops stand above its declaration
    """
    by_place: dict[int, isl.Set] = {}
    for run, written in writers:
        if out_name(written) != out_name(cells):
            continue
        at = parting(run.path, reader.path)
        if at is None or not earlier(run, reader, at):
            continue
        there = run.beside(written, at).range()
        if sliding is not None:
            there = _and_later(there, reader, sliding, at)
        by_place[at] = by_place[at].union(there) if at in by_place else there
    return any(reader.beside(cells, at).range().is_subset(there) for at, there in by_place.items())


def _and_later(there: isl.Set, reader: Run, sliding: int, at: int) -> isl.Set:
    """`{ [[v0, …] -> cell] }` with all later iterations of the loop below `sliding` others, if that is one of the v."""
    places = [k for k, step in enumerate(reader.path.steps[:at]) if isinstance(step, Member)]
    if len(places) <= sliding:
        return there
    place = places[sliding]
    before = [f"v{k}" for k in range(at)]
    later = ["w" if k == place else name for k, name in enumerate(before)]
    text = f"{{ [{', '.join(before)}] -> [{', '.join(later)}] : w >= v{place} }}"
    after = isl.Map.read_from_str(there.get_ctx(), text)
    return there.unwrap().apply_domain(after).coalesce().wrap()


def earlier(one: Run, two: Run, at: int) -> bool:
    """Whether of two leaves, which part at a sequence, the first has the earlier step."""
    first, second = one.path.steps[at], two.path.steps[at]
    return isinstance(first, Step) and isinstance(second, Step) and first.index < second.index
