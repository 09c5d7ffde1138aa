"""Does the region with inlined producers compute what the region computes that the frontend read?

Nothing is taken from the pass but what it says (and `elementwise.py`, which both ask what an elementwise
statement is, and which type an expression has): which reference has which producer's expression in its place, and whose
value that is, M. Each use is a *virtual* instance of the producer, run right before the reader's instance, with a cell
of its own for what it writes; the reader reads that cell.

math: let C' be a reader, C the statement of the original, and P the producer. Shown is for each step that
        (1) the text of C' is that of C, with the value of P in the place of the reference, converted to the type of the
            array's elements; P's loop variables stand for what M says,
        (2) C' touches what C touches, and M . R for each read R of P,
        (3) P writes one element, and neither P nor C has another effect,
      and for all steps together that
        (4) the original with virtual instances in the place of P has its flow, first reads and last writers
            (`dataflow.py`). Where M is wrong, the virtual instance writes another cell than the reader reads; where an
            input was overwritten, it sees another value; where a reader remains, nobody writes for it.
      With (1) to (3) an instance of C' does what its virtual instances and C do, one after the other.

      Where data choose whose value is read, M has several instances for one of C, and there is a virtual one for each
      of them: (4) is shown for whatever is chosen. That C' evaluates the one whose cell C reads is a matter of text:
      for a loop of P it has the subscript of C's reference that has the loop's value in what P writes,
        (5) P writes each cell once, and all that C may read.
"""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl

from polyc.analysis.dependences import no_dependences
from polyc.analysis.expand import Expanded
from polyc.analysis.expressions.elementwise import (
    assigned,
    at_instances,
    elementwise,
    in_type,
    keeps_type,
    operand,
    replaceable,
)
from polyc.analysis.order import Run, order_length, runs
from polyc.flow import Accesses
from polyc.model import ctree as c
from polyc.model.fault import Fault
from polyc.model.program import Buffer, Inlining, Program, Use
from polyc.model.scop import Access, AccessKind, CType, Scop, Statement
from polyc.poly import empty_map, equal_at
from polyc.records import dataclass, field, fields, replace
from polyc.verify.flow.dataflow import dataflow_faults
from polyc.verify.region.wellformed import instance_faults, scop_faults

KIND = "inlining"


def inlining_faults(program: Program, original: Scop) -> list[Fault]:
    """What is wrong with the steps from the original to the region of which the program is an order."""
    states = {name: _State() for name in original.statements}
    scop = original
    for step in program.inlined:
        if step.before is not scop:
            return [Fault(KIND, f"{step.producer} was inlined into another region", "")]
        found = list(_step_faults(step))
        if found:
            return found
        _note(step, states)
        scop = step.after
    faults = scop_faults(program.scop, scop)
    if faults:
        return faults
    then = _original_program(program, original)
    now, cells = _expanded(original, scop, states)
    faults = instance_faults(then, now)
    return faults or dataflow_faults(replace(then, buffers=cells), now)


def _original_program(program: Program, original: Scop) -> Program:
    return Program(original, program.options, no_dependences(original), original.tree, dict(original.statements))


# --- (1) to (3): one step --------------------------------------------------------------------------------------------


def _step_faults(step: Inlining) -> Iterator[Fault]:
    before, after = step.before, step.after
    for one in fields(Scop):
        kept = getattr(before, one.name) is getattr(after, one.name)
        if one.name not in ("statements", "tree") and not kept:
            yield Fault(KIND, f"a step of inlining changed the region's {one.name}", "")
    producer = before.statements[step.producer]
    if elementwise(before, producer, scalars=True) is None:
        yield Fault(KIND, f"{step.producer} does more than to compute elements of an array", producer.text)
        return
    readers = {use.statement for use in step.uses}
    kept = step.producer in after.statements
    rest = set(before.statements) - (set() if kept else {step.producer})
    if set(after.statements) != rest or not readers <= rest - {step.producer}:
        yield Fault(KIND, f"inlining {step.producer} lost other statements, or kept it", "")
        return
    for name, statement in after.statements.items():
        own = before.statements[name]
        if name not in readers:
            if statement is not own:
                yield Fault(KIND, f"inlining {step.producer} changed {name}, which does not read it", statement.text)
            continue
        uses = [use for use in step.uses if use.statement == name]
        yield from _reader_faults(before, producer, own, statement, uses)


def _reader_faults(scop: Scop, producer: Statement, own: Statement, now: Statement, uses: list[Use]) -> Iterator[Fault]:
    by_ref = {use.ref: use for use in uses}
    same = all(getattr(own, f) is getattr(now, f) for f in ("name", "domain", "loops", "loop_types"))
    if not same or now.opaque != (own.opaque or producer.opaque) or len(by_ref) != len(uses):
        yield Fault(KIND, f"inlining changed the instances of {own.name}", own.text)
        return
    reads = {a.ref: a for a in own.accesses if a.kind is AccessKind.READ and a.ref in by_ref}
    (write,) = (a for a in producer.accesses if a.kind is not AccessKind.READ)
    for use in uses:
        access = reads.get(use.ref)
        fits = operand if use.chosen else replaceable
        if access is None or access.array != write.array or not fits(scop, own, access):
            yield Fault(KIND, f"{use.ref} in {own.name} is no reference that an expression can replace", own.text)
            return
        yield from _map_faults(scop, producer, access, use)
        if use.chosen:
            yield from _choice_faults(scop, producer, access, use)
    if not _fresh(own, producer, uses):
        yield Fault(KIND, f"names of what was inlined into {own.name} clash", own.text)
        return
    yield from _access_faults(scop, producer, own, now, by_ref)
    yield from _value_faults(scop, producer, own, now, uses)
    if not _Text(scop, producer, own, by_ref).same(own.body, now.body):
        yield Fault(KIND, f"the text of {own.name} is not its own with that of {producer.name} inside", own.text)


def _map_faults(scop: Scop, producer: Statement, access: Access, use: Use) -> Iterator[Fault]:
    m, known = use.instance, scop.known
    if not use.chosen and not m.is_single_valued():
        yield Fault(KIND, f"{use.statement} reads several values of {producer.name} at {use.ref}", str(m.sample()))
    missing = access.relation.domain().intersect_params(known).subtract(m.domain())
    if not missing.is_empty():
        witness = str(missing.sample_point())
        yield Fault(KIND, f"{use.statement} has no value of {producer.name} at {use.ref}", witness)
    foreign = m.intersect_params(known).subtract_range(producer.domain)
    if not foreign.is_empty():
        yield Fault(KIND, f"{producer.name} has no such instance", str(foreign.sample()))


def _choice_faults(scop: Scop, producer: Statement, access: Access, use: Use) -> Iterator[Fault]:
    """(5), and which subscripts are loops of P."""
    (write,) = (a.relation for a in producer.accesses if a.kind is not AccessKind.READ)
    if not write.is_injective():
        yield Fault(KIND, f"{producer.name} writes an element twice, of which data choose", str(write.sample()))
    cells = access.relation.intersect_params(scop.known)
    left = cells.subtract(use.instance.apply_range(write))
    if not left.is_empty():
        yield Fault(KIND, f"{use.statement} may read what {producer.name} does not write", str(left.sample()))
    for name, position in use.chosen:
        loop = producer.loops.index(name) if name in producer.loops else None
        if loop is None or not 0 <= position < write.dim(isl.dim_type.out):
            yield Fault(KIND, f"{name} is no loop of {producer.name} that a subscript can choose", "")
            continue
        other = write.subtract(write.equate(isl.dim_type.in_, loop, isl.dim_type.out, position))
        if not other.is_empty():
            yield Fault(KIND, f"{name} is not the subscript {position} of {producer.name}", str(other.sample()))


def _fresh(own: Statement, producer: Statement, uses: list[Use]) -> bool:
    """Whether all labels and names of what was put in are new and differ, and none is missing."""
    labels = [new for use in uses for _, new in use.labels]
    new_names = [new for use in uses for _, new in use.names]
    words = {n.name for n in c.walk(own.body) if isinstance(n, c.Name)} | {*own.loops, *(v.name for v in own.values)}
    taken = {a.ref for a in own.accesses}
    reads = {a.ref for a in producer.accesses if a.kind is AccessKind.READ}
    return (
        len(set(labels)) == len(labels)
        and len(set(new_names)) == len(new_names)
        and not taken & set(labels)
        and not words & set(new_names)
        and all({old for old, _ in use.labels} == reads for use in uses)
    )


def _access_faults(
    scop: Scop, producer: Statement, own: Statement, now: Statement, by_ref: dict[str, Use]
) -> Iterator[Fault]:
    """(2)."""
    wanted: list[Access] = []
    for access in own.accesses:
        use = by_ref.get(access.ref)
        if use is None:
            wanted.append(access)
            continue
        labels = dict(use.labels)
        wanted += [
            replace(at_instances(inner, use.instance), ref=labels[inner.ref])
            for inner in producer.accesses
            if inner.kind is AccessKind.READ
        ]
    if len(wanted) != len(now.accesses):
        yield Fault(KIND, f"{own.name} has {len(now.accesses)} accesses, not {len(wanted)}", own.text)
        return
    for one, other in zip(wanted, now.accesses, strict=True):
        if _kind(one) != _kind(other):
            yield Fault(KIND, f"{own.name} touches {other.array} for {one.array}", own.text)
        elif one.relation is not other.relation and not equal_at(one.relation, other.relation, scop.known):
            yield Fault(KIND, f"{own.name} touches another element of {other.array}", str(other.relation.sample()))


def _kind(access: Access) -> tuple[object, ...]:
    return access.ref, access.array, access.kind, access.exact, access.loose


def _value_faults(scop: Scop, producer: Statement, own: Statement, now: Statement, uses: list[Use]) -> Iterator[Fault]:
    """The names of P's loop variables stand for what M says."""
    numbers = dict(_numbers(producer))
    wanted = [(new, *numbers[old], use.instance) for use in uses for old, new in use.names if old in numbers]
    put_in = now.values[len(own.values) :]
    unchanged = all(a is b for a, b in zip(own.values, now.values, strict=False))
    if not unchanged or len(put_in) != sum(len(use.names) for use in uses) or len(put_in) != len(wanted):
        yield Fault(KIND, f"{own.name} has other values than its producer's loops", own.text)
        return
    found = {value.name: value for value in put_in}
    for name, ctype, relation, m in wanted:
        value = found.get(name)
        if value is None or value.type != ctype or not equal_at(value.relation, m.apply_range(relation), scop.known):
            yield Fault(KIND, f"a loop variable of {producer.name} is another one in {own.name}", own.text)
        elif not value.relation.is_single_valued():
            yield Fault(KIND, f"{own.name} has no value for a loop variable that data choose", own.text)


def _numbers(statement: Statement) -> Iterator[tuple[str, tuple[CType, isl.Map]]]:
    """Each name that stands for a number, its type, and which one it is, `{ S[i] -> [v] }`."""
    identity = isl.Map.identity(statement.domain.get_space().map_from_set()).intersect_domain(statement.domain)
    count = identity.dim(isl.dim_type.out)
    for position, (name, ctype) in enumerate(zip(statement.loops, statement.loop_types, strict=True)):
        one = identity.reset_tuple_id(isl.dim_type.out).project_out(
            isl.dim_type.out, position + 1, count - position - 1
        )
        yield name, (ctype, one.project_out(isl.dim_type.out, 0, position))
    for item in statement.values:
        yield item.name, (item.type, item.relation)


@dataclass(frozen=True, slots=True)
class _Text:
    """(1)."""

    scop: Scop
    producer: Statement
    own: Statement
    """The reader as it was."""
    by_ref: dict[str, Use]

    def same(self, then: c.Node, now: c.Node, use: Use | None = None) -> bool:
        """Whether `now` is `then`, of the reader, or with `use` of the producer's value."""
        if use is None and isinstance(then, c.ArrayRef) and then.ref in self.by_ref:
            return self.is_value(now, self.by_ref[then.ref])
        if use is not None and isinstance(then, c.Name) and then.name in dict(use.chosen):
            return now == self.subscript(then.name, use)
        if type(then) is not type(now):
            return False
        if use is not None and isinstance(then, c.Name) and isinstance(now, c.Name):
            names = dict(use.names)
            known = {*self.producer.loops, *(v.name for v in self.producer.values)}
            return now.name == (names.get(then.name) if then.name in known else then.name)
        for one in fields(then):
            if one.name == "span":
                continue
            a, b = getattr(then, one.name), getattr(now, one.name)
            if one.name == "ref" and use is not None:
                a = dict(use.labels).get(a, a)
            if isinstance(a, tuple) and isinstance(b, tuple):
                whole = all(isinstance(item, str) for item in (*a, *b))
                if len(a) != len(b) or (a != b if whole else not self.all_same(a, b, use)):
                    return False
            elif a is None or b is None or isinstance(a, str | bool | int):
                if a != b:
                    return False
            elif not self.same(a, b, use):
                return False
        return True

    def subscript(self, loop: str, use: Use) -> c.Expr | None:
        """What stands for a loop of the producer that data choose; None where nothing can."""
        if loop not in self.producer.loops:
            return None
        (node,) = (n for n in c.walk(self.own.body) if isinstance(n, c.ArrayRef) and n.ref == use.ref)
        written = node.subscripts[dict(use.chosen)[loop]]
        return in_type(written, self.producer.loop_types[self.producer.loops.index(loop)], self.scop.arrays)

    def all_same(self, then: tuple[c.Node, ...], now: tuple[c.Node, ...], use: Use | None) -> bool:
        return all(self.same(a, b, use) for a, b in zip(then, now, strict=True))

    def is_value(self, now: c.Node, use: Use) -> bool:
        """Whether an expression is the producer's, with the type of the elements that it was assigned to."""
        assign = assigned(self.producer)
        assert assign is not None
        assert isinstance(assign.target, c.ArrayRef)
        element = self.scop.arrays[assign.target.array].element
        if isinstance(now, c.Cast) and now.type == element.text and self.same(assign.value, now.operand, use):
            return True
        loops = (*self.producer.loops, *(v.name for v in self.producer.values))
        typed = keeps_type(assign.value, element, self.scop.arrays, loops)
        return typed and self.same(assign.value, now, use)


# --- (4): all steps --------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Part:
    """A virtual instance in a reader, or the reader itself (`producer` is "")."""

    producer: str = ""
    instance: isl.Map | None = None
    """`{ C[i] -> P[j] }`."""
    inlined: dict[str, int] = field(default_factory=dict)
    """A label of the statement as it was written, and the part whose value stands there."""


@dataclass(slots=True)
class _State:
    """What runs in one instance of a statement, and to which part of it each label belongs."""

    parts: list[_Part] = field(default_factory=lambda: [_Part()])
    origin: dict[str, tuple[int, str]] = field(default_factory=dict)
    """Labels that are not the statement's own: the part, and the label there."""

    def place(self, ref: str) -> tuple[int, str]:
        return self.origin.get(ref, (0, ref))

    def in_order(self) -> list[int]:
        """The parts, each after those whose values it reads."""
        found: list[int] = []

        def visit(number: int) -> None:
            for inner in self.parts[number].inlined.values():
                visit(inner)
            found.append(number)

        visit(0)
        return found


def _note(step: Inlining, states: dict[str, _State]) -> None:
    """Add the producer's parts to each of its readers."""
    source = states[step.producer]
    for use in step.uses:
        state = states[use.statement]
        offset = len(state.parts)
        for part in source.parts:
            whose = use.instance if part.instance is None else use.instance.apply_range(part.instance)
            inner = {ref: number + offset for ref, number in part.inlined.items()}
            state.parts.append(_Part(part.producer or step.producer, whose, inner))
        number, ref = state.place(use.ref)
        state.parts[number].inlined[ref] = offset
        for old, new in use.labels:
            inside, name = source.place(old)
            state.origin[new] = inside + offset, name


def _expanded(original: Scop, scop: Scop, states: dict[str, _State]) -> tuple[Expanded, dict[str, Buffer]]:
    """What the region with virtual instances runs, and the cells that these write."""
    start = empty_map(original.domain)
    by_kind = dict.fromkeys(AccessKind, start)
    contraction, order = start, start
    cells: dict[str, Buffer] = {}
    found: list[Run] = []
    real = runs(scop.tree)
    length = order_length(real)
    for leaf, run in enumerate(real):
        state = states[run.statement]
        for place, number in enumerate(state.in_order()):
            part = state.parts[number]
            virtual, home = _virtual(run, part, f"polyc_{run.statement}_{leaf}_{number}")
            found.append(virtual)
            contraction = contraction.union(isl.UnionMap.from_map(virtual.contraction))
            when = home.apply_range(run.order(length).intersect_domain(run.instances))
            last = isl.Map.from_domain_and_range(virtual.instances, isl.Set(f"{{ [{place}] }}"))
            when = when.intersect_domain(virtual.instances).flat_range_product(last)
            order = order.union(isl.UnionMap.from_map(when))
            for access in original.statements[virtual.statement].accesses:
                relation = virtual.contraction.apply_range(access.relation)
                inner = part.inlined.get(access.ref) if access.kind is AccessKind.READ else None
                if access.kind is not AccessKind.READ and part.producer:
                    inner = number
                if inner is not None:
                    key = f"polyc_{run.statement}_{inner}_cell"
                    relation = _own_cell(home, relation, key)
                    cells[key] = Buffer(key, key, access.array, None, 0, (), "private", frozenset())
                by_kind[access.kind] = by_kind[access.kind].union(isl.UnionMap.from_map(relation))
    accesses = Accesses(by_kind[AccessKind.READ], by_kind[AccessKind.WRITE], by_kind[AccessKind.MAY_WRITE])
    return Expanded(tuple(found), order, accesses, contraction, ()), cells


def _virtual(run: Run, part: _Part, name: str) -> tuple[Run, isl.Map]:
    """The run of one part, with instances of its own name; and the run's instance that each of them belongs to.

    Where data choose whose value is needed, there is an instance for each that may be: `{ t[i, j] -> P[j] }`.
    """
    whole = run.contraction.intersect_domain(run.instances)
    if part.instance is None:
        return replace(run, contraction=whole), isl.Map.identity(run.instances.get_space().map_from_set())
    ident = isl.Id.read_from_str(whole.get_ctx(), name)
    contraction = whole.apply_range(part.instance)
    if contraction.is_single_valued():
        home = isl.Map.identity(run.instances.get_space().map_from_set()).set_tuple_id(isl.dim_type.in_, ident)
        contraction = contraction.set_tuple_id(isl.dim_type.in_, ident)
    else:
        home = contraction.domain_map().flatten_domain().set_tuple_id(isl.dim_type.in_, ident)
        contraction = contraction.range_map().flatten_domain().set_tuple_id(isl.dim_type.in_, ident)
    return replace(run, statement=part.producer, instances=contraction.domain(), contraction=contraction), home


def _own_cell(home: isl.Map, relation: isl.Map, key: str) -> isl.Map:
    """`{ t[i] -> A[x] }` as `{ t[i] -> key[i, x] }`: each instance of the reader has cells of its own."""
    ident = isl.Id.read_from_str(relation.get_ctx(), key)
    own = home.reset_tuple_id(isl.dim_type.out)
    return own.range_product(relation).flatten_range().set_tuple_id(isl.dim_type.out, ident)
