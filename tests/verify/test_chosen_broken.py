"""A wrong inlining of what data choose is caught: each test breaks the pass, or what it answers, on purpose."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import islpy as isl
import pytest

import polyc.passes.values.chosen as chosen
from polyc.model import ctree as c
from polyc.model.program import Options, Program, Use
from polyc.model.scop import Statement
from polyc.pipeline import compile_region
from polyc.runtime.check import check as run_and_compare
from tests.passes.test_chosen import CHOSEN, DECLINED
from tests.programs import after, region_of
from tests.verify.test_inlining import faults, kinds, rewritten, with_reader, with_use


def made(name: str, folder: Path) -> Program:
    program = after(region_of("#include <math.h>\n" + CHOSEN[name][0], folder), "chosen")
    assert program.inlined
    return program


@pytest.fixture
def declared(tmp_path: Path) -> Program:
    return made("declared", tmp_path)


@pytest.mark.parametrize("name", CHOSEN)
def test_the_unbroken_program_passes(name: str, tmp_path: Path) -> None:
    assert faults(made(name, tmp_path)) == []


# --- what the pass says of its work ----------------------------------------------------------------------------------


def test_another_loop_for_a_subscript(tmp_path: Path) -> None:
    def change(use: Use) -> Use:
        return replace(use, chosen=tuple((name, 1 - position) for name, position in use.chosen))

    assert "inlining" in kinds(with_use(made("two_of_them", tmp_path), change))


def test_fewer_instances_than_may_be_chosen(declared: Program) -> None:
    def change(use: Use) -> Use:
        return replace(use, instance=use.instance.intersect_range(isl.Set("{ S0[k, i] : k < 7 }")))

    assert "inlining" in kinds(with_use(declared, change))


def test_instances_of_another_column(declared: Program) -> None:
    swap = isl.Map("{ S1[i] -> S0[k, 0] : 0 <= k < 8 }")

    def change(use: Use) -> Use:
        return replace(
            use, instance=swap.align_params(use.instance.get_space()).intersect_domain(use.instance.domain())
        )

    assert "inlining" in kinds(with_use(declared, change))


def test_nothing_is_chosen(declared: Program) -> None:
    assert "inlining" in kinds(with_use(declared, lambda use: replace(use, chosen=())))


def test_the_producer_is_forgotten_that_others_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chosen._Step, "is_needed", lambda *_args: False)
    assert kinds(made("kept_for_others", tmp_path)) & {"flow", "live-in", "live-out"}


# --- the statement ---------------------------------------------------------------------------------------------------


def test_another_subscript(declared: Program) -> None:
    """What stands for the producer's loop is not what the reference had there."""

    def change(node: c.Node) -> c.Node | None:
        return replace(node, text="3") if isinstance(node, c.Literal) and node.text == "7" else None

    assert kinds(with_reader(declared, rewritten(change))) == {"inlining"}


def test_another_operator(declared: Program) -> None:
    def change(node: c.Node) -> c.Node | None:
        return replace(node, op="+") if isinstance(node, c.Binary) and node.op == "-" else None

    assert kinds(with_reader(declared, rewritten(change))) == {"inlining"}


def test_the_type_of_the_loop_is_lost(tmp_path: Path) -> None:
    def change(node: c.Node) -> c.Node | None:
        return node.operand if isinstance(node, c.Cast) and node.type == "long" else None

    assert kinds(with_reader(made("of_other_types", tmp_path), rewritten(change))) == {"inlining"}


@pytest.mark.parametrize("change", [{"exact": True, "loose": ()}, {"loose": (1,)}, {"loose": ()}])
def test_a_choice_that_is_not_told(declared: Program, change: dict[str, object]) -> None:
    """An access whose element data choose is said to be exact, or to depend on data elsewhere."""

    def changed(reader: Statement) -> Statement:
        accesses = (replace(a, **change) if a.array == "B" else a for a in reader.accesses)  # type: ignore[arg-type]
        return replace(reader, accesses=tuple(accesses))

    assert kinds(with_reader(declared, changed)) == {"inlining"}


def test_fewer_elements_than_may_be_chosen(declared: Program) -> None:
    def changed(reader: Statement) -> Statement:
        few = isl.Set("{ B[k, i] : k < 7 }")
        accesses = (
            replace(a, relation=a.relation.intersect_range(few)) if a.array == "B" else a for a in reader.accesses
        )
        return replace(reader, accesses=tuple(accesses))

    assert kinds(with_reader(declared, changed)) == {"inlining"}


# --- what the pass must see ------------------------------------------------------------------------------------------

UNSEEN = ["input-overwritten", "several-writers", "data-dependent", "data-dependent, with a guard", "irregular"]


@pytest.mark.parametrize("reason", UNSEEN)
def test_an_obstacle_that_is_not_seen(reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The producer keeps its nest, and polyc says that something was wrong."""
    monkeypatch.setattr(chosen._Step, "obstacle", lambda _self: None)
    monkeypatch.setattr(chosen._Step, "gain", lambda *_args: 1.0)
    region = region_of(DECLINED[reason], tmp_path)
    program = after(region, "chosen")
    assert program.inlined
    assert kinds(program) & {"inlining", "flow", "live-in"}
    found = compile_region(region, Options())
    assert found.verified
    assert found.program.inlined == ()
    assert [r.code for r in found.program.remarks].count("verification-failed") == 1
    assert run_and_compare(region, found, sizes=(1, 9, 40)) == []
