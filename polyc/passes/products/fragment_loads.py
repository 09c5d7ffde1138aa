"""Whether tensor cores may sum up a contraction: what the user permits, and what its statement is."""

from __future__ import annotations

from math import gcd

import islpy as isl

from polyc.machine import GENERIC, Gpu, load_gpu
from polyc.model.fragments import FRAGMENTS, LANES, TF32, Fragment, factors
from polyc.model.program import Program
from polyc.model.scop import Access
from polyc.model.tree import Band
from polyc.nests.contractions import Contraction, extent_of, varies
from polyc.poly import affine_map, affine_of, value_on

FIRST_WITH_HALVES = (7, 5)
"""Compute capability. 7.0 has other fragments (m8n8k4)."""


def fragment_of(program: Program, band: Band, contraction: Contraction) -> Fragment | str | None:
    """What tensor cores may multiply for a contraction; why they may not; None where nobody asks for them.

    requires: `X += a * b` with a of one row and b of one column, X float, a and b floats or halves; sums that have the
              same length in all rows and columns; inner loops of the sum of constant length, so that its products can
              be counted through
    """
    options, arrays = program.options, program.scop.arrays
    sums, factors = arrays[contraction.array].element, [arrays[a.array].element for a in contraction.operands]
    fragment = next((f for f in FRAGMENTS.values() if f.takes(sums, factors)), None)
    if not (options.allow_tf32 if fragment is None else fragment.permitted(options)):
        return None
    if options.target != "cuda":
        return "OpenCL has no words for them"
    machine = load_gpu(options.machine)
    if machine.warp_size != LANES:
        return f"its warps have {machine.warp_size} threads"
    operands = fragment_operands(program, band, contraction)
    if operands is None:
        return "what it sums up is not the product of one element of a row and one of a column"
    if fragment is None and sums.size_bytes == 2:
        return "its sums are rounded to half precision at each step"
    if fragment is None:
        return "not all of its elements are float, nor its factors halves and its sums float"
    if options.machine != GENERIC and not _has(machine, fragment):
        return f"{machine.name} has none for {'floats' if fragment is TF32 else 'such products of halves'}"
    if len(contraction.chain) > 1:
        return "its sum runs over several loops"
    if not _same_length(program, band, contraction):
        return "how long its sum is depends on the row or the column"
    return fragment


def _has(machine: Gpu, fragment: Fragment) -> bool:
    """Whether a machine has the instruction."""
    if fragment is TF32:
        return machine.tensor_tf32_gflops > 0
    version = tuple(int(part) for part in machine.compute_capability.split(".") if part)
    return machine.tensor_half_gflops > 0 and version >= FIRST_WITH_HALVES


def fragment_operands(program: Program, band: Band, contraction: Contraction) -> tuple[Access, Access] | None:
    """The operand with the rows and the one with the columns."""
    statement = program.scop.statements[contraction.statement]
    found = factors(statement.body)
    if found is None or statement.opaque:
        return None
    reads = {a.ref: a for a in contraction.operands}
    if any(ref.ref not in reads for ref in found) or found[0].ref == found[1].ref:
        return None
    one, two = (reads[ref.ref] for ref in found)
    members = (band.members[contraction.rows], band.members[contraction.columns])
    kinds = [tuple(varies(a, m, statement.domain) for m in members) for a in (one, two)]
    if kinds == [(True, False), (False, True)]:
        return one, two
    return (two, one) if kinds == [(False, True), (True, False)] else None


def chain_weights(program: Program, contraction: Contraction) -> tuple[int, ...] | None:
    """How far apart the products of neighbouring iterations of each summing loop are, outermost first, where all are
    counted through; None where inner loops are not 0 <= k < constant."""
    domain = program.scop.statements[contraction.statement].domain.intersect_params(program.scop.known)
    weights = [1]
    for member in reversed(contraction.chain[1:]):
        extent = extent_of(program, member, contraction.statement)
        low = value_on(member.schedule, domain.get_space()).intersect_domain(domain).min_val()
        if extent is None or not low.is_zero():
            return None
        weights.append(weights[-1] * extent)
    return tuple(reversed(weights))


def granule_of(fragment: Fragment, weights: tuple[int, ...]) -> int:
    """Products after which both an iteration of the outermost summing loop and a fragment end."""
    return fragment.depth * weights[0] // gcd(fragment.depth, weights[0])


def _same_length(program: Program, band: Band, contraction: Contraction) -> bool:
    """Whether the statement's domain is all pairs of an iteration of the parallel loops and one of the sum's."""
    domain = program.scop.statements[contraction.statement].domain.intersect_params(program.scop.known)
    space = domain.get_space()
    members = (*band.members[: band.coincident_prefix], *contraction.chain)
    values = [affine_of(value_on(m.schedule, space)) for m in members]
    if any(v is None for v in values):
        return False
    known = [v for v in values if v is not None]
    count = band.coincident_prefix
    # { S[i, j, k] -> [[i, j] -> [k]] }
    split = affine_map(space, known[:count]).range_product(affine_map(space, known[count:]))
    both = domain.apply(split).unwrap()
    return bool(isl.Map.from_domain_and_range(both.domain(), both.range()).is_equal(both))
