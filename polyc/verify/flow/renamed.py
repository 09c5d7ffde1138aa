"""Arrays whose cells lie in registers for a while: their dataflow, shown without computing it anew.

A register buffer gives a cell x of the array a second place K(x), in one iteration p(x) of the loops around the buffer.
math: nothing is lost, and every read sees what it saw, if
        (1) each instance runs once, and no dependence of the original is turned round;
        (2) p is a function: the cells K[p, x] have different x;
        (3) copies into K(x) come before, and copies out of it after all else that uses K(x): in the sequence right
            below p; what uses the array itself lies before or after all of these, never between them; or, with (8), in
            iteration p, where it uses no cell x that has a K(x);
        (4) what uses K reads only what was written there, or it is copied in;
        (5) what is written in K and needed elsewhere, or in the end, is copied out;
        (6) what is copied out was written in K, or copied in;
        (7) panels, which only hold copies of the array for readers, are filled before they are read
            (`filled.py`), and no loop lies around both a writer of the array and a copy, so that all writes come first;
            or in each iteration of the loops around a panel nobody writes to the array what the panel holds.
            For an array that has panels and no register buffer, (1) and (7) are all.
      By (3), K(x) is the array's cell under another name in one span of time, in which nobody uses the cell itself.
      Where a cell has several such spans, (2) and (4) to (6) give way to
        (8) in each iteration p: all cells that are used in K are copied in, all that are written are copied out, and
            none that was not copied in. Between the spans the array holds every value.
      An array that is in no memory, but in a buffer T of the tiles around all of this, is no other case:
        (9) all that is not in K, and not in a panel, is in T; nothing is needed afterwards or comes from before; and
            the cells T[o, x] have different x. So all that uses x runs in one tile o, and T[o, x] is what x is called.
      What this cannot show is left to the general check: False says nothing.
"""

from __future__ import annotations

import islpy as isl

from polyc.analysis.expand import Expanded, through_buffer
from polyc.analysis.order import Run, parting
from polyc.flow import Flow
from polyc.model.program import Buffer, Program
from polyc.model.scop import Access, AccessKind
from polyc.model.tree import Member, Step
from polyc.poly import empty_map, empty_set, out_name
from polyc.records import dataclass, field
from polyc.verify.flow.filled import Made, earlier, filled, uses_of

Uses = list[tuple[Run, isl.Map]]


@dataclass(slots=True)
class _Users:
    """Who uses an array: itself, its register buffer, its panels."""

    direct: Uses = field(default_factory=list)
    """Copies of panels and of other register buffers are among them: what they move is in the array meanwhile."""
    direct_writers: Uses = field(default_factory=list)
    """Copies out of registers are among them."""
    kept: Uses = field(default_factory=list)
    """All that touches the register buffer but copies."""
    kept_writes: Uses = field(default_factory=list)
    """Those of them that write."""
    into: Uses = field(default_factory=list)
    out: Uses = field(default_factory=list)
    panel_reads: Uses = field(default_factory=list)
    panel_copies: Uses = field(default_factory=list)


def keeps_values(
    program: Program, now: Expanded, array: str, flow: Flow, final: isl.UnionMap, written: isl.UnionMap
) -> bool:
    """Conditions (2) to (7) for an array, of which (1) is known.

    flow, final: the original's, `final` of live-out cells; written: its must-writes, `{ S[i] -> A[x] }`.
    """
    buffers = [b for b in program.buffers.values() if b.array == array]
    home = next((b for b in buffers if b.storage == "tile" and not b.order), None)
    if home is not None:
        if not final.is_empty() or not flow.live_in.is_empty() or not _is_home(now, array, home):
            return False
        buffers.remove(home)
    written_in = {out_name(m) for run, a, m in uses_of(now, array) if _makes(program, run, a)}
    registers = [b for b in buffers if b.storage == "register" or b.key in written_in]
    panels = {b.key for b in buffers if b.order} - {b.key for b in registers}
    if any(b.storage != "register" and not b.order for b in buffers):
        return False
    keys = {b.key for b in registers}
    if not registers:
        alone = _users(program, now, array, "", panels, keys, home)
        return alone is not None and bool(panels) and _panels_hold_it(program, alone)
    by_key = {b.key: _users(program, now, array, b.key, panels, keys, home) for b in registers}
    if any(users is None for users in by_key.values()):
        return False
    known = [(b, users) for b in registers if (users := by_key[b.key]) is not None]
    if all(_copied_each_time(program, users) for _, users in known):
        return all(_in_one_span(program, users, b, True) and _panels_hold_it(program, users) for b, users in known)
    if len(known) > 1:
        return False
    (buffer, users) = known[0]
    return (
        _one_place_a_cell(users, buffer)
        and _in_one_span(program, users, buffer, False)
        and _copied(program, array, users, flow, final, written)
        and _panels_hold_it(program, users)
    )


def _is_home(now: Expanded, array: str, home: Buffer) -> bool:
    """(9), but for what is in another buffer of the array."""
    cells: isl.Set | None = None
    for _, _, relation in uses_of(now, array):
        if out_name(relation) == array:
            return False
        if out_name(relation) == home.key:
            one = relation.range()
            cells = one if cells is None else cells.union(one)
    return cells is not None and _are_different(cells, home)


def _are_different(cells: isl.Set, buffer: Buffer) -> bool:
    """Whether cells `K[p, x]` of a buffer have different x."""
    whole = isl.Map.identity(cells.get_space().map_from_set()).intersect_domain(cells)
    return bool(whole.project_out(isl.dim_type.out, 0, buffer.depth).is_injective())


def _in_array(relation: isl.Map, array: str, buffer: Buffer) -> isl.Map:
    """`{ S[i] -> K[p, x] }` as `{ S[i] -> A[x] }`."""
    name = isl.Id.read_from_str(relation.get_ctx(), array)
    return relation.project_out(isl.dim_type.out, 0, buffer.depth).set_tuple_id(isl.dim_type.out, name)


def _makes(program: Program, run: Run, access: Access) -> bool:
    return access.kind is not AccessKind.READ and run.statement not in program.copies


def _copied_each_time(program: Program, users: _Users) -> bool:
    """(8)."""
    known = program.scop.known
    used, into, out = (_cells(program, uses) for uses in (users.kept, users.into, users.out))
    written = _cells(program, users.kept_writes)
    if not used.is_subset(into) or not written.is_subset(out):
        return False
    return bool(out.intersect_params(known).is_subset(into))


def _cells(program: Program, uses: Uses) -> isl.UnionSet:
    """The cells `K[p, x]` that are used."""
    found = empty_set(program.scop.domain)
    for _, relation in uses:
        found = found.union(isl.UnionSet.from_set(relation.range()))
    return found.intersect_params(program.scop.known)


def _users(
    program: Program,
    now: Expanded,
    array: str,
    key: str,
    panels: set[str],
    registers: set[str],
    home: Buffer | None,
) -> _Users | None:
    """What has to do with one of the register buffers, and with the array itself, or with the buffer that it is in."""
    found = _Users()
    for run, accesses in now.per_run:
        mine = [(a, m) for a, m in accesses if a.array == array]
        copying = run.statement in program.copies
        for access, relation in mine:
            place, writes = out_name(relation), access.kind is not AccessKind.READ
            if access.kind is AccessKind.MAY_WRITE:
                return None
            if place == key:
                (found.kept if not copying else found.into if writes else found.out).append((run, relation))
                if writes and not copying:
                    found.kept_writes.append((run, relation))
            elif place in panels:
                if writes and not copying:
                    return None
                (found.panel_copies if writes else found.panel_reads).append((run, relation))
            elif place in registers:
                pass  # copies move its values, and these touch the array
            elif home is not None and place == home.key:
                found.direct.append((run, _in_array(relation, array, home)))
                if writes:
                    found.direct_writers.append(found.direct[-1])
            elif place != array:
                return None
            else:
                found.direct.append((run, relation))
                if writes:
                    found.direct_writers.append((run, relation))
    own = {id(run) for run, _ in (*found.into, *found.out)}
    found.direct = [(run, relation) for run, relation in found.direct if id(run) not in own]
    return found


def _one_place_a_cell(users: _Users, buffer: Buffer) -> bool:
    """(2): `K[p, x] -> x` is injective."""
    for uses in (users.kept, users.into, users.out):
        for _, relation in uses:
            if relation.dim(isl.dim_type.out) < buffer.depth:
                return False
    cells: isl.Set | None = None
    for _, relation in (*users.kept, *users.into, *users.out):
        one = relation.range()
        cells = one if cells is None else cells.union(one)
    return cells is not None and _are_different(cells, buffer)


def _in_one_span(program: Program, users: _Users, buffer: Buffer, copied: bool) -> bool:
    """(3), by positions in the tree: two instances that touch one K[p, x] agree in all loops of p.

    copied: by (8), so that what is read of the array itself is there
    """
    inner = [*users.kept, *users.into, *users.out]
    for run, _ in users.into:
        for other, _ in (*users.kept, *users.out):
            if not _comes_before(run, other, buffer.depth):
                return False
    for run, _ in users.out:
        for other, _ in users.kept:
            if not _comes_before(other, run, buffer.depth):
                return False
    direct = users.direct
    if copied:
        direct = [(run, cells) for run, cells in direct if not _uses_others(program, run, cells, inner, buffer)]
    for inside, _ in inner if direct else ():
        declared = [
            steps
            for mark, steps in zip(inside.path.marks, inside.path.mark_steps, strict=True)
            if buffer.key in mark.names
        ]
        if not declared or any(not _stays_outside(run, inside, inner, declared[0]) for run, _ in direct):
            return False
    return True


def _uses_others(program: Program, run: Run, cells: isl.Map, inner: Uses, buffer: Buffer) -> bool:
    """Whether a run below the declaration of a register buffer touches only other cells of the array itself."""
    if not any(buffer.key in mark.names for mark in run.path.marks):
        return False
    known = program.scop.known
    touched = through_buffer(cells, run, buffer).range().intersect_params(known)
    return all(touched.is_disjoint(relation.range()) for _, relation in inner)


def _stays_outside(outside: Run, inside: Run, inner: Uses, declared: int) -> bool:
    """Whether a run parts from those in the registers above their declaration; or in the sequence right below it, and
    there before all of them, or after all."""
    at = parting(outside.path, inside.path)
    if at is None or at > declared:
        return False
    if at < declared:
        return True
    steps = [run.path.steps[at] if len(run.path.steps) > at else None for run, _ in inner]
    own = outside.path.steps[at]
    places = [step.index for step in steps if isinstance(step, Step)]
    if len(places) < len(steps) or not isinstance(own, Step):
        return False
    return own.index < min(places) or own.index > max(places)


def _comes_before(one: Run, two: Run, depth: int) -> bool:
    """Whether one is a step before the other in a sequence with at most `depth` loops around it."""
    at = parting(one.path, two.path)
    if at is None or sum(isinstance(s, Member) for s in one.path.steps[:at]) > depth:
        return False
    return earlier(one, two, at)


def _copied(
    program: Program, array: str, users: _Users, flow: Flow, final: isl.UnionMap, written: isl.UnionMap
) -> bool:
    """(4) to (6), on the original's flow."""
    known = program.scop.known
    nothing = empty_set(program.scop.domain)
    inside = nothing
    for run, _ in users.kept:
        inside = inside.union(isl.UnionSet.from_set(run.instances.apply(run.contraction)))
    into, out = (_array_cells(program, uses) for uses in (users.into, users.out))
    in_registers = _access(program, users.kept, array)
    # (4) Values from elsewhere, by the cells in which they come.
    readers = flow.dependence.intersect_range(inside).subtract_domain(inside).range()
    first = flow.live_in.intersect_domain(inside).range()
    foreign = in_registers.intersect_domain(readers).range().union(first).intersect_params(known)
    if not foreign.is_subset(into):
        return False
    # (5) Values that others see, and those that stay.
    needed = flow.dependence.intersect_domain(inside).subtract_range(inside).domain()
    leaving = written.intersect_domain(needed).range().union(final.intersect_domain(inside).range())
    if not leaving.intersect_params(known).is_subset(out):
        return False
    # (6)
    made = written.intersect_domain(inside).range().union(into)
    return bool(out.intersect_params(known).is_subset(made))


def _array_cells(program: Program, uses: Uses) -> isl.UnionSet:
    """The cells `A[x]` that copies move."""
    found = empty_set(program.scop.domain)
    for run, _ in uses:
        there = run.instances.apply(run.contraction)
        found = found.union(isl.UnionSet.from_set(there.apply(program.statements[run.statement].accesses[0].relation)))
    return found


def _access(program: Program, uses: Uses, array: str) -> isl.UnionMap:
    """`{ S[i] -> A[x] }` of what uses the registers."""
    found = empty_map(program.scop.domain)
    for run, _ in uses:
        for access in program.statements[run.statement].accesses:
            if access.array == array:
                found = found.union(isl.UnionMap.from_map(access.relation))
    return found


def _panels_hold_it(program: Program, users: _Users) -> bool:
    """(7)."""
    if not users.panel_reads:
        return True
    writers_first = all(
        _comes_before(writer, copy, 0) for copy, _ in users.panel_copies for writer, _ in users.direct_writers
    )
    if not writers_first and not _undisturbed(program, users):
        return False
    known = program.scop.known
    copied = Made(users.panel_copies)
    return all(filled(run, cells.intersect_params(known), copied) for run, cells in users.panel_reads)


def _undisturbed(program: Program, users: _Users) -> bool:
    """The other half of (7): a panel holds nothing that is written in its own iteration of the loops around it."""
    for _, relation in users.panel_copies:
        buffer = program.buffers[out_name(relation)]
        held = isl.UnionSet.from_set(relation.range()).intersect_params(program.scop.known)
        for run, written in users.direct_writers:
            inside = any(buffer.key in mark.names for mark in run.path.marks if mark.kind == "allocate")
            if inside and not held.is_disjoint(isl.UnionSet.from_set(through_buffer(written, run, buffer).range())):
                return False
    return True
