"""Compute elementwise producers where they are read (Algorithm 5)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations

import islpy as isl

from polyc.analysis.dependences import accesses_of, compute_dependences, last_writers
from polyc.analysis.expressions.elementwise import assigned, at_instances, elementwise, in_type, keeps_type, replaceable
from polyc.analysis.order import order_of
from polyc.analysis.witness import finder, first_of, in_loop, overwriting
from polyc.flow import Accesses, Flow, compute_flow
from polyc.model import ctree as c
from polyc.model.program import Inlining, Program, Use
from polyc.model.scop import Access, AccessKind, Array, CType, Scop, Statement, Value
from polyc.model.tree import Domain, restrict
from polyc.model.witness import Finder
from polyc.nests.wishes import why_apart
from polyc.passes.values.factors import scaled_factors, terms_of_sums
from polyc.passes.values.taps import products_at_taps
from polyc.poly import equal_at, in_name, maps, out_name
from polyc.records import dataclass, replace

STAGE = "inline"
LARGEST = 200
"""Nodes of an expression beyond which nobody wants to read it."""


def inline_elementwise(program: Program) -> Program:
    """Put the expression of an elementwise producer where its values are read, and drop its nest and its array.

    rewrite:  for i for j T[i][j] = f(A[i][j], B[j]);  for i for j C[i][j] = T[j][i] + D[i][j];
              -> for i for j C[i][j] = f(A[j][i], B[i]) + D[i][j];
    tree:     sequence(band(P), band(C)) -> band(C), over a region without P's instances
    math:     M = R_c . W_p^-1 says whose value an instance of C reads, and equals the flow into the reference, for
              all its instances; each read R of P becomes M . R; P's loop variables have their values by M
    requires: P assigns array elements and does nothing else; no value of it is needed after the region; between P and
              C nobody writes what P reads
    ensures:  no instance of P is evaluated more often than before: M is injective, and the images of several
              references are disjoint; but for products that windows sum up (`taps.py`), which cost nothing there, and
              for factors of products of matrices (`factors.py`), which are computed where their panels are filled, and
              for terms of sums, which a compiler computes once. The
              values are the same bit for bit, since a cast converts them as the array did
    source:   Zhao et al. 2024, Section 6.3 and Appendix A.4, Algorithm 5. It inlines while code is generated, after
              fusion; we do it first, so that scheduling, tiling and the checks see fewer nests. We therefore leave
              to pre-tiling fusion what it makes as good: a chain in which each iteration reads its own values becomes
              one nest with a variable for each of them (`contract.py`). What a window, a product or a broadcast
              reads many times, and what a sum or a recurrence goes on from, is no other candidate: `basteln` decides
              on it, and says so.
    """
    if not program.options.inline:
        return program
    order = order_of(program.scop.tree)  # the same for those that stay, whoever is inlined
    given = program
    for name in tuple(program.scop.statements):
        program = _Candidate.of(program, name, order, given).inlined()
    for products in products_at_taps(program.scop) if not program.options.gpu else ():
        program = _multiplied(program, products, order, given)
    for name in scaled_factors(program.scop) if not program.options.gpu else ():
        program = _multiplied(program, (name,), order, given)
    for name in terms_of_sums(program.scop):
        term = _Candidate.of(program, name, order, given, scalars=True)
        program = term.substituted() if term.may_stand() else program
    if not program.inlined:
        return program
    return replace(program, dependences=compute_dependences(program.scop, given=given.scop))


def _multiplied(program: Program, products: tuple[str, ...], order: isl.UnionMap, given: Program) -> Program:
    """The program without some products, which the windows multiply that sum them up; the same one where one of the
    products has to stay."""
    found = program
    for name in products:
        candidate = _Candidate.of(found, name, order, given, scalars=True)
        if not candidate.in_sums():
            return program
        found = candidate.substituted()
    return found


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why a producer stays where it is."""

    reason: str
    why: str
    dependence: Finder | None = None
    """Finds two iterations that show it, where a dependence is the reason."""


@dataclass(frozen=True, slots=True, eq=False)
class Read:
    """A reference that sees values of the producer."""

    statement: Statement
    access: Access
    flow: Flow
    """Through this reference alone."""


@dataclass(frozen=True, slots=True, eq=False)
class _Candidate:
    """A statement that may be inlined, and who reads what it writes."""

    program: Program
    order: isl.UnionMap
    """Of the region's instances."""
    producer: Statement
    write: Access | None
    """None: it is no elementwise operator."""
    reads: tuple[Read, ...] = ()

    @staticmethod
    def of(program: Program, name: str, order: isl.UnionMap, given: Program, scalars: bool = False) -> _Candidate:
        """given: the program before any was inlined, which has its dependences."""
        scop, producer = program.scop, program.scop.statements[name]
        write = elementwise(scop, producer, scalars)
        if write is None or not producer.loops:
            return _Candidate(program, order, producer, None)
        everything = accesses_of(scop, frozenset([write.array]))
        whole = _flow_of(program, write.array, everything, given)
        found: list[Read] = []
        pairs = set() if whole is None else {(in_name(piece), out_name(piece)) for piece in maps(whole.dependence)}
        for reader in scop.statements.values():
            if whole is not None and (name, reader.name) not in pairs:
                continue
            for access in reader.accesses:
                if access.array == write.array and access.kind is AccessKind.READ:
                    if whole is None:
                        through = flow_into(access.relation, everything, order)
                    else:
                        through = _through(access, everything, whole)
                    if not through.dependence.intersect_domain(instances_of(producer)).is_empty():
                        found.append(Read(reader, access, through))
        return _Candidate(program, order, producer, write, tuple(found))

    def inlined(self) -> Program:
        """The program without the producer; the same one, perhaps with a remark, where it has to stay."""
        if self.write is None or not self.reads or any(updates(read) for read in self.reads):
            return self.program
        if any(not read.access.exact for read in self.reads):
            return self.program  # `chosen.py`
        if not all(replaceable(self.scop, r.statement, r.access) for r in self.reads):
            return self.declined(Obstacle("not-a-value", "it is read where no expression can stand"))
        if self.widened() or self.chain():
            return self.program
        if any(why_apart(self.program, [self.producer.name], [r.statement.name]) for r in self.reads):
            return self.program
        found = self.obstacle()
        return self.substituted() if found is None else self.declined(found)

    def in_sums(self) -> bool:
        """Whether a product (`taps.py`) can stand wherever one of its values is read, however often that is."""
        return self.write is not None and bool(self.reads) and self.widened() and self.may_stand()

    def may_stand(self) -> bool:
        """Whether the producer's expression can stand wherever one of its values is read, however often that is."""
        if self.write is None or not self.reads:
            return False
        return (
            all(replaceable(self.scop, r.statement, r.access) for r in self.reads)
            and not any(why_apart(self.program, [self.producer.name], [r.statement.name]) for r in self.reads)
            and self.obstacle(again=True) is None
        )

    @property
    def scop(self) -> Scop:
        return self.program.scop

    @property
    def array(self) -> str:
        assert self.write is not None
        return self.write.array

    @property
    def c_name(self) -> str:
        return self.scop.arrays[self.array].c_name

    def declined(self, found: Obstacle) -> Program:
        message = f"{self.producer.name} is not inlined into what reads {self.c_name}: {found.why}"
        statements = (self.producer.name, *dict.fromkeys(r.statement.name for r in self.reads))
        data = {"reason": found.reason, "array": self.array}
        return self.program.remark("not-inlined", STAGE, message, statements, **data).because(found.dependence)

    # --- whose values are read

    def instances(self, read: Read) -> isl.Map:
        """M: `{ C[i] -> P[j] }`."""
        assert self.write is not None
        return _read_instances(self.write, read)

    def widened(self) -> bool:
        """Whether one statement reads a value several times: in a window, a product, a broadcast."""
        several = [m for m in map(self.instances, self.reads) if not m.is_injective()]
        return bool(several) or any(
            one.statement is other.statement and self.overlap(one, other) for one, other in combinations(self.reads, 2)
        )

    def overlap(self, one: Read, other: Read) -> bool:
        return not self.instances(one).range().is_disjoint(self.instances(other).range())

    def chain(self) -> bool:
        """Whether all readers need their own iteration's value only, in loops that pre-tiling fusion can join."""
        return all(_is_identity(self.instances(read)) and self.is_free(read.statement) for read in self.reads)

    def is_free(self, statement: Statement) -> bool:
        """Whether no instance of it has to do with another one."""
        pairs = _conflicts(self.scop, statement)
        return pairs is None or pairs.is_empty()

    # --- what forbids it

    def obstacle(self, again: bool = False) -> Obstacle | None:
        """The first reason not to do it; again: its values may be computed more than once."""
        if self.is_live_out():
            return Obstacle("live-out", "its values are needed after the region")
        if self.has_other_source():
            why = "some of the values that are read there come from elsewhere"
            return Obstacle("several-writers", why, finder(self.scop, self.other_sources))
        if not again and self.repeats():
            why = "several statements read the same values, which each of them would compute"
            return Obstacle("read-twice", why)
        if self.is_irregular():
            return Obstacle("irregular", "it takes several cases to say which of its values is read")
        if self.is_overwritten():
            why = "what it reads is overwritten before its values are read"
            arrays = dict.fromkeys(a.array for a in self.producer.accesses if a.kind is AccessKind.READ)
            found = [overwriting(self.program, instances_of(self.producer), self.scop.domain, a) for a in arrays]
            return Obstacle("input-overwritten", why, first_of(found))
        if self.serialised():
            why = "it can run in parallel, and what reads it cannot"
            held = (in_loop(self.program, instances_of(r.statement)) for r in self.reads)
            return Obstacle("fewer-parallel-loops", why, first_of(held))
        if self.is_long():
            return Obstacle("too-long", f"the statement would have more than {LARGEST} operands and operators")
        return None

    def is_live_out(self) -> bool:
        if self.array not in self.scop.live_out:
            return False
        last = last_writers(accesses_of(self.scop, frozenset([self.array])), self.order)
        return not last.intersect_domain(instances_of(self.producer)).is_empty()

    def has_other_source(self) -> bool:
        for read in self.reads:
            others = read.flow.dependence.subtract_domain(instances_of(self.producer))
            if not others.is_empty() or not read.flow.live_in.is_empty():
                return True
        return False

    def other_sources(self) -> Iterator[isl.UnionMap]:
        """The values that readers see and that another statement writes."""
        for read in self.reads:
            yield read.flow.dependence.subtract_domain(instances_of(self.producer))

    def repeats(self) -> bool:
        return any(self.overlap(one, other) for one, other in combinations(self.reads, 2))

    def is_irregular(self) -> bool:
        found = [self.instances(read) for read in self.reads]
        return any(not m.is_single_valued() or isl.PwMultiAff.from_map(m).n_piece() != 1 for m in found)

    def is_overwritten(self) -> bool:
        """math: the flow into M . R equals the one into R, followed by M^-1"""
        written = self.scop.written
        inputs = [a for a in self.producer.accesses if a.kind is AccessKind.READ and a.array in written]
        if not inputs:
            return False
        order, known = self.order, self.scop.known
        for access in inputs:
            everything = accesses_of(self.scop, frozenset([access.array]))
            then = flow_into(access.relation, everything, order)
            for m in map(self.instances, self.reads):
                now = flow_into(m.apply_range(access.relation), everything, order)
                moved = isl.UnionMap.from_map(m)
                sources, first = then.dependence.apply_range(moved.reverse()), moved.apply_range(then.live_in)
                if not (equal_at(sources, now.dependence, known) and equal_at(first, now.live_in, known)):
                    return True
        return False

    def serialised(self) -> bool:
        if not parallel_loops(self.scop, self.producer):
            return False
        return any(not parallel_loops(self.scop, read.statement) for read in self.reads)

    def is_long(self) -> bool:
        added = sum(1 for _ in c.walk(_value(self.producer)))
        readers = {read.statement.name: read.statement for read in self.reads}
        return any(
            sum(1 for _ in c.walk(s.body)) + added * sum(r.statement is s for r in self.reads) > LARGEST
            for s in readers.values()
        )

    # --- doing it

    def substituted(self) -> Program:
        scop, name = self.scop, self.producer.name
        statements = {key: s for key, s in scop.statements.items() if key != name}
        uses: list[Use] = []
        for read in self.reads:
            reader = statements[read.statement.name]
            use, changed = replaced(scop, reader, read.access, self.producer, self.instances(read))
            statements[reader.name] = changed
            uses.append(use)
        domain = scop.tree.domain.subtract(instances_of(self.producer))
        after = replace(scop, statements=statements, tree=Domain(domain, restrict(scop.tree.child, domain)))
        readers = tuple(dict.fromkeys(read.statement.name for read in self.reads))
        told = self.program.remark(
            "inlined",
            STAGE,
            f"{name} is computed where {', '.join(readers)} {'reads' if len(readers) == 1 else 'read'} it: "
            f"{self.c_name} needs no array",
            (name, *readers),
            array=self.array,
        )
        step = Inlining(name, tuple(uses), scop, after)
        return replace(
            told,
            scop=after,
            tree=after.tree,
            statements=dict(statements),
            inlined=(*told.inlined, step),
        )


def replaced(
    scop: Scop,
    reader: Statement,
    access: Access,
    producer: Statement,
    m: isl.Map,
    chosen: tuple[tuple[str, int], ...] = (),
) -> tuple[Use, Statement]:
    """The reader with the producer's expression in the place of one reference.

    chosen: the producer's loops whose values are subscripts of the reference, as they are written there
    """
    value = _value(producer)
    fresh = _labels(reader)
    labels = {a.ref: next(fresh) for a in producer.accesses if a.kind is AccessKind.READ}
    own = {*producer.loops, *(v.name for v in producer.values)}
    mentioned = {node.name for node in c.walk(value) if isinstance(node, c.Name)}
    written = _subscripts(scop.arrays, reader, access, producer, chosen)
    new_names = {name: f"{access.ref}.{name}" for name in sorted((own & mentioned) - written.keys())}

    def renamed(node: c.Node) -> c.Node | None:
        if isinstance(node, c.Name) and node.name in new_names:
            return replace(node, name=new_names[node.name])
        if isinstance(node, c.Name) and node.name in written:
            return written[node.name]
        if isinstance(node, c.ArrayRef) and node.ref in labels:
            subscripts = tuple(c.rewrite(s, renamed) for s in node.subscripts)
            return replace(node, subscripts=subscripts, ref=labels[node.ref])
        return None

    expression: c.Expr = c.rewrite(value, renamed)
    element = scop.arrays[access.array].element
    if not keeps_type(value, element, scop.arrays, tuple(own)):
        expression = c.Cast(element.text, expression)

    def change(node: c.Node) -> c.Node | None:
        return expression if isinstance(node, c.ArrayRef) and node.ref == access.ref else None

    accesses: list[Access] = []
    for one in reader.accesses:
        if one is not access:
            accesses.append(one)
            continue
        reads = (inner for inner in producer.accesses if inner.kind is AccessKind.READ)
        accesses += [replace(at_instances(inner, m), ref=labels[inner.ref]) for inner in reads]
    values = tuple(
        Value(new_names[name], ctype, m.apply_range(relation))
        for name, ctype, relation in _named(producer)
        if name in new_names
    )
    changed = replace(
        reader,
        body=c.rewrite(reader.body, change),
        accesses=tuple(accesses),
        values=(*reader.values, *values),
        opaque=reader.opaque or producer.opaque,
    )
    return Use(reader.name, access.ref, m, tuple(labels.items()), tuple(new_names.items()), chosen), changed


def _subscripts(
    arrays: dict[str, Array],
    reader: Statement,
    access: Access,
    producer: Statement,
    chosen: tuple[tuple[str, int], ...],
) -> dict[str, c.Expr]:
    """What stands for the loops of a producer that data choose: a subscript of the reference, in the loop's type."""
    (node,) = (n for n in c.walk(reader.body) if isinstance(n, c.ArrayRef) and n.ref == access.ref)
    types = dict(zip(producer.loops, producer.loop_types, strict=True))
    return {name: in_type(node.subscripts[position], types[name], arrays) for name, position in chosen}


def _named(statement: Statement) -> Iterator[tuple[str, CType, isl.Map]]:
    """The names in a statement that stand for numbers: its loops', and those of what was inlined into it."""
    identity = isl.MultiAff.identity_on_domain_space(statement.domain.get_space())
    for position, (name, ctype) in enumerate(zip(statement.loops, statement.loop_types, strict=True)):
        value = isl.Map.from_aff(identity.get_at(position))
        yield name, ctype, value.intersect_domain(statement.domain)
    for item in statement.values:
        yield item.name, item.type, item.relation


def one_value(statement: Statement, m: isl.Map) -> Iterator[tuple[str, isl.Map]]:
    """`{ C[i] -> [v] }` for each name in the statement's expression that stands for a number, by `{ C[i] -> P[j] }`."""
    mentioned = {node.name for node in c.walk(_value(statement)) if isinstance(node, c.Name)}
    for name, _, relation in _named(statement):
        if name in mentioned:
            yield name, m.apply_range(relation)


def _labels(statement: Statement) -> Iterator[str]:
    """Labels that no reference of the statement has, or had."""
    used = {a.ref for a in statement.accesses} | {v.name.split(".")[0] for v in statement.values}
    number = 1 + max((int(ref[1:]) for ref in used if ref[1:].isdigit()), default=-1)
    while True:
        yield f"r{number}"
        number += 1


def _value(producer: Statement) -> c.Expr:
    found = assigned(producer)
    assert found is not None
    return found.value


# --- relations -------------------------------------------------------------------------------------------------------


def instances_of(statement: Statement) -> isl.UnionSet:
    return isl.UnionSet.from_set(statement.domain)


@lru_cache(maxsize=1000)
def _read_instances(write: Access, read: Read) -> isl.Map:
    """`{ C[i] -> P[j] }`: whose values a reference reads. Kept: each pair of references is compared."""
    by_cells = read.access.relation.apply_range(write.relation.reverse())
    by_flow = isl.UnionMap.from_map(by_cells).intersect(read.flow.dependence.reverse())
    if isl.UnionMap.from_map(by_cells).is_subset(by_flow):
        return by_cells.coalesce()
    return isl.Map.from_union_map(by_flow).coalesce()


def _flow_of(program: Program, array: str, everything: Accesses, given: Program) -> Flow | None:
    """The flow through an array from which that of each of its references follows (`_through`); None where it does not:
    some cells are written again, by instances that write several of them.
    """
    writes = everything.writes
    if not everything.may_writes.is_empty() or not (writes.is_single_valued() or writes.is_injective()):
        return None
    known = given.dependences
    if array in known.flow_by_array and _touching(program.scop, array) == _touching(given.scop, array):
        return Flow(known.flow_by_array[array], known.live_in)
    return _recomputed(program.scop, array)


@lru_cache(maxsize=16)
def _recomputed(scop: Scop, array: str) -> Flow:
    """The flow through an array of a region that others were inlined into: once for all candidates."""
    return compute_flow(accesses_of(scop, frozenset([array])), order_of(scop.tree))


def _touching(scop: Scop, array: str) -> list[Access]:
    return [access for s in scop.statements.values() for access in s.accesses if access.array == array]


def _through(access: Access, everything: Accesses, whole: Flow) -> Flow:
    """The part of an array's flow that goes through one reference.

    requires: each cell is written once, or each instance writes one cell
    math:     { w -> r in the array's flow : w writes a cell that the reference reads in r }; of such a pair, the value
              goes through that cell: w writes no other one, or nobody else writes it
    """
    read = isl.UnionMap.from_map(access.relation)
    pairs = everything.writes.apply_range(read.reverse())
    return Flow(whole.dependence.intersect(pairs), whole.live_in.intersect(read))


def flow_into(relation: isl.Map, everything: Accesses, order: isl.UnionMap) -> Flow:
    return compute_flow(replace(everything, reads=isl.UnionMap.from_map(relation)), order)


def updates(read: Read) -> bool:
    """Whether the reader writes the array itself, as `T[i] += …` does: it updates its values and needs the elements."""
    array = read.access.array
    return any(a.array == array and a.kind is not AccessKind.READ for a in read.statement.accesses)


def _is_identity(m: isl.Map) -> bool:
    count = m.dim(isl.dim_type.in_)
    if count != m.dim(isl.dim_type.out):
        return False
    same = m
    for k in range(count):
        same = same.equate(isl.dim_type.in_, k, isl.dim_type.out, k)
    return bool(m.is_subset(same))


def _conflicts(scop: Scop, statement: Statement) -> isl.Map | None:
    """The pairs of a statement's instances of which one writes what the other touches, in either order.

    None: there are none. What each thread may have a copy of is no conflict.
    """
    found: isl.Map | None = None
    shared = [a for a in statement.accesses if a.array not in scop.privatizable]
    for write in shared:
        for other in shared:
            if write.kind is not AccessKind.READ and other.array == write.array:
                pairs = write.relation.apply_range(other.relation.reverse())
                found = pairs if found is None else found.union(pairs)
    if found is None:
        return None
    found = found.intersect_params(scop.known)
    return found.subtract(isl.Map.identity(found.get_space())).coalesce()


def parallel_loops(scop: Scop, statement: Statement) -> list[int]:
    """The loops of a statement whose iterations touch nothing that another one writes."""
    pairs, loops = _conflicts(scop, statement), range(len(statement.loops))
    if pairs is None:
        return list(loops)
    return [k for k in loops if pairs.is_subset(pairs.equate(isl.dim_type.in_, k, isl.dim_type.out, k))]
