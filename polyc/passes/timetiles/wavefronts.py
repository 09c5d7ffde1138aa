"""The order inside of a time tile: as it was written, with its parallel loops found, and recurrences in wavefronts."""

from __future__ import annotations

from dataclasses import replace

import islpy as isl

from polyc.model.tree import Band, Filter, Leaf, Member, Node, Role, Sequence
from polyc.poly import among, least_of, maps

STEEPEST = 4
"""Iterations of an inner loop that a row of a wavefront may lag behind the row before."""


def ordered_points(node: Node, dependences: isl.UnionMap) -> Node:
    """The subtree with its coincident loops marked, and pairs of loops that carry recurrences turned into wavefronts.

    rewrite:  for i for j A[i][j] = f(A[i - 1][j + 1], A[i][j - 1])
              -> for w for i A[i][w - 2 * i] = f(…)
              No instance of the inner loop needs another one of it, so that a processor overlaps what are long chains
              of operations otherwise.
    math:     w = j + c * i with w(y) - w(x) > 0 for every dependence x -> y that the loops i and j carry
    dependences: those of one iteration of the loops above
    """
    match node:
        case Band(members=(outer,), child=Band(members=(inner,), child=Leaf() as leaf)) if (
            skewed := _wavefront(outer, inner, dependences)
        ) is not None:
            # Not called coincident: neighbours in it lie in different rows, which vector units do not like.
            return Band((skewed,), False, Band((replace(outer, role=Role.POINT),), False, leaf))
        case Band(members=members):
            found: list[Member] = []
            for member in members:
                one = isl.MultiUnionPwAff.from_union_pw_aff(member.schedule)
                inside = dependences.eq_at_multi_union_pw_aff(one)
                free = bool(dependences.is_subset(inside))
                found.append(replace(member, coincident=free, role=Role.POINT))
                dependences = inside
            return replace(node, members=tuple(found), child=ordered_points(node.child, dependences))
        case Sequence(children=steps):
            return Sequence(
                tuple(
                    Filter(
                        s.filter,
                        ordered_points(s.child, among(dependences, s.filter)),
                    )
                    for s in steps
                )
            )
        case _:
            return node


def _wavefront(outer: Member, inner: Member, dependences: isl.UnionMap) -> Member | None:
    """The outer loop of a wavefront, where both loops carry dependences and it can carry all of them."""
    if dependences.is_empty() or any(_free(member, dependences) for member in (outer, inner)):
        return None
    for steepness in range(1, STEEPEST + 1):
        factor = isl.Val.int_from_si(outer.schedule.get_ctx(), steepness)
        front = inner.schedule.add(outer.schedule.scale_val(factor))
        if _positive(dependences, front):
            return replace(inner, schedule=front, coincident=False, role=Role.POINT, name=f"{outer.name}_{inner.name}")
    return None


def _free(member: Member, dependences: isl.UnionMap) -> bool:
    one = isl.MultiUnionPwAff.from_union_pw_aff(member.schedule)
    return bool(dependences.is_subset(dependences.eq_at_multi_union_pw_aff(one)))


def _positive(dependences: isl.UnionMap, value: isl.UnionPwAff) -> bool:
    """Whether the value grows along all dependences."""
    times = isl.UnionMap.from_union_pw_aff(value)
    for pairs in maps(dependences.apply_domain(times).apply_range(times)):
        distance = least_of(pairs.deltas(), 0)
        if not distance.is_int() or distance.to_python() < 1:
            return False
    return True
