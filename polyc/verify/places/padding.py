"""Tiles that run whole, though a statement's domain ends inside of them: what lies outside must not matter.

The other checks look at the program without what lies outside. That is what runs where a condition leaves the rest out
(`guarded`). Where it runs all the same (`free`), or stores zeros (`zero`), this shows that nobody notices:
math: with P the instances of the tree outside of the domains, and D those inside, instance by instance:
        (1) P writes buffers only:                          writes(P) lies in cells of buffers
        (2) and no cell that an instance of D reads:        writes(P) ∩ reads(D) = ∅
        (3) P reads buffers and scalars only,
        (4) both stay inside of the buffers' boxes,
        (5) and P reads no cell of a buffer that neither P nor D writes.
      What adds products of zeros (`neutral`) may change cells that D reads, see `fragments.py`.
Registers are the other matter of this module: a register buffer is one array in the program, but each thread has a part
of it. With t(x) the thread of an instance and r(x) the digits of its register loops,
        (6) { cell -> (t, r) } over all accesses is a one-to-one function, and r stays inside of the thread's part.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import islpy as isl

from polyc.analysis.expand import Expanded, buffer_of, expand
from polyc.analysis.order import Run
from polyc.model import ctree as c
from polyc.model.fault import Fault
from polyc.model.program import Buffer, Program
from polyc.model.scop import Access, AccessKind, Statement
from polyc.model.tree import THREAD_AXES, WARP_AXES, Domain, Extension, Member, Node, rewrite
from polyc.poly import coalesced, empty_set, everywhere, out_name, set_name, sets, without_sizes
from polyc.verify.flow.dataflow import buffer_faults
from polyc.verify.gpu.fragment_faults import neutral_faults, neutral_instances
from polyc.verify.gpu.mapped import lanes_deal_out

Accesses = tuple[tuple[Access, isl.Map], ...]
_KINDS = ("guarded", "zero", "free", "neutral")


def without_borders(program: Program) -> Program:
    """The program without what its tiles run outside of the statements' domains."""
    if not program.padded:
        return program

    def inside(instances: isl.UnionSet) -> isl.UnionSet:
        for name in program.padded:
            domain = isl.UnionSet.from_set(program.statements[name].domain)
            space = isl.UnionSet.from_set(isl.Set.universe(program.statements[name].domain.get_space()))
            instances = instances.subtract(space).union(instances.intersect(domain))
        return instances

    def shortened(node: Node) -> Node:
        if not isinstance(node, Extension):
            return node
        return replace(node, relation=node.relation.intersect_range(inside(node.relation.range())))

    tree = Domain(inside(program.tree.domain), rewrite(program.tree.child, shortened))
    return replace(program, tree=tree)


def padding_faults(program: Program, inside: Expanded) -> list[Fault]:
    """What is wrong with the borders of tiles and with registers. `inside`: the program without the borders."""
    if not program.padded:
        return list(_register_faults(program, inside))
    faults = [*_kind_faults(program)]
    running = {name for name, kind in program.padded.items() if kind != "guarded"}
    wider = {name: _everywhere(program.statements[name], program.padded[name] == "zero") for name in running}
    faults += [Fault("padding", f"{n} is not affine", "") for n, s in wider.items() if s is None]
    if faults:
        return faults
    statements = program.statements | {n: s for n, s in wider.items() if s is not None}
    whole = expand(replace(program, statements=statements))
    faults += _register_faults(program, whole)
    known = empty_set(program.scop.domain)
    for run in inside.runs:
        known = known.union(isl.UnionSet.from_set(run.instances))
    outside = empty_set(program.scop.domain)
    for run in whole.runs:
        if run.statement in running:
            outside = outside.union(isl.UnionSet.from_set(run.instances).subtract(known))
    every = whole.accesses
    written = every.all_writes.intersect_domain(outside).intersect_params(program.scop.known)
    faults += [
        Fault("padding", f"what lies outside of a domain writes {set_name(cells)}", str(cells.sample()))
        for cells in sets(written.range())
        if set_name(cells) not in program.buffers
    ]
    changing = written.subtract_domain(neutral_instances(program, whole))
    read = changing.range().intersect(inside.accesses.reads.range())
    if not read.is_empty():
        faults.append(Fault("padding", "what lies outside of a domain changes a value", str(read.sample_point())))
    faults += _unwritten_faults(program, whole, outside, known)
    faults += neutral_faults(program, whole, inside, outside)
    for name, kind in program.padded.items():
        if kind in ("free", "neutral"):
            faults += _free_faults(program, whole, name, outside)
    return faults + buffer_faults(program, _only(whole, running))


def _unwritten_faults(program: Program, whole: Expanded, outside: isl.UnionSet, known: isl.UnionSet) -> Iterator[Fault]:
    """Check (5): what lies outside reads nothing that has no value. `known`: what lies inside."""
    values: dict[str, isl.UnionSet] = {}
    for run, accesses in whole.per_run:
        if program.padded.get(run.statement) not in ("free", "neutral"):
            continue  # stores of zero read nothing
        beyond = isl.UnionSet.from_set(run.instances).intersect(outside)
        if beyond.is_empty():
            continue
        for access, relation in accesses:
            key = out_name(relation)
            if access.kind is not AccessKind.READ or key not in program.buffers:
                continue
            if key not in values:
                values[key] = _with_values(program, whole, key, known)
            # As pairs: it is their projection to cells that would take isl long.
            read = isl.UnionMap.from_map(relation).intersect_domain(beyond).intersect_params(program.scop.known)
            missing = read.subtract_range(values[key])
            if not missing.is_empty():
                message = f"what lies outside of a domain reads {key} where nobody has written it"
                yield Fault("padding", message, str(missing.range().sample_point()))


def _with_values(program: Program, whole: Expanded, key: str, known: isl.UnionSet) -> isl.UnionSet:
    """The cells of a buffer that something writes. What has conditions, or no border, only writes inside."""
    found = empty_set(known)
    for run, accesses in whole.per_run:
        guarded = program.padded.get(run.statement, "guarded") == "guarded"
        for access, relation in accesses:
            if access.kind is AccessKind.READ or out_name(relation) != key:
                continue
            written = isl.UnionMap.from_map(relation)
            if guarded:
                written = written.intersect_domain(known)
            found = found.union(coalesced(written.range()))
    return coalesced(found)


def _everywhere(statement: Statement, only_stores: bool) -> Statement | None:
    """The statement with its access functions outside of its domain too; None where one is not a single expression.

    only_stores: it reads nothing there.
    """
    accesses: list[Access] = []
    for access in statement.accesses:
        if only_stores and access.kind is AccessKind.READ:
            accesses.append(replace(access, relation=access.relation.intersect_domain(statement.domain)))
            continue
        relation = everywhere(access.relation) if access.exact else None
        if relation is None:
            return None
        accesses.append(replace(access, relation=relation))
    return replace(statement, accesses=tuple(accesses))


def _only(whole: Expanded, running: set[str]) -> Expanded:
    """Statements that are guarded touch nothing outside of their domains."""
    accesses = whole.accesses
    instances = empty_set(accesses.reads)
    for run in whole.runs:
        if run.statement in running:
            instances = instances.union(isl.UnionSet.from_set(run.instances))
    return replace(
        whole,
        accesses=replace(
            accesses,
            reads=accesses.reads.intersect_domain(instances),
            writes=accesses.writes.intersect_domain(instances),
            may_writes=accesses.may_writes.intersect_domain(instances),
        ),
    )


def _kind_faults(program: Program) -> Iterator[Fault]:
    for name, kind in program.padded.items():
        if kind not in _KINDS or (kind == "zero" and not _is_plain(program.statements[name])):
            yield Fault("padding", f"{name} cannot be {kind}", "")
        if kind in ("free", "neutral") and program.statements[name].opaque:
            yield Fault("padding", f"{name} is opaque, and runs outside of its domain", "")


def _is_plain(statement: Statement) -> bool:
    """`A[x] = e`: the store can be of a zero instead."""
    match statement.body:
        case c.ExprStmt(expr=c.Assign(op="=", target=c.ArrayRef())):
            return not statement.opaque
        case _:
            return False


def _free_faults(program: Program, whole: Expanded, name: str, outside: isl.UnionSet) -> Iterator[Fault]:
    for run, accesses in whole.per_run:
        if run.statement != name or isl.UnionSet.from_set(run.instances).is_disjoint(outside):
            continue
        for access, relation in accesses:
            if out_name(relation) in program.buffers:
                continue
            if access.kind is not AccessKind.READ or not _is_read_anyway(relation, outside):
                yield Fault("padding", f"{name} touches {access.array} outside of its domain", str(relation.sample()))


def _is_read_anyway(relation: isl.Map, outside: isl.UnionSet) -> bool:
    """Whether the cells that padding reads are such as the statement's own instances read at the same sizes."""
    every = isl.UnionMap.from_map(relation)
    padding, own = every.intersect_domain(outside), every.subtract_domain(outside)
    return bool(padding.range().is_subset(own.range()))


# --- registers -------------------------------------------------------------------------------------------------------


def _register_faults(program: Program, whole: Expanded) -> Iterator[Fault]:
    """Check (6) for each register buffer: for boxes of instances first, since what holds for more holds for these."""
    registers = [buffer for buffer in program.buffers.values() if buffer.storage == "register"]
    simple = [_in_a_box(program, run, accesses) for run, accesses in whole.per_run] if registers else []
    for buffer in registers:
        if list(_place_faults(program, simple, buffer)):
            yield from _place_faults(program, whole.per_run, buffer)


def _in_a_box(program: Program, run: Run, accesses: Accesses) -> tuple[Run, Accesses]:
    """The same loops, and cells of registers, for a convex set of instances, and more of them: isl works on one piece,
    not on many."""
    every = run.instances.project_out(isl.dim_type.param, 0, run.instances.dim(isl.dim_type.param))
    instances = isl.Set.from_basic_set(every.simple_hull())

    def wider(function: isl.Map) -> isl.Map:
        return (everywhere(function) or function).intersect_domain(instances)

    found = ((access, buffer_of(program, run, access), relation) for access, relation in accesses)
    mine = [
        (a, wider(relation)) for a, buffer, relation in found if buffer is not None and buffer.storage == "register"
    ]
    columns = tuple(map(wider, run.columns)) if mine else run.columns
    return replace(run, instances=instances, columns=columns), tuple(mine)


def _place_faults(program: Program, per_run: Iterable[tuple[Run, Accesses]], buffer: Buffer) -> Iterator[Fault]:
    places: isl.Map | None = None
    for run, accesses in per_run:
        for access, relation in accesses:
            if buffer_of(program, run, access) is not buffer:
                continue
            if sum(m.kind == "kernel" for m in run.path.marks) != 1:
                continue  # not mapped yet
            if any(isinstance(s, Member) and s.digit and s.digit[0] >= len(buffer.registers) for s in run.path.steps):
                yield Fault("registers", f"{run.statement} counts in more dimensions than {buffer.name} has", "")
                return
            threads, digits = _place(run, buffer)
            if threads is None:
                yield Fault("registers", f"{run.statement} uses {buffer.name} without threads", "")
                return
            if not _within(without_sizes(digits), buffer.registers):
                yield Fault("registers", f"{run.statement} leaves the registers of {buffer.name}", "")
            # At all sizes at once: tiles are numbered by their corners.
            places_here = without_sizes(threads.flat_range_product(digits))
            one = without_sizes(relation).reverse().apply_range(places_here)
            places = one if places is None else places.union(one)
    if places is None:
        return
    places = coalesced(places)
    if not places.is_single_valued():
        yield Fault("registers", f"several registers hold one cell of {buffer.name}", "")
    if not _apart(places, buffer):
        yield Fault("registers", f"one register holds several cells of {buffer.name}", "")


def _apart(places: isl.Map, buffer: Buffer) -> bool:
    """Whether in one iteration of the loops around the declaration no register holds two cells."""
    cells = places.get_space().domain()
    depth = buffer.depth
    outer = isl.Map.identity(isl.Set.universe(cells).get_space().map_from_set())
    count = outer.dim(isl.dim_type.out)
    prefix = outer.project_out(isl.dim_type.out, depth, count - depth).reset_tuple_id(isl.dim_type.out)
    return bool(prefix.flat_range_product(places).is_injective())


def _place(run: Run, buffer: Buffer) -> tuple[isl.Map | None, isl.Map]:
    """`{ instance -> [thread] }` and `{ instance -> [register] }` at one leaf; None where a thread is not one number
    of each of the block's axes."""
    zero = isl.Map.from_domain_and_range(run.instances, isl.Set.read_from_str(run.instances.get_ctx(), "{ [0] }"))
    threads: dict[str, isl.Map] = {}
    lanes: dict[str, tuple[isl.Map, Member]] = {}
    sums = [zero for _ in buffer.registers]
    (kernel,) = [m for m in run.path.marks if m.kind == "kernel"]
    for column, step in zip(run.columns, run.path.steps, strict=True):
        if not isinstance(step, Member):
            continue
        if step.mapped in THREAD_AXES:
            width = kernel.sizes[THREAD_AXES.index(step.mapped)]
            if step.mapped in threads or not _within(without_sizes(column), (width,)):
                return None, zero
            threads[step.mapped] = column
        elif step.mapped in WARP_AXES:
            if step.mapped in lanes or not _within(without_sizes(column), (step.size,)):
                return None, zero
            lanes[step.mapped] = column, step
        elif step.digit is not None:
            dimension, weight = step.digit
            sums[dimension] = _added(sums[dimension], _times(weight, column))
    digits = sums[0]
    for other in sums[1:]:
        digits = digits.flat_range_product(other)
    if lanes and not threads and lanes_deal_out([m for _, m in lanes.values()], kernel.sizes):
        for axis, (outer, inner) in zip(reversed(THREAD_AXES), (WARP_AXES[:2], WARP_AXES[2:]), strict=True):
            one, two = (lanes.get(a, (zero, None)) for a in (outer, inner))
            width = two[1].size if two[1] is not None else 1
            threads[axis] = _added(_times(width, one[0]), two[0])
    elif lanes:
        return None, digits
    if set(threads) != set(THREAD_AXES):
        return None, digits
    return threads[THREAD_AXES[0]].flat_range_product(threads[THREAD_AXES[1]]), digits


def _times(weight: int, column: isl.Map) -> isl.Map:
    return column.apply_range(isl.Map.read_from_str(column.get_ctx(), f"{{ [v] -> [{weight} v] }}"))


def _added(one: isl.Map, two: isl.Map) -> isl.Map:
    """The sum of two functions; isl wants the same parameters in both."""
    two = two.align_params(one.get_space())
    return one.align_params(two.get_space()).sum(two)


def _within(digits: isl.Map, sizes: tuple[int, ...]) -> bool:
    names = [f"r{k}" for k in range(len(sizes))]
    inside = " and ".join(f"0 <= {n} < {s}" for n, s in zip(names, sizes, strict=True))
    box = isl.Set.read_from_str(digits.get_ctx(), f"{{ [{', '.join(names)}] : {inside} }}")
    return bool(digits.range().is_subset(box))
