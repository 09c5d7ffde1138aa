"""Scatters in parallel that keep their order: each thread runs the iterations that add to its own cells."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import replace
from math import prod

import islpy as isl

from polyc.analysis.expressions.reductions import reduction_of, scatter_of
from polyc.machine import load_cpu
from polyc.model import ctree as c
from polyc.model.program import Program
from polyc.model.scop import AccessKind, Array, Statement
from polyc.model.tree import Band, Role, walk
from polyc.nests.samples import sample_parameters
from polyc.nests.tiling import tile_members
from polyc.passes.loops.small_regions import worth_of
from polyc.poly import constant_of, names

BLOCK = 1024
"""Iterations of which the lowest and the highest cell are looked up together: their indices are in the first cache."""

FEW_BYTES = 64 * 1024
"""Of an array that each block of iterations goes to most cells of: `scatters.py` makes copies of some of these."""


def with_owners(program: Program, band: Band, array: Array) -> Band | None:
    """The loop in blocks of iterations that the owners of cells run in parallel; None where it has another form.

    rewrite:  for e net[head[e]] += w[e]
              -> for eb by 1024 { range[eb] = lowest and highest of head[e], eb <= e < eb + 1024 }
                 parallel for the parts p of the cells { for eb if range[eb] meets p { for e if head[e] in p … } }
    tree:     band(e) -> band(eb by 1024, parallel with `owned`) - band(e)
    math:     each cell belongs to one part, which runs all iterations that update it, in their order; so that each cell
              has its sums in their order, and the same bits. An iteration runs in one part or in several: what it does
              besides is its own
    requires: one loop, nothing around it; one array of one dimension that data decide on, and updates of it
    source:   owner computes (Callahan and Kennedy 1988), with an inspector (Saltz et al. 1991) that a run asks
    """
    member = band.members[0]
    if few_cells(array):
        return None  # each block of iterations goes to cells of all owners
    loops = any(isinstance(node, Band) for node in walk(band.child))
    if len(band.members) != 1 or member.role is not Role.LOOP or loops or array.rank != 1:
        return None
    below = [program.statements[name] for name in names(member.schedule.domain())]
    updates = [s for s in below if any(a.array == array.name for a in s.accesses)]
    written = {a.array for s in below for a in s.accesses if a.kind is not AccessKind.READ}
    values = isl.UnionMap.from_union_pw_aff(member.schedule).intersect_domain(program.tree.domain)
    for statement in updates:
        place = _place(statement, array, program.scop.arrays)
        runs = values.intersect_domain(isl.UnionSet.from_set(statement.domain)).range()
        if place is None or not _is_pure(place, written - program.scop.privatizable):
            return None
        if isinstance(place, c.ArrayRef) and program.scop.arrays[place.array].element.size_bytes == 1:
            return None  # one of 256 cells
        if not values.range().is_subset(runs):
            return None
    pairs = {_update(s, program.scop.arrays) for s in updates} - {None}
    worth = None
    if program.options.threads != "always":
        machine = load_cpu(program.options.machine)
        worth = worth_of(program, machine, sample_parameters(program), (), member)
        if worth is not None and not worth.extents:
            return None
    if len(pairs) != 1:
        return None
    (block,) = tile_members((member,), (BLOCK,))
    named = f"{member.name}b"
    owned = replace(block, role=Role.LOOP, size=1, name=named, parallel=True, owned=tuple(pairs), worth=worth)  # type: ignore[arg-type]
    return Band((owned,), False, band)


def few_cells(array: Array) -> bool:
    """Whether an array is known to be small."""
    extents = [constant_of(extent) if extent is not None else None for extent in array.extents]
    size = prod(extent for extent in extents if extent is not None) * (array.element.size_bytes or 8)
    return None not in extents and size <= FEW_BYTES


def _update(statement: Statement, arrays: Mapping[str, Array]) -> tuple[str, str] | None:
    return scatter_of(statement, arrays) or reduction_of(statement, arrays)


def _place(statement: Statement, array: Array, arrays: Mapping[str, Array]) -> c.Expr | None:
    """The subscript of the one cell that a statement updates; None where it does something else to the array."""
    found = _update(statement, arrays)
    if found is None or found[1] != array.name:
        return None
    cells = (n for n in c.walk(statement.body) if isinstance(n, c.ArrayRef) and n.array == array.name)
    return next(cell.subscripts[0] for cell in cells)


def _is_pure(place: c.Expr, written: Set[str]) -> bool:
    """Whether a subscript is the same number whenever its iteration computes it, and does nothing else."""
    return all(
        isinstance(node, c.Name | c.Literal | c.Binary | c.Ternary | c.Cast)
        or (isinstance(node, c.Unary) and node.op in ("-", "+", "~", "!"))
        or (isinstance(node, c.ArrayRef) and node.array not in written)
        for node in c.walk(place)
    )
