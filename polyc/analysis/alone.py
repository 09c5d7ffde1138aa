"""What one thread of a GPU runs alone, though nothing in its region is more work: a core is many times as fast."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import islpy as isl

from polyc.model.program import Program
from polyc.model.tree import Band, Extension, Leaf, Mark, Node, Sequence, instances_below
from polyc.poly import constant_of, set_name, sets
from polyc.records import dataclass

LONG = 1000
"""Instances of a known number from which on they count."""
FASTER = 100
"""How many times as much the threads of a GPU must have to do, so that what one of them does alone does not matter."""


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


def most_work_alone(program: Program) -> str | None:
    """A statement that one thread runs in order, over all blocks, where no other one has more to do, as far as is
    known; None where there is none."""
    every = [_work(one.domain) for one in program.scop.statements.values()]
    for instances in _alone(program.tree.child, program.tree.domain):
        for piece in sets(instances):
            own = program.scop.statements.get(set_name(piece))
            if own is None:
                continue
            work = _work(piece.intersect(own.domain))
            long = bool(work.sizes) or work.number >= LONG
            if long and not any(work.is_little_beside(other) for other in every):
                return own.name
    return None


def _alone(node: Node, reaching: isl.UnionSet) -> Iterator[isl.UnionSet]:
    """The instances of which no loop is dealt out to blocks or threads."""
    match node:
        case Band(members=members) if any(member.mapped for member in members):
            return
        case Mark(kind="reduce"):
            return
        case Leaf():
            yield reaching
        case Sequence(children=steps):
            for step in steps:
                yield from _alone(step.child, instances_below(step).intersect(reaching))
        case Band(child=child) | Mark(child=child) | Extension(child=child):
            yield from _alone(child, reaching)


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


__all__ = ["most_work_alone"]
