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

from polyc.analysis.expand import Expanded
from polyc.analysis.order import Run, parting
from polyc.flow import Flow
from polyc.model.program import Program
from polyc.model.scop import Access, AccessKind
from polyc.model.tree import Member, Step
from polyc.poly import at_sizes, coalesced, function_of, names, out_name


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
    known, made = program.scop.known, Made(writers)
    sliding = {b.key: b.depth for b in program.buffers.values() if b.array == array and b.window is not None}
    return all(filled(run, at_sizes(cells, known), made, sliding.get(out_name(cells))) for run, cells in readers)


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


class Made:
    """What writers have put into cells, for the readers of one array, which ask for much the same."""

    def __init__(self, writers: list[tuple[Run, isl.Map]]) -> None:
        self.writers = [(run, written, out_name(written)) for run, written in writers]
        self._there: dict[tuple[tuple[int, ...], int], isl.Set] = {}
        self._one: dict[tuple[int, int], isl.Set] = {}

    def before(self, reader: Run, name: str) -> Iterator[tuple[int, isl.Set]]:
        """For a step at which writers part from a reader and come first: `{ [[v0, …] -> cell] }`, the steps before it
        and the cells that these have written."""
        by_place: dict[int, list[int]] = {}
        for k, (run, _, cells) in enumerate(self.writers):
            at = parting(run.path, reader.path) if cells == name else None
            if at is not None and earlier(run, reader, at):
                by_place.setdefault(at, []).append(k)
        for at, which in by_place.items():
            yield at, self._all(tuple(which), at)

    def _all(self, which: tuple[int, ...], at: int) -> isl.Set:
        if (which, at) not in self._there:
            there = self._of(which[0], at)
            for k in which[1:]:
                there = there.union(self._of(k, at))
            self._there[which, at] = coalesced(there)
        return self._there[which, at]

    def _of(self, k: int, at: int) -> isl.Set:
        if (k, at) not in self._one:
            run, written, _ = self.writers[k]
            self._one[k, at] = run.beside(written, at).range()
        return self._one[k, at]


def filled(reader: Run, cells: isl.Map, made: Made, sliding: int | None = None) -> bool:
    """Whether some copy has filled each cell of a buffer before a leaf reads it.

    sliding: for a circular buffer, how many loops stand above its declaration
    """
    for at, there in made.before(reader, out_name(cells)):
        read = reader.beside(cells, at)
        written = there if sliding is None else _and_later(there, reader, sliding, at)
        function = function_of(read)
        # Of the instances, where they read by one expression: what they read would first have to be computed.
        if function is not None and cells.domain().is_subset(written.preimage_multi_aff(function)):
            return True
        if function is None and read.range().is_subset(written):
            return True
    return False


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
    return coalesced(there.unwrap().apply_domain(after)).wrap()


def earlier(one: Run, two: Run, at: int) -> bool:
    """Whether of two leaves, which part at a sequence, the first has the earlier step."""
    first, second = one.path.steps[at], two.path.steps[at]
    return isinstance(first, Step) and isinstance(second, Step) and first.index < second.index
