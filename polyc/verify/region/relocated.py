"""Does the region whose temporaries live where their results go compute what the region before computes?

Nothing is taken from the pass but what it says: which cell stands for the temporary in each statement, M, and which
statements are no more.

math: let S' be a statement of the new region, S the one of the region before, D the statements that are no more, N
      those that the region before did not have.
      Shown is that
        (1) the text of S' is that of S, with a reference to the place instead of each to the temporary, and S' touches
            what S touches, and M instead of the temporary; both have elements of one type, so that nothing is rounded
            otherwise,
        (2) M is a function on all instances of S, into cells that the region before touches, or into a new array,
        (3) an instance of D stores in one cell what it reads of another, of which M makes the same cell,
        (4) the other instances are those of before, in the same order; an instance of N runs after all of them, and
            stores in a cell of a temporary what it reads of a cell of a new array, of the same type,
        (5) each reference sees the value of the same instance, or the same cell from before the region, and each
            live-out cell has the same last writer: all with the copies of D looked through in the region before, and
            those of N in the new one. A copy of a cell's own first value is none.
      By induction over the flow, (1) and (5) give equal values; every statement in question writes one cell only, so
      that an instance and its value are the same thing. A temporary that is needed after the region is one of the
      live-out cells of (5).
"""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl

from polyc.analysis.dependences import accesses_of, last_writers
from polyc.analysis.order import order_map, runs
from polyc.flow import compute_flow
from polyc.model import ctree as c
from polyc.model.fault import Fault
from polyc.model.program import Program, Relocation
from polyc.model.scop import Access, AccessKind, Array, Scop, Statement, Storage
from polyc.model.tree import Sequence
from polyc.poly import empty_map, empty_set, out_name
from polyc.records import dataclass, fields, replace
from polyc.verify.flow.dataflow import below
from polyc.verify.region.wellformed import scop_faults

KIND = "relocation"
MOST_COPIES = 3
"""Copies from one cell to the next that are looked through: out of a cell, and back into it."""


def relocation_faults(program: Program, step: Relocation) -> list[Fault]:
    """What is wrong with the step to the region of which the program is an order."""
    faults = list(_form_faults(step))
    return faults or [*_flow_faults(step), *scop_faults(program.scop, step.after)]


# --- (1) to (4) ------------------------------------------------------------------------------------------------------


def _form_faults(step: Relocation) -> Iterator[Fault]:
    before, after = step.before, step.after
    for one in fields(Scop):
        kept = getattr(before, one.name) is getattr(after, one.name)
        if one.name not in ("statements", "tree", "arrays") and not kept:
            yield Fault(KIND, f"moving temporaries changed the region's {one.name}", "")
    moved = {(move.statement, move.array) for move in step.moves}
    lost = set(before.statements) - set(after.statements)
    added = set(after.statements) - set(before.statements)
    if lost != set(step.dropped) or added != set(step.added) or len(moved) != len(step.moves):
        yield Fault(KIND, "moving temporaries lost or added other statements than those that it names", "")
        return
    yield from _order_faults(step)
    for name, array in before.arrays.items():
        if after.arrays.get(name) is not array:
            yield Fault(KIND, f"moving temporaries changed {name}", "")
    yield from _made_faults(step)
    yield from _place_faults(step)
    for name, own in before.statements.items():
        places = _places(step, name)
        wanted = tuple(_moved(access, places) for access in own.accesses)
        if name in step.dropped:
            if not _is_copy_to_itself(own, wanted, before.known):
                yield Fault(KIND, f"{own.name} does more than to copy a cell to itself", own.text)
        elif places:
            yield from _statement_faults(step, own, after.statements[name], wanted)
        elif after.statements[name] is not own:
            yield Fault(KIND, f"{own.name} was changed, and has no temporary", own.text)


def _order_faults(step: Relocation) -> Iterator[Fault]:
    """(4)."""
    before, after = step.before, step.after
    gone = _domains(before, step.dropped)
    kept = before.domain.subtract(gone)
    every = kept.union(_domains(after, step.added))
    child = after.tree.child
    if step.added:
        first = child.children[0] if isinstance(child, Sequence) else None
        if first is None or not first.filter.is_equal(kept):
            yield Fault(KIND, "what moving temporaries added does not run after all others", "")
            return
        child = first.child
    if child is not before.tree.child or not after.domain.is_equal(every):
        yield Fault(KIND, "moving temporaries changed the order", "")
    made = after.arrays.keys() - before.arrays.keys()
    temporaries = {move.array for move in step.moves}
    for name in step.added:
        own = after.statements[name]
        plain = own.name == name and not own.values and len(own.loops) == own.domain.dim(isl.dim_type.set)
        names_element = _Text(after, {}).is_element
        if (
            not plain
            or not _is_copy(own)
            or not all(names_element(n) for n in c.walk(own.body) if isinstance(n, c.ArrayRef))
        ):
            yield Fault(KIND, f"{name} is new, and does more than to copy a cell", own.text)
            continue
        read, write = own.accesses
        if read.array not in made or write.array not in temporaries:
            yield Fault(KIND, f"{name} does not copy a value of a new array back", own.text)
        elif after.arrays[read.array].element != before.arrays[write.array].element:
            yield Fault(KIND, f"{name} copies to elements of another type", own.text)
        elif before.arrays[write.array].constant:
            yield Fault(KIND, f"{name} writes what is constant", own.text)
        elif not _stays_in(own, after, before):
            yield Fault(KIND, f"{name} touches cells that nobody touched", own.text)


def _domains(scop: Scop, statements: tuple[str, ...]) -> isl.UnionSet:
    found = empty_set(scop.domain)
    for name in statements:
        found = found.union(isl.UnionSet.from_set(scop.statements[name].domain))
    return found


def _stays_in(copy: Statement, after: Scop, before: Scop) -> bool:
    """Whether a copy reads and writes, for each of its instances, a cell that another statement writes."""
    for access in copy.accesses:
        where = after if access.kind is AccessKind.READ else before
        written = accesses_of(where, frozenset([access.array])).all_writes.intersect_params(before.known)
        own = access.relation.intersect_params(before.known)
        missing = copy.domain.intersect_params(before.known).subtract(own.domain())
        if not missing.is_empty() or not own.is_single_valued():
            return False
        if not isl.UnionMap.from_map(own).subtract_range(written.range()).is_empty():
            return False
    return True


def _made_faults(step: Relocation) -> Iterator[Fault]:
    """New arrays: nobody else knows of them, and what comes after the region does not either."""
    scop = step.before
    for name, array in step.after.arrays.items():
        if name in scop.arrays:
            continue
        clash = {name, array.c_name} & (scop.used_names | scop.arrays.keys() | {p.name for p in scop.parameters})
        if name != array.name or array.c_name != name or clash:
            yield Fault(KIND, f"the name of the new array {name} is not new", "")
        known = name in scop.live_out | scop.privatizable | scop.unset
        if known or array.storage is not Storage.REGION or array.constant or any(e is None for e in array.extents):
            yield Fault(KIND, f"the new array {name} does not belong to the region alone", "")


def _place_faults(step: Relocation) -> Iterator[Fault]:
    """(2), and what holds for all that is read or written there."""
    scop, arrays = step.before, step.after.arrays
    touched = accesses_of(scop).all.range().intersect_params(scop.known)
    for move in step.moves:
        statement, place = scop.statements.get(move.statement), out_name(move.relation)
        if statement is None or statement.opaque or move.array not in scop.arrays or place not in arrays:
            yield Fault(KIND, f"{move.statement} has no temporary {move.array} that can live in {place}", "")
            return
        if not all(a.exact for a in statement.accesses if a.array == move.array):
            yield Fault(KIND, f"what {move.statement} touches of {move.array} depends on data", statement.text)
        one, other = arrays[move.array], arrays[place]
        if one.element != other.element or one.element.kind not in ("int", "float") or other.constant:
            yield Fault(KIND, f"{place} has other elements than {move.array}", "")
        if place in scop.privatizable:
            yield Fault(KIND, f"{place} is needed only inside of each iteration", "")
        relation = move.relation.intersect_params(scop.known)
        if not relation.is_single_valued():
            yield Fault(KIND, f"{move.statement} has several cells for {move.array}", str(relation.sample()))
        missing = statement.domain.intersect_params(scop.known).subtract(relation.domain())
        if not missing.is_empty():
            yield Fault(KIND, f"{move.statement} has no cell for {move.array}", str(missing.sample_point()))
        inside = touched if place in scop.arrays else isl.UnionSet.from_set(_cells(other, relation.range()))
        if not isl.UnionMap.from_map(relation).subtract_range(inside).is_empty():
            yield Fault(KIND, f"{move.statement} touches cells of {place} that nobody touched", "")
    for name in sorted(_involved(step)):
        writers = [s for s in scop.statements.values() if any(a.array == name and _writes(a) for a in s.accesses)]
        if any(sum(_writes(a) for a in s.accesses) != 1 for s in writers):
            yield Fault(KIND, f"a statement that writes {name} writes something else as well", "")
        if any(a.kind is AccessKind.MAY_WRITE for s in writers for a in s.accesses):
            yield Fault(KIND, f"whether {name} is written depends on data", "")


def _cells(array: Array, like: isl.Set) -> isl.Set:
    """All elements of a new array."""
    space = like.get_space()
    found = isl.Set.universe(space)
    for position, extent in enumerate(array.extents):
        if extent is not None:
            found = found.intersect(below(space, position, extent))
    return found


def _involved(step: Relocation) -> set[str]:
    return {move.array for move in step.moves} | {out_name(move.relation) for move in step.moves}


def _writes(access: Access) -> bool:
    return access.kind is not AccessKind.READ


def _places(step: Relocation, name: str) -> dict[str, isl.Map]:
    return {move.array: move.relation for move in step.moves if move.statement == name}


def _moved(access: Access, places: dict[str, isl.Map]) -> Access:
    """The access as it has to be after the step."""
    relation = places.get(access.array)
    return access if relation is None else replace(access, array=out_name(relation), relation=relation)


def _is_copy_to_itself(statement: Statement, wanted: tuple[Access, ...], known: isl.Set) -> bool:
    """(3)."""
    if not _is_copy(statement) or len(wanted) != 2:
        return False
    read, write = wanted
    return read.array == write.array and _equal(read.relation, write.relation, known)


def _is_copy(statement: Statement) -> bool:
    """Whether a statement stores in a cell what it reads of a cell, and does nothing else."""
    if len(statement.accesses) != 2 or statement.opaque:
        return False
    read, write = statement.accesses
    if (read.kind, write.kind) != (AccessKind.READ, AccessKind.WRITE) or not (read.exact and write.exact):
        return False
    match statement.body:
        case c.ExprStmt(expr=c.Assign(op="=", target=c.ArrayRef() as target, value=c.ArrayRef() as value)):
            labels = (target.ref, value.ref) == (write.ref, read.ref) and read.ref != write.ref
            return labels and [value.array, target.array] == [read.array, write.array]
        case _:
            return False


def _statement_faults(step: Relocation, own: Statement, now: Statement, wanted: tuple[Access, ...]) -> Iterator[Fault]:
    """(1)."""
    for one in fields(Statement):
        if one.name not in ("accesses", "body") and getattr(own, one.name) is not getattr(now, one.name):
            yield Fault(KIND, f"moving a temporary changed {one.name} of {own.name}", own.text)
    if len(wanted) != len(now.accesses):
        yield Fault(KIND, f"{own.name} has {len(now.accesses)} accesses, not {len(wanted)}", own.text)
        return
    for then, found in zip(wanted, now.accesses, strict=True):
        if (then.ref, then.array, then.kind, then.exact) != (found.ref, found.array, found.kind, found.exact):
            yield Fault(KIND, f"{own.name} touches {found.array} for {then.array}", own.text)
        elif then.relation is not found.relation and not _equal(then.relation, found.relation, step.before.known):
            yield Fault(KIND, f"{own.name} touches another element of {found.array}", str(found.relation.sample()))
    instead = {(a.array, a.ref): w.array for a, w in zip(own.accesses, wanted, strict=True) if a.array != w.array}
    if not _Text(step.after, instead).same(own.body, now.body):
        yield Fault(KIND, f"the text of {own.name} is not its own with other places", own.text)


@dataclass(frozen=True, slots=True)
class _Text:
    scop: Scop
    instead: dict[tuple[str, str], str]
    """A temporary and the label of a reference to it: the array that has to stand there."""

    def same(self, then: c.Node, now: c.Node) -> bool:
        if type(then) is not type(now):
            return False
        if isinstance(then, c.ArrayRef) and isinstance(now, c.ArrayRef) and (then.array, then.ref) in self.instead:
            place = self.instead[then.array, then.ref]
            whole = len(then.subscripts) == self.scop.arrays[then.array].rank
            return whole and (now.array, now.ref) == (place, then.ref) and self.is_element(now)
        for one in fields(then):
            if one.name == "span":
                continue
            a, b = getattr(then, one.name), getattr(now, one.name)
            if isinstance(a, tuple) and isinstance(b, tuple):
                if len(a) != len(b) or not all(self.same_item(x, y) for x, y in zip(a, b, strict=True)):
                    return False
            elif not self.same_item(a, b):
                return False
        return True

    def same_item(self, a: object, b: object) -> bool:
        if a is None or b is None or isinstance(a, str | bool | int):
            return a == b
        return self.same(a, b)  # type: ignore[arg-type]

    def is_element(self, ref: c.ArrayRef) -> bool:
        """Whether a reference names one element. Its subscripts are printed from the relation, and read nothing."""
        inside = [node for subscript in ref.subscripts for node in c.walk(subscript)]
        plain = not any(isinstance(node, c.ArrayRef | c.Call | c.Assign | c.Postfix) for node in inside)
        return plain and len(ref.subscripts) == self.scop.arrays[ref.array].rank


def _equal(one: isl.Map, other: isl.Map, known: isl.Set) -> bool:
    return bool(one.intersect_params(known).is_equal(other.intersect_params(known)))


# --- (5) -------------------------------------------------------------------------------------------------------------


def _flow_faults(step: Relocation) -> Iterator[Fault]:
    known, arrays = step.before.known, _involved(step)
    then = _Values.of(step.before, arrays).without(step.before, step.dropped)
    now = _Values.of(step.after, arrays).without(step.after, step.added)
    if then is None or now is None:
        yield Fault(KIND, "what is no more, or new, copies from cell to cell", "")
        return
    for what, a, b in (
        ("other values are read", then.flow, now.flow),
        ("other values from before the region are read", then.first, now.first),
        ("live-out cells have other last writers", then.final, now.final),
    ):
        left = a.intersect_params(known).subtract(b).union(b.intersect_params(known).subtract(a))
        if not left.is_empty():
            yield Fault(KIND, f"with temporaries in other places, {what}", str(left.sample()))


@dataclass(frozen=True, slots=True, eq=False)
class _Values:
    """What some arrays of a region hand on."""

    flow: isl.UnionMap
    """`{ S[i] -> [T[j] -> ref[]] }`: from the writer to the reader, and through which of its accesses."""
    first: isl.UnionMap
    """`{ [T[j] -> ref[]] -> A[x] }`: reads of what was there before."""
    final: isl.UnionMap
    """`{ S[i] -> A[x] }`: the last writers of what is needed afterwards."""

    @staticmethod
    def of(scop: Scop, arrays: set[str]) -> _Values:
        order = order_map(runs(scop.tree))
        every = accesses_of(scop, frozenset(arrays))
        reads, places = empty_map(every.reads), order
        for statement in scop.statements.values():
            for position, access in enumerate(statement.accesses):
                if access.array in arrays and access.kind is AccessKind.READ:
                    tagged = _tag(access, position).domain_map()
                    reads = reads.union(isl.UnionMap.from_map(tagged.apply_range(access.relation)))
                    places = places.union(isl.UnionMap.from_map(tagged).apply_range(order))
        found = compute_flow(replace(every, reads=reads), places)
        final = empty_map(every.reads)
        for name in sorted(arrays & scop.live_out):
            final = final.union(last_writers(accesses_of(scop, frozenset([name])), order))
        return _Values(found.dependence, found.live_in, final)

    def without(self, scop: Scop, names: tuple[str, ...]) -> _Values | None:
        """The same, with some statements that copy looked through; None where that has no end."""
        copies = _domains(scop, names)
        readers = self.flow.range().union(self.first.domain())
        of_copies = _labelled(readers, set(names))
        into = _unlabelled(self.flow.intersect_range(of_copies).reverse()).reverse()
        """`{ S[i] -> D[j] }`."""
        loaded = _unlabelled(self.first.intersect_domain(of_copies))
        """`{ D[j] -> A[x] }`: copies of what was there before."""
        flow, first, final, settled = self.flow, self.first, self.final, empty_map(self.final)
        for _ in range(MOST_COPIES):
            through, last = flow.intersect_domain(copies), final.intersect_domain(copies)
            first = first.union(through.reverse().apply_range(loaded))
            flow = flow.subtract_domain(copies).union(into.apply_range(through))
            # A cell that is left with the value that it had before has no last writer.
            settled = settled.union(last.subtract(loaded).intersect_domain(loaded.domain()))
            final = final.subtract_domain(copies).union(into.apply_range(last))
        if not (flow.intersect_domain(copies).is_empty() and final.intersect_domain(copies).is_empty()):
            return None
        return _Values(flow.subtract_range(of_copies), first.subtract_domain(of_copies), final.union(settled))


def _tag(access: Access, position: int) -> isl.Map:
    """`{ S[i] -> ref[] }`, by the position of the access in its statement."""
    domain = access.relation.domain()
    label = isl.Id.read_from_str(domain.get_ctx(), f"polyc_access_{position}")
    space = domain.get_space().params().add_named_tuple_id_ui(label, 0)
    return isl.Map.from_domain_and_range(domain, isl.Set.universe(space))


def _labelled(readers: isl.UnionSet, of: set[str]) -> isl.UnionSet:
    """Those `[T[j] -> ref[]]` whose T is one of some statements."""
    found = empty_set(readers)
    pieces = readers.get_set_list()
    for k in range(pieces.n_set()):
        piece = pieces.get_at(k)
        if piece.unwrap().get_tuple_name(isl.dim_type.in_) in of:
            found = found.union(isl.UnionSet.from_set(piece))
    return found


def _unlabelled(relation: isl.UnionMap) -> isl.UnionMap:
    """`{ [T[j] -> ref[]] -> x }` as `{ T[j] -> x }`."""
    return relation.apply_domain(relation.domain().unwrap().domain_map())


__all__ = ["KIND", "relocation_faults"]
