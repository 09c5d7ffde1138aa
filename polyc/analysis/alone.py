"""What few threads of a GPU run, though nothing in its region is more work: a core is many times as fast."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import islpy as isl

from polyc.analysis.expressions.facts import constant
from polyc.analysis.inside import counted
from polyc.model import ctree as c
from polyc.model.program import Program
from polyc.model.tree import Band, Extension, Leaf, Mark, Member, Node, Role, Sequence, instances_below
from polyc.poly import affine_map, affine_of, constant_of, in_name, maps, out_name, set_name, sets, value_on
from polyc.records import dataclass

LONG = 1000
"""Instances of a known number from which on they count."""
FASTER = 100
"""How many times as much the threads of a GPU must have to do, so that what one of them does alone does not matter."""
FEW = 32
"""Threads that are no more than one: fewer than a warp has."""
UNKNOWN = 1000
"""Iterations that a loop has, as far as is known, inside of a statement that is kept whole."""


@dataclass(frozen=True, slots=True)
class Alone:
    """What few threads run."""

    statement: str
    threads: int
    whole: bool
    """Whether these are loops inside of the statement, of which the model knows nothing."""
    carried: tuple[str, ...]
    """What one iteration of the outermost loop that is in order hands to a later one."""


@dataclass(frozen=True, slots=True)
class _Work:
    """How often a statement runs: a product of lengths of loops."""

    sizes: Counter[str]
    """Those that are known at run time only, by their parameters."""
    number: int
    """The product of the others."""

    def is_little_beside(self, other: _Work) -> bool:
        if self.sizes == other.sizes:
            return other.number >= FASTER * self.number
        return self.sizes < other.sizes

    def times(self, other: _Work) -> _Work:
        return _Work(self.sizes + other.sizes, self.number * other.number)

    @property
    def is_long(self) -> bool:
        return bool(self.sizes) or self.number >= LONG


ONCE = _Work(Counter(), 1)


def most_work_alone(program: Program) -> Alone | None:
    """A statement that few threads run in order, over all blocks, where no other one has more to do, as far as is
    known; None where there is none."""
    scop = program.scop
    inside = {name: _inside(one.body) for name, one in scop.statements.items()}
    every = [_work(one.domain).times(inside[name]) for name, one in scop.statements.items()]
    for instances, mapped, first in _leaves(program.tree.child, program.tree.domain):
        for piece in sets(instances):
            own = scop.statements.get(set_name(piece))
            if own is None:
                continue
            domain = piece.intersect(own.domain)
            threads = _threads(domain, mapped)
            if threads is None or threads >= FEW:
                continue
            around = _work(_of_one_thread(domain, mapped))
            work = around.times(inside[own.name])
            if work.is_long and not any(work.is_little_beside(other) for other in every):
                return Alone(own.name, threads, not around.is_long, _carried(program, first))
    return None


def _leaves(
    node: Node, reaching: isl.UnionSet, mapped: tuple[Member, ...] = (), first: Member | None = None
) -> Iterator[tuple[isl.UnionSet, tuple[Member, ...], Member | None]]:
    """What runs below no reduction, with the loops around it that are dealt out to blocks or threads, and the outermost
    one of the others."""
    match node:
        case Mark(kind="reduce"):
            return
        case Leaf():
            yield reaching, mapped, first
        case Sequence(children=steps):
            for step in steps:
                yield from _leaves(step.child, instances_below(step).intersect(reaching), mapped, first)
        case Band(members=members, child=child):
            first = first or next((m for m in members if not m.mapped and m.role is not Role.TILE), None)
            yield from _leaves(child, reaching, (*mapped, *(m for m in members if m.mapped)), first)
        case Mark(child=child) | Extension(child=child):
            yield from _leaves(child, reaching, mapped, first)


def _carried(program: Program, loop: Member | None) -> tuple[str, ...]:
    """The names of arrays through which statements hand values of their own from one iteration of a loop to another."""
    if loop is None:
        return ()
    value, arrays = isl.UnionMap.from_union_pw_aff(loop.schedule), program.scop.arrays
    return tuple(
        arrays[array].c_name
        for array, flow in sorted(program.dependences.flow_by_array.items())
        if array in arrays and any(_moves(one, value) for one in maps(flow) if in_name(one) == out_name(one))
    )


def _moves(flow: isl.Map, value: isl.UnionMap) -> bool:
    """Whether instances that a dependence goes between differ in a value."""
    pairs = isl.UnionMap.from_map(flow)
    there = pairs.apply_domain(value).apply_range(value)
    return any(not one.is_subset(isl.Map.identity(one.get_space())) for one in maps(there))


def _values(domain: isl.Set, mapped: tuple[Member, ...]) -> isl.Map | None:
    """`{ S[i] -> [v] }` of some loops; None where that is not affine."""
    values = [affine_of(value_on(m.schedule, domain.get_space())) for m in mapped]
    known = [value for value in values if value is not None]
    return affine_map(domain.get_space(), known).intersect_domain(domain) if len(known) == len(values) else None


def _threads(domain: isl.Set, mapped: tuple[Member, ...]) -> int | None:
    """How many threads share instances; None where the sizes decide, or nothing is known."""
    if not mapped:
        return 1
    values = _values(domain, mapped)
    work = None if values is None else _work(values.range())
    return None if work is None or work.sizes else work.number


def _of_one_thread(domain: isl.Set, mapped: tuple[Member, ...]) -> isl.Set:
    """Some of the instances: those of one thread, or of more."""
    values = _values(domain, mapped) if mapped else None
    if values is None:
        return domain
    return values.intersect_range(values.range().lexmin()).domain()


def _inside(body: c.Stmt) -> _Work:
    """The most that loops inside of a statement run."""

    def most(node: c.Node) -> _Work:
        below = [most(child) for child in c.children(node)]
        found = max(below, key=lambda work: (work.sizes.total(), work.number), default=ONCE)
        match node:
            case c.For():
                return found.times(_trips(node, body))
            case c.While():
                return found.times(_Work(Counter(), UNKNOWN))
        return found

    return most(body) if c.has_loops(body) else ONCE


def _trips(loop: c.For, whole: c.Stmt) -> _Work:
    """How many iterations a loop inside of a statement has."""
    own = counted(loop, whole)
    if own is None:
        return _Work(Counter(), UNKNOWN)
    first, *ends = (bound.right for bound in own.bounds if isinstance(bound, c.Binary))
    start = constant(first)
    for end in ends:
        last = constant(end)
        if start is not None and last is not None:
            return _Work(Counter(), max(1, abs(last - start) // abs(own.head.step)))
    names = {n.name for n in c.walk(ends[0]) if isinstance(n, c.Name)}
    return _Work(Counter([" ".join(sorted(names))]), 1) if names else _Work(Counter(), UNKNOWN)


def _work(domain: isl.Set) -> _Work:
    sizes, number = Counter[str](), 1
    count = domain.dim(isl.dim_type.set)
    for k in range(count):
        outer = domain.project_out(isl.dim_type.set, k + 1, count - k - 1).reset_tuple_id()
        if isl.Map.from_range(outer).move_dims(isl.dim_type.in_, 0, isl.dim_type.out, 0, k).is_single_valued():
            continue  # the loops around decide it
        length = domain.dim_max(k).sub(domain.dim_min(k)).coalesce().gist(domain.params())
        known = constant_of(length)
        if known is not None:
            number *= known + 1
            continue
        involved = (p for p in range(length.dim(isl.dim_type.param)) if length.involves_dims(isl.dim_type.param, p, 1))
        sizes[" ".join(str(length.get_dim_name(isl.dim_type.param, p)) for p in involved)] += 1
    return _Work(sizes, number)


__all__ = ["Alone", "most_work_alone"]
