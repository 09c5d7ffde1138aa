"""Faults of the pass that computes what data choose where it is read: other instances, other subscripts, too few."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import islpy as isl

import polyc.passes.values.chosen as chosen
import polyc.passes.values.inline as inline
from polyc.model import ctree as c
from polyc.model.scop import Access, AccessKind, Statement
from tests.mutation.faults.inline import last_step_only, minus, of_readers, other_expression, untold
from tests.mutation.install import Install, adding_to
from tests.mutation.runner import Fault, Patch, after_pass

FAULTS: list[Fault] = []
add = adding_to(FAULTS)
STEP = chosen._Step


def answering(**answers: Any) -> Install:
    """Tests of the pass that always answer the same; whatever it costs, it is done."""

    def install(patch: Patch) -> None:
        patch.setattr(STEP, "gain", lambda *_args: 1.0)
        for name, value in answers.items():
            patch.setattr(STEP, name, lambda *_args, _value=value: _value)

    return install


def changed(name: str, change: Callable[[Any, Any], Any]) -> Install:
    """What a test of the pass answers is changed, and nothing else forbids anything."""
    right = getattr(STEP, name)

    def install(patch: Patch) -> None:
        answering(obstacle=None)(patch)
        patch.setattr(STEP, name, lambda self, access: change(self, right(self, access)))

    return install


def next_instance(_self: chosen._Step, m: isl.Map) -> isl.Map:
    """The value beside, in the last loop."""
    one = isl.MultiAff.identity_on_domain_space(m.get_space().range())
    last = one.dim(isl.dim_type.out) - 1
    moved = one.set_at(last, one.get_at(last).add_constant_val(isl.Val.one(m.get_ctx())))
    return m.apply_range(isl.Map.from_multi_aff(moved))


def fewer(self: chosen._Step, m: isl.Map) -> isl.Map:
    """Without the first that may be chosen."""
    return m.subtract_range(self.producer.domain.lexmin())


def other_subscripts(patch: Patch) -> None:
    """A loop gets the subscript plus one."""
    right = inline._subscripts

    def subscripts(*args: Any) -> dict[str, c.Expr]:
        return {name: c.Binary("+", expr, c.Literal("1")) for name, expr in right(*args).items()}

    patch.setattr(inline, "_subscripts", subscripts)


def turned(patch: Patch) -> None:
    """Several loops get each other's subscripts."""
    right = inline._subscripts

    def subscripts(*args: Any) -> dict[str, c.Expr]:
        found = right(*args)
        return dict(zip(found, reversed(found.values()), strict=True))

    patch.setattr(inline, "_subscripts", subscripts)


def untyped(patch: Patch) -> None:
    patch.setattr(inline, "in_type", lambda expr, *_args: expr)


def told_exact(reader: Statement) -> Statement:
    return replace(reader, accesses=tuple(replace(a, exact=True, loose=()) for a in reader.accesses))


def first_only(reader: Statement) -> Statement:
    """What may be chosen is the first of it."""

    def first(access: Access) -> Access:
        if access.exact or access.kind is not AccessKind.READ:
            return access
        return replace(access, relation=access.relation.lexmin())

    return replace(reader, accesses=tuple(map(first, reader.accesses)))


CHOSEN: list[tuple[str, str, Install]] = [
    ("whatever it costs", "and nothing wrong", answering()),
    ("nothing forbidden", "no obstacle is seen", answering(obstacle=None)),
    ("input overwritten", "between producer and reader", answering(overwritten=False)),
    ("other writers", "values of two statements", answering(others=False)),
    ("cells of nobody", "that may be chosen", answering(uncovered=False)),
    ("no case too many", "for the loops' values", answering(irregular=False)),
    ("others forgotten", "who read the array too", answering(is_needed=False)),
    ("value beside", "M is shifted", changed("instances", next_instance)),
    ("first one left out", "of what may be chosen", changed("instances", fewer)),
    ("no loop is a subscript", "all are functions", changed("chosen", lambda _self, _found: ())),
    ("another subscript", "for the first loop", changed("chosen", lambda _self, f: tuple((n, 0) for n, _ in f[::-1]))),
    ("subscript + 1", "where the loop stood", other_subscripts),
    ("subscripts turned", "of two loops", turned),
    ("no type", "of the loop", untyped),
    ("minus for plus", "in the expression", other_expression(minus)),
    ("told as exact", "what data choose", after_pass("chosen", of_readers(told_exact))),
    ("the first chosen", "in the accesses", after_pass("chosen", of_readers(first_only))),
    ("steps not told", "another region, and no word of it", after_pass("chosen", untold)),
    ("only the last step told", "of several", after_pass("chosen", last_step_only)),
]
for name_, what_, install_ in CHOSEN:
    add("chosen", name_, what_, install_)
