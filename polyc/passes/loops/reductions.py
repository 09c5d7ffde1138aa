"""Parallel reductions of whole numbers; of others, and in vectors, where any order is allowed (--reassociate)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TypeAlias

import islpy as isl

from polyc.analysis.expressions.reductions import reductions_of
from polyc.analysis.expressions.updates import any_order
from polyc.machine import load_cpu
from polyc.model.fault import Fault
from polyc.model.program import Program
from polyc.model.tree import Band, Domain, Leaf, Mark, Member, Node, Role, Sequence, walk
from polyc.nests.samples import sample_parameters
from polyc.nests.wishes import sequential
from polyc.passes.buffers.privatize import place_private_arrays
from polyc.passes.loops.small_regions import started
from polyc.poly import set_name, sets

STAGE = "reductions"
Races: TypeAlias = Callable[[Program], list[Fault]]
"""The check of marked loops, which the pipeline hands over: a mark stands only where it is accepted."""


def mark_reductions(program: Program, races: Races) -> Program:
    """Let loops that carry nothing but a reduction into a scalar run in parallel, or as vector loops.

    rewrite:  for i s += A[i]  ->  parallel for reduction(+: s) i  s += A[i]
    tree:     band[-] -> the same with `parallel` or `vector`, and the reductions that it needs
    requires: marks on the coincident loops; `--reassociate`, since the order of additions changes, but for whole
              numbers in parallel loops: these leave the same bits, and vectors of them are the C compiler's; and but
              for the largest or smallest of magnitudes (`magnitudes.py`), in parallel and in vectors
    ensures:  the race check accepts each loop: what it carries is the reduction alone
    """
    tree = program.tree
    for band in [n for n in walk(tree.child) if isinstance(n, Band)]:
        marked = _marked(program, band)
        if marked is None or (any(m.parallel for m in marked.members) and _below(band) & sequential(program)):
            continue
        candidate = replace(program, tree=Domain(tree.domain, swapped(program.tree.child, band, marked)))
        placed = place_private_arrays(candidate)
        if races(placed):
            continue
        own = own_arrays(placed, marked)
        if own & {array for m in marked.members for _, array in m.reductions}:
            # Each iteration has its own, which no other one adds to. If that is all: `parallel` has said what it runs.
            marked = _without(marked, own)
            candidate = replace(program, tree=Domain(tree.domain, swapped(program.tree.child, band, marked)))
            if not any(m.reductions for m in marked.members) or races(place_private_arrays(candidate)):
                continue
        loop = next(m for m in marked.members if m.reductions)
        names = ", ".join(f"{op}: {array}" for op, array in loop.reductions)
        program = candidate.remark(
            "reduction",
            STAGE,
            f"loop {loop.name} runs {'in parallel' if loop.parallel else 'as a vector loop'} with reduction({names})",
            tuple(sorted(_below(band))),
        )
    return program


def _marked(program: Program, band: Band) -> Band | None:
    """The band with its first loop made a reduction, if it has scalars that are only reduced below."""
    position = 0 if not band.members[0].coincident else len(band.members) - 1
    member = band.members[position]
    if member.coincident or member.role is Role.TILE:
        return None
    reduced: dict[str, str] = {}
    spread = [b for b in program.buffers.values() if b.places is not None]
    if any(name in _below(band) for b in spread for name, _ in b.accesses):
        return None  # a place for each of several iterations is no variable that a clause could name
    for name in _below(band):
        for array, operator in reductions_of(program.statements[name], program.scop.arrays).items():
            allowed = program.options.reassociate or any_order(operator, array, program.scop)
            if allowed and reduced.get(array, operator) == operator:
                reduced[array] = operator
    if not reduced:
        return None
    reductions = tuple(sorted((op, array) for array, op in reduced.items()))
    innermost = position == len(band.members) - 1 and all(isinstance(n, Leaf | Sequence) for n in walk(band.child))
    around = [n for n in walk(program.tree.child) if isinstance(n, Band) and any(x is band for x in walk(n))]
    if any(m.vector for n in around for m in n.members):
        return None  # each lane of the loop around has a sum of its own
    above = any(m.parallel for n in around for m in n.members)
    changed: Member | None = None
    if not above and position == 0:
        outer = tuple(m for n in around if n is not band for m in n.members)
        machine, at = load_cpu(program.options.machine), sample_parameters(program)
        changed = started(program, machine, at, outer, replace(member, parallel=True, reductions=reductions))
    floats = all(program.scop.arrays[array].element.kind == "float" for array in reduced)
    if changed is None and innermost and (program.options.reassociate or floats):
        changed = replace(member, vector=True, reductions=reductions)
    if changed is None:
        return None
    return replace(band, members=(*band.members[:position], changed, *band.members[position + 1 :]))


def _without(band: Band, arrays: set[str]) -> Band:
    """The band without reductions into some arrays."""
    members = (replace(m, reductions=tuple(one for one in m.reductions if one[1] not in arrays)) for m in band.members)
    return replace(band, members=tuple(members))


def own_arrays(placed: Program, marked: Band) -> set[str]:
    """The arrays of which each iteration of a band's loops has its own, where private arrays have their places."""
    bands = [n for n in walk(placed.tree.child) if isinstance(n, Band) and n.members == marked.members]
    marks = [n for band in bands for n in walk(band.child) if isinstance(n, Mark) and n.kind == "allocate"]
    names = {name for mark in marks for name in mark.names}
    return {buffer.array for key, buffer in placed.buffers.items() if key in names}


def _below(band: Band) -> set[str]:
    return {set_name(s) for s in sets(band.members[0].schedule.domain())}


def carried_beside(program: Program, races: Races, band: Band, marked: Band) -> str | None:
    """What a band that is marked carries beside what its marks allow; None where that is nothing."""
    tree = Domain(program.tree.domain, swapped(program.tree.child, band, marked))
    try:
        faults = races(place_private_arrays(replace(program, tree=tree)))
    except isl.Error:
        return "finding out what else the loop carries takes too many steps"
    return faults[0].message if faults else None


def without_not_parallel(program: Program, below: Iterable[str]) -> Program:
    """The program without remarks that each loop of some statements carries a dependence: that was said when it was
    true."""
    inside = set(below)
    kept = (r for r in program.remarks if r.code != "not-parallel" or not set(r.statements) <= inside)
    return replace(program, remarks=tuple(kept))


def swapped(node: Node, old: Band, new: Band) -> Node:
    """The tree with one band replaced; subtrees without it stay the same objects."""
    if node is old:
        return new
    if not any(n is old for n in walk(node)):
        return node
    match node:
        case Leaf():
            return node
        case Sequence(children=steps):
            return Sequence(tuple(replace(s, child=swapped(s.child, old, new)) for s in steps))
        case _:
            return replace(node, child=swapped(node.child, old, new))
