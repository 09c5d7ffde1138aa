"""How far a result may be off where tensor cores sum up: from the width of tf32 and the lengths of the sums.

math: a factor with 10 bits of mantissa is off by 2^-11 of itself at most, a product of two by 2^-10 (and 2^-22). What n
      such products of one sign add up to is off by 2^-10 of itself, and each addition in float, of the result's sum and
      of the original's, by 2^-23 more at most. The input of `polyc verify` is positive; where sums of it cancel each
      other out, less of the result is right than this says. Products of halves are exact: only additions count. Where
      sums are made from sums, both are off: they add up.
"""

from __future__ import annotations

from math import prod

import islpy as isl

from polyc.model.fragments import TF32
from polyc.model.program import Program
from polyc.model.scop import AccessKind, Scop
from polyc.model.tree import Mark, walk
from polyc.poly import affine_of, in_name, maps, out_name
from polyc.runtime import sizes

FACTORS, ADDITION = 2.0**-10 + 2.0**-22, 2.0**-22
"""Relative, for a product of two factors of tf32, and for each addition."""


def sums_on_tensor_cores(program: Program) -> dict[str, bool]:
    """The statements that tensor cores sum up, and whether they round the factors."""
    marks = [n for n in walk(program.tree.child) if isinstance(n, Mark) and n.kind == "mma"]
    return {mark.names[0]: mark.text == TF32.name for mark in marks}


def tolerances(program: Program, values: dict[str, int]) -> dict[str, float]:
    """For each array that such sums reach, how far its values may be off, relative to themselves."""
    scop, sums = program.scop, sums_on_tensor_cores(program)
    if not sums:
        return {}
    after: dict[str, set[str]] = {}
    for one in maps(program.dependences.flow):
        after.setdefault(in_name(one), set()).add(out_name(one))
    found: dict[str, float] = {}
    for name, rounded in sums.items():
        reached, waiting = {name}, [name]
        while waiting:
            more = after.get(waiting.pop(), set()) - reached
            reached |= more
            waiting += more
        arrays = {a.array for s in reached for a in scop.statements[s].accesses if a.kind is not AccessKind.READ}
        off = FACTORS * rounded + ADDITION * length(scop, name, values)
        for array in arrays:
            found[array] = found.get(array, 0.0) + off
    return found


def length(scop: Scop, name: str, values: dict[str, int]) -> int:
    """How many products a statement adds into one cell, at most."""
    statement = scop.statements[name]
    (written,) = [a for a in statement.accesses if a.kind is not AccessKind.READ]
    cell = isl.PwMultiAff.from_map(written.relation)
    indices = [affine_of(cell.get_pw_aff(d)) for d in range(cell.dim(isl.dim_type.out))]
    domain = statement.domain.intersect_params(sizes.fixed(values))
    spans = []
    for d in range(domain.dim(isl.dim_type.set)):
        if not any(i is None or i.involves_dims(isl.dim_type.in_, d, 1) for i in indices):
            span = sizes.bounds(domain, d)
            spans.append(span[1] - span[0] + 1 if span else 0)
    return prod(spans)
