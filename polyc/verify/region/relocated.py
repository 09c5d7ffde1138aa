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

from polyc.analysis.dependences import accesses_of
from polyc.model import ctree as c
from polyc.model.fault import Fault
from polyc.model.program import Program, Relocation
from polyc.model.scop import Access, AccessKind, Scop, Statement, Storage
from polyc.model.tree import Sequence
from polyc.poly import equal_at, out_name
from polyc.records import dataclass, fields, replace
from polyc.verify.region.handed import Values, cells_of, domains_of
from polyc.verify.region.wellformed import scop_faults

KIND = "relocation"


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
    gone = domains_of(before, step.dropped)
    kept = before.domain.subtract(gone)
    every = kept.union(domains_of(after, step.added))
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
        inside = touched if place in scop.arrays else isl.UnionSet.from_set(cells_of(other, relation.range()))
        if not isl.UnionMap.from_map(relation).subtract_range(inside).is_empty():
            yield Fault(KIND, f"{move.statement} touches cells of {place} that nobody touched", "")
    for name in sorted(_involved(step)):
        writers = [s for s in scop.statements.values() if any(a.array == name and _writes(a) for a in s.accesses)]
        if any(sum(_writes(a) for a in s.accesses) != 1 for s in writers):
            yield Fault(KIND, f"a statement that writes {name} writes something else as well", "")
        if any(a.kind is AccessKind.MAY_WRITE for s in writers for a in s.accesses):
            yield Fault(KIND, f"whether {name} is written depends on data", "")


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
    return read.array == write.array and equal_at(read.relation, write.relation, known)


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
        elif then.relation is not found.relation and not equal_at(then.relation, found.relation, step.before.known):
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


# --- (5) -------------------------------------------------------------------------------------------------------------


def _flow_faults(step: Relocation) -> Iterator[Fault]:
    known, arrays = step.before.known, _involved(step)
    then = Values.of(step.before, arrays).without(step.before, step.dropped)
    now = Values.of(step.after, arrays).without(step.after, step.added)
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


__all__ = ["KIND", "relocation_faults"]
