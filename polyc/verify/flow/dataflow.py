"""Is the transformed program the original one? The static check of every compile.

math: let F be the original's value-based flow, F' the transformed program's on expanded instances, with copies
      looked through, and c the contraction that forgets the tile. The program is right if
        (1) every read sees the same writer:        c . F' . c^-1 = F, on the instances that run,
        (2) or the same cell from before the region: live-in' = live-in, on the instances that run; what a local
            array holds that nothing has set yet may be anything,
        (3) every live-out cell has the same last writer,
        (4) possible writers of one cell stay in their order, where writes may or may not happen and one read, or what
            runs after the region, may see either of them,
        (5) every buffer access lies inside the buffer.
      Values that lie in a buffer are a tile's own: what another tile left there is not seen.
      (1) to (3) give equal values by induction over the flow; races are the other half (`races.py`).
source: the design's "Nothing wrong leaves the house"; pet's check of generated code does (1) for the whole text.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace
from functools import cached_property, lru_cache

import islpy as isl

from polyc.analysis.commuting import commuting_dependences
from polyc.analysis.dependences import accesses_of, last_writers
from polyc.analysis.expand import Expanded, expand, place_in_buffer
from polyc.analysis.order import constant_column, order_map, order_of
from polyc.flow import Accesses, Flow, compute_false, compute_flow, recalled
from polyc.model.fault import Fault
from polyc.model.program import Buffer, Program
from polyc.model.scop import AccessKind, Scop
from polyc.model.tree import THREAD_AXES, WARP_AXES, Member
from polyc.poly import at_sizes, coalesced, empty_map, maps, names, out_name, reaching, union_of
from polyc.verify.flow.filled import filled_before_read, made_before_read
from polyc.verify.flow.renamed import keeps_values

MOST_COPIES = 4
"""That a value passes from its writer to its reader: out of a tile's buffer into a second array, and into the buffer of
another tile; and the same once more, where there is nothing to compute between."""


def dataflow_faults(program: Program, expanded: Expanded | None = None) -> list[Fault]:
    """Everything in which the program's dataflow differs from its scop's; empty means equal."""
    now = expanded or expand(program)
    faults = buffer_faults(program, now)
    executed = now.contraction.range()
    for array in program.scop.arrays:
        # What isl gets wrong of the new flow (`polyc/flow.py`) shows as a fault, since the original's is checked.
        if _array_faults(program, now, array, executed, checked=False):
            faults += _array_faults(program, now, array, executed, checked=True)
    return faults


class Original:
    """What the region does with one array as it was written; computed when it is asked for, or by the dependences."""

    def __init__(self, scop: Scop, array: str) -> None:
        self.scop, self.array = scop, array
        self.accesses = accesses_of(scop, frozenset([array]))
        self.order = order_of(scop.tree)

    @cached_property
    def flow(self) -> Flow:
        with recalled():
            return compute_flow(self.accesses, self.order)

    @cached_property
    def final(self) -> isl.UnionMap:
        return last_writers(self.accesses, self.order)

    @cached_property
    def dependences(self) -> isl.UnionMap:
        """All pairs that have to stay in their order, where each instance runs once."""
        every_pair = not self.accesses.may_writes.is_empty()
        with recalled():
            false = compute_false(self.accesses, self.order, every_pair)
        return coalesced(self.flow.dependence.union(false))

    @cached_property
    def commuting(self) -> isl.UnionMap | None:
        """Those of them that are left where updates of a cell may change places; None where none may."""
        return commuting_dependences(self.scop, self.array, self.order)


_KEPT: OrderedDict[tuple[int, int, str], tuple[Scop, Original]] = OrderedDict()
"""The last originals: all programs that are tried for one region are compared with the same."""
MOST_KEPT = 1000
"""Arrays of a large region."""


def original_of(scop: Scop, array: str) -> Original:
    key = id(scop.tree), id(scop.statements), array
    if key not in _KEPT:
        _KEPT[key] = scop, Original(scop, array)  # with the scop, so that no other one gets its identity
        if len(_KEPT) > MOST_KEPT:
            _KEPT.popitem(last=False)
    return _KEPT[key][1]


def _array_faults(program: Program, now: Expanded, array: str, executed: isl.UnionSet, checked: bool) -> list[Fault]:
    """Checks (1) to (4) for one array and the buffers that stand for parts of it."""
    original = original_of(program.scop, array)
    before = original.accesses
    cells = {array} | {b.key for b in program.buffers.values() if b.array == array}
    after = accesses_to(now, cells)
    faults: list[Fault] = []
    if before.all_writes.is_empty() and after.all_writes.is_empty():
        if _reads_as_written(program, now, array):
            return []
        read_then = before.reads.intersect_domain(executed)
        read_now = _contracted_access(now, after.reads)
        faults += _difference(program, "live-in", f"reads of {array}", read_then, read_now)
        return faults
    if before.all_writes.is_empty() and filled_before_read(program, now, array):
        return []
    now = _without_digits(program, now, array)
    if made_before_read(program, now, array, before.all_writes, original.flow):
        return []
    if _keeps_order(program, now, array, original, after) or _renamed(program, now, array, original, after):
        return []
    flow_then = original.flow
    through_memory = compute_flow(after, now.order, checked)
    flow_now = _seen_through_copies(program, now, through_memory)
    dependence, live_in = flow_now.dependence.apply_domain(now.contraction), flow_now.live_in
    expected, first_reads = flow_then.dependence.intersect_range(executed), flow_then.live_in.intersect_domain(executed)
    if before.may_writes.is_empty():
        # A read has one writer: where no repetition of it sees another one, all see the same.
        dependence, live_in = dependence.apply_range(now.contraction), _contracted_access(now, live_in)
    else:
        # It has several possible ones: each repetition has to see them all.
        expected = expected.apply_range(now.contraction.reverse())
        first_reads = now.contraction.apply_range(first_reads)
    faults += _difference(program, "flow", f"the values read from {array}", expected, dependence)
    if array not in program.scop.unset:
        faults += _difference(program, "live-in", f"the first reads of {array}", first_reads, live_in)
    if array in program.scop.live_out:
        in_array = Accesses(
            reaching(after.reads, {array}), reaching(after.writes, {array}), reaching(after.may_writes, {array})
        )
        lost = _lost_cells(program, array, before, in_array)
        faults += lost
        if not lost:  # the last writers of an array with holes can take isl minutes, and would say the same
            final_now = _final_writers(program, now, array, in_array, through_memory)
            faults += _difference(program, "live-out", f"the last writers of {array}", original.final, final_now)
    if not before.may_writes.is_empty():
        faults += _reordered(program, now, original, after, array)
    return faults


def _reads_as_written(program: Program, now: Expanded, array: str) -> bool:
    """Whether each statement has the region's accesses to an array that nobody writes, and all of them go to it: then
    each of its instances reads what it did. False says nothing."""
    if not now.listed:
        return False
    for run, accesses in now.per_run:
        here = [(access, out_name(relation)) for access, relation in accesses if access.array == array]
        then = program.scop.statements.get(run.statement)
        wanted = [] if then is None else [access for access in then.accesses if access.array == array]
        if len(here) != len(wanted):
            return False
        for (access, place), original in zip(here, wanted, strict=True):
            if place != array or not access.relation.plain_is_equal(original.relation):
                return False
    return True


def _without_digits(program: Program, now: Expanded, array: str) -> Expanded:
    """The same order for what touches a cell of the array, in fewer terms.

    The cells of a register buffer are dealt out to threads and their register loops by a function (`padding.py` shows
    it), so that two instances that touch one cell agree in these loops, and they decide nothing.
    """
    mine = {b.key for b in program.buffers.values() if b.array == array and b.storage == "register"}
    if not mine:
        return now
    changed = []
    for run, accesses in now.per_run:
        if all(access.array != array for access, _ in accesses):
            continue
        columns = run.columns
        if any(out_name(relation) in mine for _, relation in accesses):
            columns = tuple(
                constant_column(run.instances) if isinstance(step, Member) and _deals(step) else column
                for column, step in zip(run.columns, run.path.steps, strict=True)
            )
        changed.append((replace(run, columns=columns), accesses))
    inside = tuple(run for run, _ in changed)
    return replace(now, runs=inside, order=order_map(list(inside)), per_run=tuple(changed))


def _deals(member: Member) -> bool:
    return member.digit is not None or member.mapped in (*THREAD_AXES, *WARP_AXES)


def _keeps_order(program: Program, now: Expanded, array: str, original: Original, after: Accesses) -> bool:
    """Whether all that writes the array runs exactly once, all that uses it does so in the array itself, and no
    dependence is turned round, whichever repetition of a read is looked at.

    Then (1) to (4) hold, and nothing of the new program's flow has to be computed: with each repetition by itself, the
    program is an order of the original one. False says nothing. Where updates of a cell may change places, (1) holds
    but for their own cells (`commuting.py`): all other reads see the same values.
    math: theta = order . c^-1 is a function on the writing instances, and theta(x) < theta(y) for every dependence
    """
    if any(out_name(relation) != array and not relation.is_empty() for relation in maps(after.all)):
        return False
    instances = after.all.domain()
    if not _runs_once(program, now, after.all_writes.domain(), original.accesses.all_writes.domain()):
        return False
    if not now.contraction.intersect_domain(instances).range().is_subset(original.accesses.all.domain()):
        return False
    if _ordered(program, now, instances, original.dependences):
        return True
    return original.commuting is not None and _ordered(program, now, instances, original.commuting)


def _renamed(program: Program, now: Expanded, array: str, original: Original, after: Accesses) -> bool:
    """The same, for an array that is in registers for a while, see `renamed.py`."""
    mine = [b for b in program.buffers.values() if b.array == array]
    if not now.listed or not any(b.storage == "register" or _is_panel(program, b) for b in mine):
        return False
    copying = empty_map(after.all).domain()
    for run in now.runs:
        if run.statement in program.copies:
            copying = copying.union(isl.UnionSet.from_set(run.instances))
    if not _in_order(program, now, original, after.all.domain().subtract(copying)):
        return False
    nothing = empty_map(after.all)
    final = original.final if array in program.scop.live_out else nothing
    return keeps_values(program, now, array, original.flow, final, original.accesses.writes)


def _is_panel(program: Program, buffer: Buffer) -> bool:
    """Whether a buffer with another order holds copies; one whose order alone is another is like any buffer.

    In a text, buffers do not say who uses them.
    """
    copied = not buffer.accesses or any(name in program.copies for name, _ in buffer.accesses)
    return bool(buffer.order) and copied


def _in_order(program: Program, now: Expanded, original: Original, instances: isl.UnionSet) -> bool:
    """Whether all that uses the array runs once, and no dependence is turned round."""
    every = original.accesses.all.domain()
    return _runs_once(program, now, instances, every) and _ordered(program, now, instances, original.dependences)


def _runs_once(program: Program, now: Expanded, instances: isl.UnionSet, every: isl.UnionSet) -> bool:
    """Whether some of the new instances are these of the region, each of them once."""
    known = program.scop.known
    once = now.contraction.intersect_domain(instances).intersect_params(known)
    return bool(once.range().is_equal(every.intersect_params(known)) and once.is_injective())


def _ordered(program: Program, now: Expanded, instances: isl.UnionSet, dependences: isl.UnionMap) -> bool:
    """Whether no dependence is turned round."""
    known = program.scop.known
    time = now.contraction.intersect_domain(instances).intersect_params(known).reverse().apply_range(now.order)
    ordered = dependences.intersect_params(known).apply_domain(time).apply_range(time)
    return all(pairs.is_subset(isl.Map.lex_lt(pairs.get_space().domain())) for pairs in maps(ordered))


def accesses_to(now: Expanded, arrays: set[str]) -> Accesses:
    """The accesses to some arrays and buffers."""
    index = by_cells(now)
    found = [index[name] for name in sorted(arrays & index.keys())]
    nothing = empty_map(now.accesses.reads)
    return Accesses(
        union_of((m for one in found for m in one[AccessKind.READ]), nothing),
        union_of((m for one in found for m in one[AccessKind.WRITE]), nothing),
        union_of((m for one in found for m in one[AccessKind.MAY_WRITE]), nothing),
    )


@lru_cache(maxsize=4)
def by_cells(now: Expanded) -> dict[str, dict[AccessKind, list[isl.Map]]]:
    """All accesses by the array or buffer that they go to: to look for them there each time takes the square."""
    found: dict[str, dict[AccessKind, list[isl.Map]]] = {}
    kinds = (
        (AccessKind.READ, now.accesses.reads),
        (AccessKind.WRITE, now.accesses.writes),
        (AccessKind.MAY_WRITE, now.accesses.may_writes),
    )
    for kind, accesses in kinds:
        for piece in maps(accesses):
            found.setdefault(out_name(piece), {k: [] for k in AccessKind})[kind].append(piece)
    return found


def _contracted_access(now: Expanded, relation: isl.UnionMap) -> isl.UnionMap:
    return relation.apply_domain(now.contraction)


def _seen_through_copies(program: Program, now: Expanded, flow: Flow) -> Flow:
    """Replace `writer -> copy -> reader` by `writer -> reader`, and `cell -> copy -> reader` by `cell -> reader`.

    A copy moves one cell, so what it writes is what it read. Its own reads are then dropped.
    """
    if not program.copies:
        return flow
    copying = empty_map(flow.dependence).domain()
    for run in now.runs:
        if run.statement in program.copies:
            copying = copying.union(isl.UnionSet.from_set(run.instances))
    dependence, live_in = flow.dependence, flow.live_in
    for _ in range(MOST_COPIES):
        through = dependence.intersect_domain(copying)
        if through.is_empty():
            break
        into = dependence.intersect_range(copying)
        live_in = live_in.union(through.reverse().apply_range(live_in.intersect_domain(copying)))
        dependence = dependence.subtract_domain(copying).union(into.apply_range(through))
    return Flow(dependence.subtract_range(copying), live_in.subtract_domain(copying))


def _final_writers(program: Program, now: Expanded, array: str, in_array: Accesses, flow: Flow) -> isl.UnionMap:
    """Last writers of the array itself; a copy-out stands for the writer of the value that it copies.

    `flow`: through the array and its buffers, copies not yet looked through. The value may have come through several
    copies. One that was in the cell before the region leaves it as it was; what was in a buffer before is no value, and
    its copy stays, unless the array has no values before the region either.
    """
    final = last_writers(in_array, now.order)
    resolved = empty_map(final)
    copies_of_nothing = reaching(flow.live_in, {b.key for b in program.buffers.values()}).domain()
    for _ in range(MOST_COPIES + 1):
        copied = empty_map(final)
        for piece in maps(final):
            one = isl.UnionMap.from_map(piece)
            if any(name in program.copies for name in names(one.domain().apply(now.contraction))):
                copied = copied.union(one)
            else:
                resolved = resolved.union(one)
        if copied.is_empty():
            break
        if array not in program.scop.unset:
            resolved = resolved.union(copied.intersect_domain(copies_of_nothing))
        final = flow.dependence.intersect_range(copied.domain()).apply_range(copied)
    else:
        resolved = resolved.union(final)
    return resolved.apply_domain(now.contraction)


def _lost_cells(program: Program, array: str, before: Accesses, after: Accesses) -> list[Fault]:
    """Live-out cells that the original writes and nobody writes now."""
    then, seen = before.all_writes.range(), after.all_writes.range()
    lost = then.intersect_params(program.scop.known).subtract(seen)
    if lost.is_empty():
        return []
    return [Fault("live-out", f"cells of {array} are not written any more", _sample_set(lost))]


def _reordered(program: Program, now: Expanded, original: Original, after: Accesses, array: str) -> list[Fault]:
    """Check (4): pairs of writers, one of them only possible, that write one cell in another order now."""
    nothing, written = empty_map(after.reads), original.accesses.all_writes
    then = compute_false(Accesses(nothing, nothing, written), original.order, True)
    pairs = compute_false(Accesses(nothing, nothing, after.all_writes), now.order, True)
    broken = pairs.apply_domain(now.contraction).apply_range(now.contraction).intersect(then.reverse())
    broken = broken.intersect_params(program.scop.known)
    if array not in program.scop.live_out:  # by (1), a read has the same possible writers: the last of them counts
        seen = original.flow.dependence
        broken = broken.intersect(seen.apply_range(seen.reverse()))
    if broken.is_empty():
        return []
    return [Fault("order", f"writes of {array} that may happen changed their order", _sample(broken))]


def buffer_faults(program: Program, now: Expanded) -> list[Fault]:
    """Check (5)."""
    faults: list[Fault] = []
    touched: dict[str, list[isl.Map]] = {}
    for relation in maps(now.accesses.all):
        touched.setdefault(out_name(relation), []).append(relation)
    for buffer in program.buffers.values():
        if buffer.corner is None or buffer.key not in touched:
            continue
        place, box = place_in_buffer(buffer), _box_of(buffer)
        for cells in touched[buffer.key]:
            piece = at_sizes(cells, program.scop.known).apply_range(place)
            outside = piece.subtract_range(box)
            if not outside.is_empty():
                faults.append(Fault("buffer-bounds", f"{buffer.name} is too small", str(outside.sample())))
    return faults


def _box_of(buffer: Buffer) -> isl.Set:
    """`{ buffer[x] : 0 <= x < extents }`, without the upper bound where the buffer is circular."""
    space = place_in_buffer(buffer).get_space().range()
    box = isl.Set.universe(space)
    for position, extent in enumerate(buffer.extents):
        if position == buffer.window:
            box = box.lower_bound_val(isl.dim_type.set, position, isl.Val.zero(space.get_ctx()))
        else:
            box = box.intersect(below(space, position, extent))
    return box


def below(space: isl.Space, position: int, extent: isl.PwAff) -> isl.Set:
    """`{ buffer[x] : 0 <= x[position] < extent }`."""
    local = isl.LocalSpace.from_space(space)
    value = isl.PwAff.from_aff(isl.Aff.var_on_domain(local, isl.dim_type.set, position))
    universe = isl.Set.universe(space)
    limit = extent.insert_domain(space) if extent.dim(isl.dim_type.in_) == 0 else extent
    zero = isl.PwAff.val_on_domain(universe, isl.Val.zero(space.get_ctx()))
    return value.ge_set(zero).intersect(value.lt_set(limit))


def _difference(program: Program, kind: str, what: str, expected: isl.UnionMap, found: isl.UnionMap) -> list[Fault]:
    known = program.scop.known
    expected, found = expected.intersect_params(known), found.intersect_params(known)
    missing, extra = expected.subtract(found), found.subtract(expected)
    faults = []
    if not missing.is_empty():
        faults.append(Fault(kind, f"{what}: a value is not seen any more", _sample(missing)))
    if not extra.is_empty():
        faults.append(Fault(kind, f"{what}: another value is seen", _sample(extra)))
    return faults


def _sample(relation: isl.UnionMap) -> str:
    piece = maps(relation)[0]
    return str(piece.sample())


def _sample_set(union: isl.UnionSet) -> str:
    return str(union.sample_point())
