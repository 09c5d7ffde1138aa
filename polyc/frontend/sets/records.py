"""Offsets between records: `l` of `a[j]`, `a[j + 1]`, `a[j + l]` and `a[j + l + 1]` in a loop of step 2.

Whether such iterations touch one element depends on whether `l` is even: with an odd one the second half of a record is
the first half of another. The region is modelled for offsets of whole records, which the guard asks for; others run
the original code. Then no schedule has to align iterations that meet at odd offsets only.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import gcd

import islpy as isl

from polyc.frontend.c.state import EVERYTHING
from polyc.model.scop import AccessKind, Scop, Statement
from polyc.model.tree import Domain, Node, Sequence, rewrite
from polyc.records import dataclass, replace

MOST = 64
"""Longer steps are no records."""
LEAST_PLACES = 2
"""Places of a record that are touched, below which nothing is assumed of what lies between records."""


@dataclass(frozen=True, slots=True)
class Offset:
    """Where in its records an access lies."""

    step: int
    parameters: tuple[tuple[str, int], ...]
    """The parameters in its subscript, each with its factor modulo the step."""
    place: int
    """The constant in its subscript modulo the step."""


def whole_records(statements: Iterable[Statement], known: isl.Set) -> isl.Set:
    """The parameters for which offsets between the records of an array are whole records.

    math: { p : f p mod s = 0 } for each factor f != 0 mod s of a parameter p alone in the subscripts of an array that
          is written, all of step s, where the same places of records are touched with it and without it, two or more
    """
    touched: dict[tuple[str, int], list[Offset | None]] = {}
    written: set[str] = set()
    for statement in statements:
        for access in statement.accesses:
            if access.kind is not AccessKind.READ:
                written.add(access.array)
            for dim in range(access.relation.dim(isl.dim_type.out)):
                found = offset_of(access.relation, dim) if access.exact else None
                touched.setdefault((access.array, dim), []).append(found)
    asked = EVERYTHING
    for (array, _), offsets in touched.items():
        if array in written:
            for name, divisor in between(offsets):
                asked = asked.intersect(multiple(name, divisor))
    return EVERYTHING if asked.intersect(known).is_empty() else asked


def offset_of(relation: isl.Map, dim: int) -> Offset | None:
    """Where an access lies in records, in one dimension; None where its elements have no step."""
    values = relation.range()
    if values.is_empty() or values.n_basic_set() > 1:
        return None
    info = values.get_stride_info(dim)
    step, offset = int(info.get_stride().to_python()), info.get_offset()
    if not 1 < step <= MOST or offset.dim(isl.dim_type.div):
        return None
    param = isl.dim_type.param
    factors = ((offset.get_dim_name(param, n), offset.get_coefficient_val(param, n)) for n in range(offset.dim(param)))
    constant = offset.get_constant_val()
    found = {name: value for name, value in factors if name is not None and not value.is_zero()}
    if not constant.is_int() or not all(value.is_int() for value in found.values()):
        return None
    rests = {name: int(value.to_python()) % step for name, value in found.items()}
    return Offset(step, tuple((n, v) for n, v in sorted(rests.items()) if v), int(constant.to_python()) % step)


def between(offsets: list[Offset | None]) -> list[tuple[str, int]]:
    """The parameters that lie between the records of an array, each with what it has to be a multiple of."""
    known = [offset for offset in offsets if offset is not None]
    if len(known) < len(offsets) or len({offset.step for offset in known}) != 1:
        return []
    step = known[0].step
    plain = {offset.place for offset in known if not offset.parameters}
    found: dict[str, int] = {}
    for parameters in {offset.parameters for offset in known if len(offset.parameters) == 1}:
        ((name, factor),) = parameters
        places = {offset.place for offset in known if offset.parameters == parameters}
        if len(places) < LEAST_PLACES or len(plain) < LEAST_PLACES or not places & plain:
            return []
        divisor = step // gcd(step, factor)
        found[name] = max(found.get(name, 1), divisor) if divisor % found.get(name, 1) == 0 else step
    return sorted(found.items()) if all(len(offset.parameters) < LEAST_PLACES for offset in known) else []


def multiple(name: str, divisor: int) -> isl.Set:
    return isl.Set(f"[{name}] -> {{ [] : {name} mod {divisor} = 0 }}")


def at_records(scop: Scop, records: isl.Set) -> Scop:
    """The region that runs nothing at other sizes: no order is held back by what these would touch."""
    if records.plain_is_universe():
        return scop
    domain = scop.domain.intersect_params(records)
    statements = {
        name: replace(
            statement,
            domain=statement.domain.intersect_params(records),
            accesses=tuple(replace(a, relation=a.relation.intersect_params(records)) for a in statement.accesses),
        )
        for name, statement in scop.statements.items()
    }

    def change(node: Node) -> Node:
        if not isinstance(node, Sequence):
            return node
        return Sequence(tuple(replace(step, filter=step.filter.intersect(domain)) for step in node.children))

    return replace(scop, statements=statements, tree=Domain(domain, rewrite(scop.tree.child, change)))
