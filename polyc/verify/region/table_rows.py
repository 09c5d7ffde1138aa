"""Lookups in short rows: in the iterations that share vectors, the row is the same one.

math: for a loop with lookups of width w, v its own value and P the values of all other loops and steps around the
      statement S: let G = { S[i] -> [P, floor(v / w)] }, and R = { S[i] -> T[f(i)] } the row of a reference, its last
      subscript left out. Then G^-1 . R is a function: the w iterations of a group, all else being equal, have one row.
      v runs from 0, so that groups begin at multiples of w (the text is looked at by `reread/blocks/read_lookups.py`).
"""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl

from polyc.analysis.expressions.tables import BYTE_ROWS, BYTES_AT_ONCE, can_be_read, index_below
from polyc.analysis.order import Run, runs
from polyc.model.fault import Fault
from polyc.model.program import Program
from polyc.model.scop import Access, AccessKind, Statement
from polyc.model.tree import Band, Lookups, Member, walk
from polyc.poly import pinned


def lookup_faults(program: Program) -> Iterator[Fault]:
    """Loops whose lookups are in several rows at once, or are none."""
    bands = [node for node in walk(program.tree.child) if isinstance(node, Band)]
    if not any(member.lookups is not None for band in bands for member in band.members):
        return
    for run in runs(program.tree):
        members = [step for step in run.path.steps if isinstance(step, Member) and step.lookups is not None]
        if len(members) > 1:
            yield Fault("form", f"{run.statement} stands in two loops that look things up", "")
        for member in members[:1]:
            assert member.lookups is not None
            yield from _of_run(program, run, member, member.lookups)


def _of_run(program: Program, run: Run, member: Member, lookups: Lookups) -> Iterator[Fault]:
    accesses = program.statements[run.statement].accesses
    for name, ref in sorted(lookups.references):
        if name != run.statement:
            continue
        found = [a for a in accesses if a.ref == ref]
        if len(found) != 1 or found[0].kind is not AccessKind.READ:
            yield Fault("form", f"a reference of {name} that is looked up is no read", ref)
            continue
        (access,) = found
        if access.loose != (program.scop.arrays[access.array].rank - 1,):
            yield Fault("form", f"{name} does not look things up in rows of {access.array}", ref)
            continue
        yield from _of_bytes(program, program.statements[name], access, lookups)
        rows = run.contraction.apply_range(pinned(access.relation, access.loose))
        wrong = _several(_groups(run, member, lookups.width).reverse().apply_range(rows))
        if wrong:
            message = f"{lookups.width} iterations of {name} that look things up in {access.array} have several rows"
            yield Fault("form", message, wrong)


def _of_bytes(program: Program, statement: Statement, access: Access, lookups: Lookups) -> Iterator[Fault]:
    """Tables of bytes whose rows are longer or shorter than what vectors hold."""
    array = program.scop.arrays[access.array]
    if array.element.size_bytes != 1:
        return
    count = dict(lookups.rows).get(access.array, 0)
    if count not in BYTE_ROWS or lookups.width != BYTES_AT_ONCE:
        yield Fault("form", f"rows of {access.array} are not as long as vectors", str(count))
        return
    below = index_below(program, statement, access)
    if below is None or below > count:
        yield Fault("form", f"an index into {access.array} may be {count} or more", str(below))
    if not can_be_read(program, access, count):
        yield Fault("form", f"{access.array} may have less than {count} elements", "")


def _groups(run: Run, member: Member, width: int) -> isl.Map:
    """`{ instance -> [P, floor(v / w)] }`."""
    whole = run.order(len(run.columns))
    position = run.path.steps.index(member)
    functions = isl.MultiAff.identity_on_domain_space(whole.get_space().range())
    value = functions.get_aff(position).scale_down_val(isl.Val.int_from_si(whole.get_ctx(), width)).floor()
    return whole.apply_range(isl.Map.from_multi_aff(functions.set_aff(position, value)))


def _several(rows: isl.Map) -> str:
    """A group with more than one row; "" where there is none."""
    if rows.is_single_valued():
        return ""
    twice = rows.subtract(rows.lexmin())
    return str(twice.sample())


__all__ = ["lookup_faults"]
