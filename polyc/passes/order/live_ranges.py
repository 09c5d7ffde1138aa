"""Live ranges of private arrays that lead from one step of a schedule to another."""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl

from polyc.model.program import Program
from polyc.model.tree import Band, Domain, Member, Node, Sequence, child_nodes, walk
from polyc.nests.nest import Outer
from polyc.poly import empty_map, in_name, maps, set_name, sets, union_of


def kept_by_others(tree: Domain, program: Program) -> isl.UnionMap:
    """`{ S[i] -> T[j] }`: false dependences of private arrays, inside a step of a sequence or a band, that have to stay
    since a value comes into it or leaves it.

    isl schedules the steps of a sequence one by one, and forgets the conditions of conditional validity that lead from
    one to another: the loop of a step is coincident for it although its last write is read in the next step. So it does
    with those that the loops around an inner band carry.

    math: with L the live ranges between two steps in one iteration v of the loops around, or from one v to another, and
          F the false dependences of one step, or of the inner band, in one v, by references: F . ran L^-1 and
          dom F . L, that is, those after the end of such a range and those before its begin
    """
    dependences = program.dependences
    none = empty_map(program.scop.domain)
    if dependences.tagged_private_false.is_empty():
        return none
    flow = _by_statements(dependences.tagged_flow)
    false = _by_statements(dependences.tagged_private_false)
    found: list[isl.Map] = []
    for sequence, around in _sequences(tree.child, ()):
        step_of = {set_name(s): k for k, step in enumerate(sequence.children) for s in sets(step.filter)}
        loops = {k for k, step in enumerate(sequence.children) if any(isinstance(n, Band) for n in walk(step.child))}
        leading = [p for one, two, p in flow if {one, two} <= step_of.keys() and step_of[one] != step_of[two]]
        staying = [p for one, two, p in false if step_of.get(one) == step_of.get(two, -1) and step_of[one] in loops]
        if not leading or not staying:
            continue
        crossing, inside = _same(union_of(leading, none), around), union_of(staying, none)
        found += maps(_kept(inside, crossing, around))
    for band, around in _inner_bands(tree.child, ()):
        here = {set_name(s) for s in sets(band.members[0].schedule.domain())}
        leading = [p for one, two, p in flow if one in here or two in here]
        staying = [p for one, two, p in false if {one, two} <= here]
        if not leading or not staying:
            continue
        ranges = union_of(leading, none)
        found += maps(_kept(union_of(staying, none), ranges.subtract(_same(ranges, around)), around))
    return union_of(found, none)


def _kept(false: isl.UnionMap, leaving: isl.UnionMap, around: tuple[Member, ...]) -> isl.UnionMap:
    """The false dependences, in one iteration of the loops around, at the ends of live ranges that leave the place."""
    kept = false.intersect_range(leaving.domain()).union(false.intersect_domain(leaving.range()))
    return _same(kept, around).domain_factor_domain().range_factor_domain()


def _by_statements(tagged: isl.UnionMap) -> list[tuple[str, str, isl.Map]]:
    """The pieces of `{ [S[i] -> a[]] -> [T[j] -> b[]] }`, with the names of S and T."""
    return [(in_name(piece.domain().unwrap()), in_name(piece.range().unwrap()), piece) for piece in maps(tagged)]


def _sequences(node: Node, around: tuple[Member, ...]) -> Iterator[tuple[Sequence, tuple[Member, ...]]]:
    """Each sequence, with the loops around it."""
    if isinstance(node, Sequence):
        yield node, around
    inside = (*around, *node.members) if isinstance(node, Band) else around
    for child in child_nodes(node):
        yield from _sequences(child, inside)


def _inner_bands(node: Node, around: tuple[Member, ...]) -> Iterator[tuple[Band, tuple[Member, ...]]]:
    """Each band inside of loops that may carry values, with all loops around it."""
    if isinstance(node, Band) and not all(member.coincident for member in around):
        yield node, around
    inside = (*around, *node.members) if isinstance(node, Band) else around
    for child in child_nodes(node):
        yield from _inner_bands(child, inside)


def _same(tagged: isl.UnionMap, around: tuple[Member, ...]) -> isl.UnionMap:
    """The pairs of references in one iteration of some loops."""
    if not around or tagged.is_empty():
        return tagged
    plain = tagged.domain_factor_domain().range_factor_domain()
    return tagged.zip().intersect_domain(Outer(around).same_iteration(plain).wrap()).zip()


__all__ = ["kept_by_others"]
