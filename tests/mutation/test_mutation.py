"""Each pass broken in many ways: what the check accepts computes the same values, or it is a fault of the check.

`python -m tests.mutation` (`make mutation`) shows every fault against every program, and the share that is caught. Here
each 24th fault is tried on one program, so that all tests end soon; with POLYC_ALL_MODES=1, each.
"""

from __future__ import annotations

import pytest

from tests.mutation.faults import FAULTS
from tests.mutation.runner import (
    ALSO,
    CHECKS,
    WHERE,
    Fault,
    Verdict,
    outcome_of,
    programs_for,
    target_of,
    unbroken,
)
from tests.turns import turn

FEW = [
    ("basteln: extension shifted by 1 in dimension 0", "conv_relu"),
    ("basteln: extension adds the outputs too", "conv_relu"),
    ("basteln: left-over dropped", "stencil_chain"),
    ("basteln: guard forgotten", "stencil_chain"),
    ("basteln: context narrowed", "conv_relu"),
    ("inline: any products", "multiplied"),
    ("inline: products of other elements", "multiplied"),
    ("schedule: may-writes as writes", "may_write"),
    ("promotion: declared above the tiles", "conv_relu"),
    ("promotion: declared in each step", "conv_relu"),
    ("promotion: copies add one", "stencil_chain"),
    ("promotion: two buffers of one name", "stencil_chain"),
    ("promotion: everything is a copy", "in_place"),
    ("privatize: private though live-out", "last_value"),
    ("privatize: statements add one", "conv_relu"),
    ("reductions: a false associative reduction in the analysis", "reduction"),
    ("codegen: loop variables mixed up", "branches"),
    ("codegen: buffers static", "conv_relu"),
    ("codegen: no parentheses", "jacobi"),
    ("codegen: reduction clause not printed", "reduction"),
    ("guards: a pair dropped", "pieces"),
    ("guards: the first piece an element short", "bounded"),
    ("guards: || binds as &&", "apart"),
    ("guards: always", "apart"),
    ("guards: the other branch loses a statement", "apart"),
    ("guards: either pair", "pieces"),
    ("padding: zeros everywhere", "triangle_sums"),
    ("vectors: offsets lost", "product"),
    ("vectors: of larger elements", "product"),
    ("blocks: lookups: permutations wrong", "looked_up"),
    ("blocks: lookups: the next row", "looked_up"),
    ("blocks: nontemporal: the rest lost", "past_caches"),
    ("blocks: nontemporal: fences first", "past_caches"),
    ("blocks: owners: a block less", "scattered"),
    ("blocks: flat: rows longer", "pieces"),
    ("blocks: heap: shorter rows", "scattered"),
    ("blocks: text: the least as the greatest", "pieces"),
    ("blocks: text: - and / to the right", "bounded"),
    ("mapping: tiles on threads", "conv_relu"),
    ("mapping: once around steps", "jacobi"),
    ("cpu-registers: lanes of eight", "two_products"),
    ("timetiles: waves of one number", "diamonds"),
    ("tensor-cores: copies that bring no zeros", "tensor"),
    ("windows: a place less", "strips"),
    ("windows: not around", "strips"),
    ("lookups: a row for all", "not_looked_up"),
    ("lookups: another element", "looked_up"),
    ("chosen: input overwritten", "not_chosen"),
    ("chosen: subscript + 1", "chosen"),
    ("chosen: told as exact", "chosen"),
    ("nontemporal: an element more", "past_caches"),
    ("nontemporal: no fences", "past_caches"),
    ("scatters: no race is seen", "histogram"),
    ("cells: all in one cell", "grid"),
    ("boxed: instances of a row less", "parities"),
    ("unroll: rows backwards", "sliding_rows"),
    ("unroll: a loop not printed", "any_rows"),
    ("unroll: one row more", "any_rows"),
    ("interleave: first loops backwards", "interleaved"),
    ("interleave: rows ahead of the one before", "interleaved"),
    ("copies: the second tile has none", "computed_twice"),
    ("barriers: no barrier before a step", "conv_relu"),
    ("barriers: a barrier in every step", "conv_relu"),
    ("barriers: a barrier in every loop", "stencil_chain"),
    ("barriers: barriers on the host", "one_row"),
]
"""Faults that were not caught once, and some that always were: these run in seconds."""


def chosen(fault: Fault) -> tuple[str, ...]:
    """One program of a fault, in turn; `make mutation` takes all of them. What a fault names for itself is kept."""
    own = fault.programs or ALSO.get(fault.name, ())
    if own:
        return own
    usual = WHERE[fault.stage]
    return (usual[FAULTS.index(fault) % len(usual)],)


def named(name: str) -> Fault:
    (fault,) = [f for f in FAULTS if f.name == name]
    return fault


EVERY = sorted({(name, target_of(fault)) for fault in FAULTS for name in programs_for(fault)})


@pytest.mark.slow
@pytest.mark.parametrize(("program", "target"), EVERY)
def test_programs_are_right_without_a_fault(program: str, target: str) -> None:
    assert unbroken(program, target).passed


@pytest.mark.parametrize(("fault", "program"), FEW)
def test_caught(fault: str, program: str) -> None:
    outcome = outcome_of(named(fault), program, run=False)
    assert outcome.verdict in (Verdict.CAUGHT, Verdict.REFUSED)


@pytest.mark.parametrize("check", CHECKS)
def test_one_check_alone(check: str) -> None:
    """The tree is right; its text is not, and neither is what it computes."""
    outcome = outcome_of(named("codegen: subscripts reversed"), "two_products", run=False, only=check)
    assert (outcome.verdict is Verdict.CAUGHT) == (check != "tree")


@pytest.mark.slow
@pytest.mark.parametrize("fault", turn(FAULTS, 0, 40), ids=lambda f: f.name)
def test_no_fault_changes_a_result(fault: Fault) -> None:
    found = {name: outcome_of(fault, name) for name in chosen(fault)}
    missed = {name: outcome.why for name, outcome in found.items() if outcome.verdict is Verdict.MISSED}
    assert not missed


def test_every_fault_still_finds_what_it_breaks() -> None:
    """A renamed function would leave a fault that nobody can try."""
    for fault in FAULTS:
        with pytest.MonkeyPatch.context() as patch:
            fault.install(patch)
