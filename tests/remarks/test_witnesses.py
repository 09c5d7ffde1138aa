"""Each witness is a conflict: both iterations run, in the order that is told, touch the cell, and one of them writes.

Over the thirty PolyBench kernels, and the remarks' examples (`test_remarks.py`), for every decision and for every loop
of every nest.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import islpy as isl
import pytest

from polyc.analysis import witness as w
from polyc.analysis.order import order_of
from polyc.explain.facts.loops import written
from polyc.explain.facts.remark_records import records
from polyc.frontend import read
from polyc.model.program import Compiled, InputOptions, Options
from polyc.model.scop import AccessKind, Scop
from polyc.model.witness import Touch, Witness
from polyc.pipeline import compile_region
from polyc.poly import OverBudget
from tests.docs.pages import ROOT

KERNELS = sorted((ROOT / "polybench" / "kernels").glob("*.c"))
HEADERS = InputOptions(include_dirs=(str(ROOT / "polybench" / "harness"),))


def confirmed(scop: Scop, found: Witness) -> bool:
    """Whether a witness holds in a region, from its accesses and its order alone."""
    both = (found.first, found.second)
    if found.array not in scop.arrays or any(touch.statement not in scop.statements for touch in both):
        return False
    sizes = dict(found.parameters)
    return (
        any(touch.kind is not AccessKind.READ for touch in both)
        and all(touches(scop, touch, found, sizes) for touch in both)
        and runs_before(scop, found, sizes)
    )


def touches(scop: Scop, touch: Touch, found: Witness, sizes: dict[str, int]) -> bool:
    """Whether an iteration is one of the statement's, and accesses the cell as it is told."""
    statement = scop.statements[touch.statement]
    values = [value for _, value in touch.iteration]
    assert [name for name, _ in touch.iteration] == list(statement.loops)
    if statement.domain.intersect(point(statement.domain, values)).intersect_params(at(scop, sizes)).is_empty():
        return False
    for access in statement.accesses:
        if access.array == found.array and access.kind is touch.kind:
            here = access.relation.intersect_params(at(scop, sizes))
            here = here.intersect_domain(point(here.domain(), values)).intersect_range(point(here.range(), found.cell))
            if not here.is_empty():
                return True
    return False


def runs_before(scop: Scop, found: Witness, sizes: dict[str, int]) -> bool:
    places = []
    for touch in (found.first, found.second):
        domain = scop.statements[touch.statement].domain
        one = domain.intersect(point(domain, [value for _, value in touch.iteration]))
        places.append(
            order_of(scop.tree).intersect_domain(isl.UnionSet.from_set(one)).intersect_params(at(scop, sizes))
        )
    return not places[0].lex_lt_union_map(places[1]).is_empty()


def point(space: isl.Set, values: tuple[int, ...] | list[int]) -> isl.Set:
    found = isl.Set.universe(space.get_space())
    for position, value in enumerate(values):
        found = found.fix_val(isl.dim_type.set, position, isl.Val.int_from_si(space.get_ctx(), value))
    return found


def at(scop: Scop, sizes: dict[str, int]) -> isl.Set:
    """The promised conditions, with the sizes of the example."""
    found = scop.known
    for name, value in sizes.items():
        position = found.find_dim_by_name(isl.dim_type.param, name)
        if position < 0:
            position = found.dim(isl.dim_type.param)
            found = found.add_dims(isl.dim_type.param, 1).set_dim_name(isl.dim_type.param, position, name)
        found = found.fix_val(isl.dim_type.param, position, isl.Val.int_from_si(found.get_ctx(), value))
    return found


def regions(compiled: Compiled) -> Iterator[Scop]:
    """The region as it was written, and as passes left it: a witness is one of the region that its pass saw."""
    yield compiled.initial.scop
    for step in compiled.program.inlined:
        yield from (step.before, step.after)
    if compiled.program.relocated is not None:
        yield from (compiled.program.relocated.before, compiled.program.relocated.after)
    yield compiled.program.scop


def shown(compiled: Compiled) -> list[str]:
    """The witnesses of a run, each of which was seen to hold."""
    found = []
    for one in records(compiled):
        if (witness := one.witness) is not None:
            assert any(confirmed(scop, witness) for scop in regions(compiled)), f"{one.code}: {witness.text}"
            found.append(witness.text)
    for place in written(compiled):
        for loop in place.loops:
            for find in (loop.carries, loop.private, *([loop.turned] if loop.depth else [])):
                if (witness := find()) is not None:
                    assert confirmed(compiled.initial.scop, witness), f"loop {loop.name}: {witness.text}"
                    found.append(witness.text)
    return found


@pytest.fixture(autouse=True)
def errors_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error of isl that is not a budget's would only mean that no witness is shown."""
    monkeypatch.setattr(w, "FORGIVEN", OverBudget)


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.stem)
def test_witnesses_of_the_kernels(path: Path) -> None:
    for region in read(str(path), HEADERS).regions:
        shown(compile_region(region, Options()))
