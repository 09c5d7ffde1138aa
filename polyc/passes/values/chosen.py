"""Compute only what data choose (Algorithm 5, where the subscripts of a read depend on data)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set
from functools import cache, partial

import islpy as isl

from polyc.analysis.dependences import accesses_of, compute_dependences, last_writers
from polyc.analysis.expressions.elementwise import elementwise, operand
from polyc.analysis.order import order_of
from polyc.analysis.witness import finder, in_loop, overwriting
from polyc.cost.cpu_sizes import CpuSizes
from polyc.cost.time import operations
from polyc.flow import Flow, compute_flow
from polyc.machine import load_cpu
from polyc.model import ctree as c
from polyc.model.program import Inlining, Program, Use
from polyc.model.scop import Access, AccessKind, Scop, Statement
from polyc.model.tree import Domain, restrict
from polyc.nests.samples import sample_parameters
from polyc.nests.wishes import why_apart
from polyc.passes.values.inline import (
    LARGEST,
    Obstacle,
    flow_into,
    instances_of,
    one_value,
    parallel_loops,
    replaced,
)
from polyc.poly import box_volume, equal_at, names
from polyc.records import dataclass, replace

STAGE = "chosen"
LOOKUP_CYCLES = 1.5
"""Of an element that data choose, in a vector of them: a gather takes 16 to 26 cycles for 16 elements where AVX-512
is."""
CALL_CYCLES = 20.0
"""Of a function, which C compilers call for each element."""


def inline_chosen(program: Program) -> Program:
    """Evaluate a producer's expression for the few of its values that data choose, in the place of storing all.

    rewrite:  for k, i: T[k][i] = A[k][i] - B[k][i];  for i: C[i] = T[f(i)][i] + T[f(i) + 1][i];
              -> for i: C[i] = A[f(i)][i] - B[f(i)][i] + (A[f(i) + 1][i] - B[f(i) + 1][i]);
    tree:     sequence(band(P), band(C)) -> band(C), over a region without P's instances; with them where others read T
    math:     R_c says which cells C may read, and all of them are P's: M = R_c . W_p^-1 has an instance for each, and
              the flow into R_c is M^-1. Data choose one of them. Where W_p writes T[p] at its loop p, the value of p is
              the subscript as it is written; P's other loops are functions of C's instance. Each read R of P becomes
              M . R, of which data choose one in the same way
    requires: P assigns array elements and does nothing else; it is injective, and for all that C may read the only
              writer: from the bounds of the subscript's expression, or since C forbids to leave the array; between P
              and C nobody writes what P reads, whichever instance is chosen
    ensures:  the values are the same bit for bit
    source:   Zhao et al. 2024, Section 6.3 and Algorithm 5, for affine subscripts. What is evaluated here is what
              Halide computes of a function that is inlined (Ragan-Kelley et al., PLDI 2013)

    An expression that reads what data choose in its turn may be a producer's too: what it takes to the end of such a
    chain is weighed as a whole, from counts (`_Step.gain`).
    """
    if not program.options.inline:
        return program
    order = order_of(program.scop.tree)
    before, sample = program.inlined, cache(partial(sample_parameters, program))
    for name in tuple(program.scop.statements):
        if name in program.scop.statements:
            program = _chain(program, name, order, sample)
    if program.inlined is before:
        return program
    return replace(program, dependences=compute_dependences(program.scop))


def _chain(program: Program, reader: str, order: isl.UnionMap, sample: Callable[[], isl.Set]) -> Program:
    """The program with the producers inlined into one reader that together save most; with remarks on the others.

    sample: the sizes for which that is weighed
    """
    best, gain = program, 0.0
    tried, total = program, 0.0
    seen: set[str] = set()
    steps: list[_Step] = []
    declined: dict[str, tuple[_Step, Obstacle]] = {}
    while (array := next((a for a in _looked_up(tried, reader) if a not in seen), None)) is not None:
        seen.add(array)
        step = _Step.of(tried, reader, array, order)
        if step is None:
            continue
        found = step.obstacle()
        if found is not None:
            declined[array] = step, found
            continue
        after = step.substituted()
        total += step.gain(after, sample())
        tried = after
        steps.append(step)
        if total > gain:
            best, gain = tried, total
    if steps and best is program:
        why = "to compute what is chosen takes longer than to compute and to store all"
        declined[steps[0].array] = steps[0], Obstacle("more-work", why)
    for array in _looked_up(best, reader):
        if array in declined:
            step, found = declined[array]
            best = step.declined(best, found)
    return best


def _looked_up(program: Program, reader: str) -> list[str]:
    """Arrays of which data choose what a statement reads."""
    accesses = program.scop.statements[reader].accesses
    return list(dict.fromkeys(a.array for a in accesses if a.kind is AccessKind.READ and not a.exact))


@dataclass(frozen=True, slots=True, eq=False)
class _Step:
    """One reader that looks values of one producer up."""

    program: Program
    order: isl.UnionMap
    producer: Statement
    write: Access
    reader: Statement
    reads: tuple[tuple[Access, Flow], ...]
    """The references that data choose, each with the flow through it."""

    @staticmethod
    def of(program: Program, name: str, array: str, order: isl.UnionMap) -> _Step | None:
        """None where no statement computes elements of the array one by one."""
        scop, reader = program.scop, program.scop.statements[name]
        if any(a.array == array and a.kind is not AccessKind.READ for a in reader.accesses):
            return None
        everything = accesses_of(scop, frozenset([array]))
        if everything.all_writes.is_empty():
            return None
        accesses = [a for a in reader.accesses if a.array == array and a.kind is AccessKind.READ and not a.exact]
        reads = tuple((a, flow_into(a.relation, everything, order)) for a in accesses)
        sources = {source for _, flow in reads for source in names(flow.dependence.domain())}
        for source in scop.statements:
            producer = scop.statements[source]
            write = elementwise(scop, producer) if source in sources and producer.loops else None
            if write is not None and not why_apart(program, [source], [name]):
                return _Step(program, order, producer, write, reader, reads)
        return None

    @property
    def scop(self) -> Scop:
        return self.program.scop

    @property
    def array(self) -> str:
        return self.write.array

    @property
    def c_name(self) -> str:
        return self.scop.arrays[self.array].c_name

    def declined(self, program: Program, found: Obstacle) -> Program:
        message = f"{self.producer.name} is not inlined into what reads {self.c_name}: {found.why}"
        statements = (self.producer.name, self.reader.name)
        data = {"reason": found.reason, "array": self.array}
        return program.remark("not-inlined", STAGE, message, statements, **data).because(found.dependence)

    # --- whose values are read

    def instances(self, access: Access) -> isl.Map:
        """M: `{ C[i] -> P[j] }`, all that may be chosen."""
        return access.relation.apply_range(self.write.relation.reverse()).coalesce()

    def chosen(self, access: Access) -> tuple[tuple[str, int], ...]:
        """The producer's loops that are subscripts of what it writes where data decide these."""
        found = []
        for position in access.loose:
            same = (k for k in range(len(self.producer.loops)) if _writes_at(self.write.relation, k, position))
            loop = next(same, None)
            if loop is not None:
                found.append((self.producer.loops[loop], position))
        return tuple(found)

    # --- what forbids it

    def obstacle(self) -> Obstacle | None:
        """The first reason not to do it."""
        if any(not a.placed for a, _ in self.reads):
            return Obstacle("data-dependent", "which of its values is read depends on data")
        if any(not operand(self.scop, self.reader, a) for a, _ in self.reads):
            return Obstacle("not-a-value", "it is read where no expression can stand")
        if any(self.others(flow) for _, flow in self.reads):
            why = "some of the values that are read there come from elsewhere"
            return Obstacle("several-writers", why, finder(self.scop, self.other_sources))
        if any(self.uncovered(access) for access, _ in self.reads):
            why = (
                "which of its values is read depends on data, and nothing says that it computes all that may be chosen"
            )
            return Obstacle("data-dependent", why)
        if any(not flow.live_in.intersect_params(self.scop.known).is_empty() for _, flow in self.reads):
            return Obstacle("several-writers", "some of the values that are read there are from before the region")
        if any(self.irregular(access) for access, _ in self.reads):
            return Obstacle("irregular", "it takes several cases to say which of its values is read")
        if any(self.overwritten(access) for access, _ in self.reads):
            arrays = dict.fromkeys(a.array for a in self.producer.accesses if a.kind is AccessKind.READ)
            found = (overwriting(self.program, instances_of(self.producer), self.scop.domain, a) for a in arrays)
            why = "what it reads is overwritten before its values are read"
            return Obstacle("input-overwritten", why, next((f for f in found if f is not None), None))
        if parallel_loops(self.scop, self.producer) and not parallel_loops(self.scop, self.reader):
            why = "it can run in parallel, and what reads it cannot"
            return Obstacle("fewer-parallel-loops", why, in_loop(self.program, instances_of(self.reader)))
        unsure = self.unsure() if self.program.options.gpu else None
        if unsure is not None:
            why = f"how much of {unsure} is used would not be known, which a GPU needs a copy of"
            return Obstacle("size-unknown", why)
        if self.is_long():
            return Obstacle("too-long", f"the statement would have more than {LARGEST} operands and operators")
        return None

    def others(self, flow: Flow) -> bool:
        return not flow.dependence.subtract_domain(instances_of(self.producer)).is_empty()

    def other_sources(self) -> Iterator[isl.UnionMap]:
        """The values that readers see and that another statement writes."""
        for _, flow in self.reads:
            yield flow.dependence.subtract_domain(instances_of(self.producer))

    def uncovered(self, access: Access) -> bool:
        """Whether a cell that may be read is none of the producer's: then nothing is known of its value."""
        cells = access.relation.intersect_params(self.scop.known)
        return not cells.is_subset(self.instances(access).apply_range(self.write.relation))

    def irregular(self, access: Access) -> bool:
        """Whether there is no expression for one of the numbers that the producer's text has names for."""
        if not self.write.relation.is_injective():
            return True
        m, free = self.instances(access), {name for name, _ in self.chosen(access)}
        return any(
            not value.is_single_valued() or isl.PwMultiAff.from_map(value).n_piece() != 1
            for name, value in one_value(self.producer, m)
            if name not in free
        )

    def overwritten(self, access: Access) -> bool:
        """Whether an instance that may be chosen would read something else in the reader's place.

        math: with a sink [C[i] -> P[j]] for each pair of M, at C's time: the flow into it is that into P[j]
        """
        written = self.scop.written
        inputs = {a.array for a in self.producer.accesses if a.kind is AccessKind.READ and a.array in written}
        if not inputs:
            return False
        m = self.instances(access)
        to_reader, to_producer = isl.UnionMap.from_map(m.domain_map()), isl.UnionMap.from_map(m.range_map())
        order = self.order.union(to_reader.apply_range(self.order))
        for array in sorted(inputs):
            reads = [a.relation for a in self.producer.accesses if a.array == array and a.kind is AccessKind.READ]
            everything = accesses_of(self.scop, frozenset([array]))
            for relation in reads:
                then = flow_into(relation, everything, self.order)
                sinks = to_producer.apply_range(isl.UnionMap.from_map(relation))
                now = compute_flow(replace(everything, reads=sinks), order)
                expected = then.dependence.apply_range(to_producer.reverse())
                first = to_producer.apply_range(then.live_in)
                known = self.scop.known
                if not (equal_at(expected, now.dependence, known) and equal_at(first, now.live_in, known)):
                    return True
        return False

    def unsure(self) -> str | None:
        """An array without a declared size, of which nobody would say any more how much there is."""
        for read in (read for access, _ in self.reads for read in self.moved(access) if read.exact):
            array = self.scop.arrays[read.array]
            if array.rank and array.extents[0] is None:
                return array.c_name
        return None

    def is_long(self) -> bool:
        added = sum(1 for _ in c.walk(self.producer.body)) * len(self.reads)
        return sum(1 for _ in c.walk(self.reader.body)) + added > LARGEST

    # --- doing it

    def substituted(self) -> Program:
        scop, reader = self.scop, self.reader
        uses: list[Use] = []
        for access, _ in self.reads:
            use, reader = replaced(scop, reader, access, self.producer, self.instances(access), self.chosen(access))
            uses.append(use)
        statements = {key: reader if key == reader.name else s for key, s in scop.statements.items()}
        after = replace(scop, statements=statements)
        kept = self.is_needed(after)
        if not kept:
            del statements[self.producer.name]
            domain = scop.tree.domain.subtract(instances_of(self.producer))
            after = replace(after, tree=Domain(domain, restrict(scop.tree.child, domain)))
        stays = "stays for what else reads it" if kept else "needs no array"
        told = self.program.remark(
            "inlined",
            STAGE,
            f"{self.producer.name} is computed where {reader.name} reads it, for what data choose: "
            f"{self.c_name} {stays}",
            (self.producer.name, reader.name),
            array=self.array,
        )
        step = Inlining(self.producer.name, tuple(uses), scop, after)
        return replace(told, scop=after, tree=after.tree, statements=dict(statements), inlined=(*told.inlined, step))

    def is_needed(self, after: Scop) -> bool:
        """Whether other readers, or what comes after the region, need what the producer stores."""
        everything = accesses_of(after, frozenset([self.array]))
        mine = instances_of(self.producer)
        if not compute_flow(everything, self.order).dependence.intersect_domain(mine).is_empty():
            return True
        if self.array not in after.live_out:
            return False
        return not last_writers(everything, self.order).intersect_domain(mine).is_empty()

    # --- what it saves

    def gain(self, after: Program, at: isl.Set) -> float:
        """Cycles of one core that it saves, below 0 where it costs some.

        The reader takes what the producer reads in the place of an element. Saved are instances that nobody needs, or
        what it takes to store the array and to read it again, where it is larger than a cache and what else reads it
        may run beside it.
        """
        evaluated = box_volume(self.reader.domain.intersect_params(at)) * len(self.reads)
        instances = box_volume(self.producer.domain.intersect_params(at))
        rates = _Rates.of(self.program)
        looked_up = {a.ref for access, _ in self.reads for a in self.moved(access)}
        saved = evaluated * (rates.lookup - rates.cycles(self.producer, looked_up))
        if self.producer.name not in after.scop.statements:
            return saved + instances * (rates.cycles(self.producer) + rates.store)
        nests = [
            s
            for s in after.scop.statements.values()
            if any(a.array == self.array for a in s.accesses) and s is not self.producer
        ]
        if rates.gpu or len(nests) > 1:
            return saved
        size = instances * self.scop.arrays[self.array].element.size_bytes
        return saved + CpuSizes().passing(self.program, size) * rates.per_second

    def moved(self, access: Access) -> Iterator[Access]:
        """The producer's reads of which data choose the element in the reader's place."""
        m = self.instances(access)
        for read in self.producer.accesses:
            if read.kind is AccessKind.READ and not m.apply_range(read.relation).is_single_valued():
                yield read


@dataclass(frozen=True, slots=True)
class _Rates:
    """What an instance takes of a core, in cycles; a share of a vector's where there are vectors."""

    lanes: int
    operations: float
    """A vector, in a cycle."""
    load: float
    store: float
    lookup: float
    gpu: bool
    per_second: float
    """Cycles of all cores."""

    @staticmethod
    def of(program: Program) -> _Rates:
        if program.options.gpu:
            return _Rates(1, 1.0, 1.0, 1.0, 1.0, True, 0.0)  # each thread asks for its own elements
        machine = load_cpu(program.options.machine)
        lanes = machine.lanes(4)
        cores = 1 if program.options.target == "c" else machine.cores
        load, store = 1 / machine.loads_per_cycle / lanes, 1 / machine.stores_per_cycle / lanes
        rate = machine.clock_ghz * 1e9 * cores
        return _Rates(lanes, machine.fma_per_cycle, load, store, LOOKUP_CYCLES, False, rate)

    def cycles(self, statement: Statement, looked_up: Set[str] = frozenset()) -> float:
        """Of the value of one instance."""
        reads = [a for a in statement.accesses if a.kind is AccessKind.READ and a.relation.dim(isl.dim_type.out)]
        lookups = sum(not a.exact or a.ref in looked_up for a in reads)
        calls = sum(isinstance(node, c.Call) for node in c.walk(statement.body))
        computing = operations(statement, subscripts=False) / self.operations / self.lanes
        return computing + calls * CALL_CYCLES + lookups * self.lookup + (len(reads) - lookups) * self.load


def _writes_at(write: isl.Map, loop: int, position: int) -> bool:
    """Whether a subscript of what is written is the value of a loop."""
    return bool(write.is_subset(write.equate(isl.dim_type.in_, loop, isl.dim_type.out, position)))
