"""Sequential loops that isl's scheduler has shifted against each other, without these shifts."""

from __future__ import annotations

import islpy as isl

from polyc.analysis.order import order_of
from polyc.model.program import Program
from polyc.model.relations import pw_affs_of
from polyc.model.tree import Band, Domain, Filter, Leaf, Node, Sequence
from polyc.nests.nest import Outer
from polyc.poly import OverBudget, budget, names
from polyc.records import replace

_CHECKED = 1_000_000
"""isl operations for the comparison of two orders of one loop: it has a few statements."""


def with_aligned_loops(tree: Domain, program: Program) -> Domain:
    """The tree without constant shifts between the statements of sequential innermost loops.

    rewrite:  for (m = 0; m < n + 1; m++) { if (m < n) S(m); if (m > 0) T(m - 1); }
              -> for (m = 0; m < n; m++) { S(m); T(m); }
    math:     isl shifts statements for short distances of dependences; in a loop that carries them all the same nothing
              comes of that but conditions, and where the loop has steps, twice the iterations
    requires: in each iteration of the loops around, the new order is part of the order as written
    """
    rank = {name: position for position, name in enumerate(program.scop.statements)}

    def step(node: Node, instances: isl.UnionSet, outer: Outer) -> Node:
        match node:
            case Sequence(children=steps):
                return Sequence(
                    tuple(replace(s, child=step(s.child, instances.intersect(s.filter), outer)) for s in steps)
                )
            case Band(members=(member,), child=Sequence(children=steps)) if not member.coincident:
                if all(isinstance(one.child, Leaf) for one in steps):
                    found = _aligned(node, steps)
                    return found if found is not None and is_as_written(found, instances, outer) else node
        return replace(node, child=step(node.child, instances, outer.under(node))) if isinstance(node, Band) else node

    def _aligned(band: Band, steps: tuple[Filter, ...]) -> Band | None:
        values = pw_affs_of(band.members[0].schedule)
        forms = {name: _form(value) for name, value in values.items()}
        first = forms[min(forms, key=rank.__getitem__)]
        if first is None or any(form is None or form[0] != first[0] for form in forms.values()):
            return None
        shifts = {name: first[1].sub(form[1]) for name, form in forms.items() if form is not None}
        if all(shift.is_zero() for shift in shifts.values()):
            return None
        schedule = isl.UnionPwAff.empty(band.members[0].schedule.get_space())
        for name, value in values.items():
            schedule = schedule.union_add(isl.UnionPwAff.from_pw_aff(value.add_constant_val(shifts[name])))
        ordered = sorted(steps, key=lambda one: min(rank[name] for name in names(one.filter)))
        return replace(band, members=(replace(band.members[0], schedule=schedule),), child=Sequence(tuple(ordered)))

    def is_as_written(band: Band, instances: isl.UnionSet, outer: Outer) -> bool:
        try:
            with budget(program.scop.domain.get_ctx(), _CHECKED):
                now, then = order_of(Domain(instances, band)), order_of(program.tree).intersect_domain(instances)
                before = outer.same_iteration(now.lex_lt_union_map(now))
                return before.is_subset(then.lex_lt_union_map(then))
        except OverBudget:
            return False

    return Domain(tree.domain, step(tree.child, tree.domain, Outer()))


def _form(value: isl.PwAff) -> tuple[tuple[object, ...], isl.Val] | None:
    """The factors of a value, and the constant in it; None where it has several pieces, or divisions."""
    pieces: list[isl.Aff] = []
    value.foreach_piece(lambda _, aff: pieces.append(aff))
    if len(pieces) != 1 or pieces[0].dim(isl.dim_type.div):
        return None
    (aff,) = pieces
    sizes = [aff.get_dim_name(isl.dim_type.param, k) for k in range(aff.dim(isl.dim_type.param))]
    factors = [aff.get_coefficient_val(isl.dim_type.in_, k).to_python() for k in range(aff.dim(isl.dim_type.in_))]
    of_sizes = {
        (name, factor)
        for k, name in enumerate(sizes)
        if (factor := aff.get_coefficient_val(isl.dim_type.param, k).to_python())
    }
    return (tuple(factors), frozenset(of_sizes)), aff.get_constant_val()
