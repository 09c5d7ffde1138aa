"""A temporary in a wrong place is caught: each test breaks the pass, or what it answers, on purpose."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import islpy as isl
import pytest

import polyc.passes.values.temporaries as temporaries
import polyc.pipeline as pipeline
import polyc.relaxations as relaxations
from polyc.model import ctree as c
from polyc.model.program import Move, Options, Program, Relocation
from polyc.model.scop import AccessKind, Statement, Storage
from polyc.model.tree import Domain, restrict
from polyc.pipeline import compile_region
from polyc.runtime.check import check as run_and_compare
from polyc.verify import RELOCATION, check
from tests.programs import after, region_of

HEADER = "void f(int n, double A[n][n], double B[n][n], double C[n][n], double D[n][n], float E[n][n])\n"
SUM = "for (int k = 0; k < n; k++) w += A[i][k] * B[k][j];"
LIVE_RANGE = temporaries._LiveRange


def text_of(body: str) -> str:
    nest = f"for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) {{ {body} }}"
    return f"{HEADER}{{\n    double w;\n#pragma scop\n{nest}\n#pragma endscop\n}}\n"


PRODUCT = text_of(f"w = C[i][j]; {SUM} C[i][j] = w; D[j][i] = 2.0;")
SCALED = text_of(f"w = 1.0; {SUM} w = w * 0.5; C[i][j] = w + 1.0;")


@pytest.fixture(params=[PRODUCT, SCALED], ids=["copies", "scaled"])
def program(request: pytest.FixtureRequest, tmp_path: Path) -> Program:
    found = after(region_of(request.param, tmp_path), "temporaries")
    assert found.relocated is not None
    assert check(found, found.relocated.before) == []
    return found


def kinds(program: Program) -> set[str]:
    assert program.relocated is not None
    return {fault.kind for fault in check(program, program.relocated.before)}


def with_step(program: Program, **changes: Any) -> Program:
    """The program of another step; of another region where that is changed."""
    assert program.relocated is not None
    step = replace(program.relocated, **changes)
    scop = step.after
    tree = Domain(scop.domain, restrict(scop.tree.child, scop.domain))
    return replace(program, scop=scop, tree=tree, statements=dict(scop.statements), relocated=step)


def with_statements(program: Program, change: Callable[[Statement], Statement]) -> Program:
    after = program.scop
    return with_step(program, after=replace(after, statements={n: change(s) for n, s in after.statements.items()}))


def with_moves(program: Program, change: Callable[[Move], Move]) -> Program:
    """Other places, in what is told and in the statements."""
    step = program.relocated
    assert step is not None
    moves = tuple(change(move) for move in step.moves)
    places = {move.statement: move.relation for move in moves}
    moved = {old.statement: old.relation for old in step.moves}

    def other(statement: Statement) -> Statement:
        if statement.name not in places:
            return statement
        mine = moved[statement.name]
        accesses = tuple(
            replace(a, relation=places[statement.name]) if a.relation is mine else a for a in statement.accesses
        )
        return replace(statement, accesses=accesses)

    changed = with_statements(program, other)
    return with_step(changed, moves=moves)


def shifted(relation: isl.Map) -> isl.Map:
    """The element beside, where there is one."""
    one = isl.MultiAff.identity_on_domain_space(relation.get_space().range())
    first = one.get_at(0).add_constant_val(isl.Val.int_from_si(relation.get_ctx(), -1))
    beside = relation.apply_range(isl.Map.from_multi_aff(one.set_at(0, first)))
    return beside.intersect_range(relation.range()).union(relation.subtract(relation))


# --- what the pass says of its work ----------------------------------------------------------------------------------


def test_another_element(program: Program) -> None:
    """For every statement: places that not all iterations have, and that others' values are stored to."""
    assert RELOCATION in kinds(with_moves(program, lambda m: replace(m, relation=shifted(m.relation))))


def test_one_element_for_all(program: Program) -> None:
    def first_row(move: Move) -> Move:
        row = move.relation.apply_range(isl.Map("{ C[i, j] -> C[0, j] }"))
        return replace(move, relation=row)

    assert RELOCATION in kinds(with_moves(program, first_row))


def test_transposed(program: Program) -> None:
    def other(move: Move) -> Move:
        return replace(move, relation=move.relation.apply_range(isl.Map("{ C[i, j] -> C[j, i] }")))

    assert RELOCATION in kinds(with_moves(program, other))


def test_one_statement_forgotten(program: Program) -> None:
    assert program.relocated is not None
    assert RELOCATION in kinds(with_step(program, moves=program.relocated.moves[1:]))


def test_another_statement_lost(program: Program) -> None:
    after = program.scop
    lost = list(after.statements)[-1]
    statements = {name: s for name, s in after.statements.items() if name != lost}
    domain = after.domain.subtract(isl.UnionSet.from_set(after.statements[lost].domain))
    changed = replace(after, statements=statements, tree=Domain(domain, after.tree.child))
    assert RELOCATION in kinds(with_step(program, after=changed))
    assert program.relocated is not None
    told = (*program.relocated.dropped, lost)
    assert RELOCATION in kinds(with_step(program, after=changed, dropped=told))


def test_instances_lost(program: Program) -> None:
    less = program.scop.domain.subtract(isl.UnionSet("[n] -> { S1[0, 0, 0] }"))
    tree = Domain(less, program.scop.tree.child)
    assert RELOCATION in kinds(with_step(program, after=replace(program.scop, tree=tree)))


def test_another_order(program: Program) -> None:
    tree = Domain(program.scop.domain, restrict(program.scop.tree.child, program.scop.domain))
    assert RELOCATION in kinds(with_step(program, after=replace(program.scop, tree=tree)))


def test_another_text(program: Program) -> None:
    def minus(node: c.Node) -> c.Node | None:
        return replace(node, op="-=") if isinstance(node, c.Assign) and node.op == "+=" else None

    assert RELOCATION in kinds(with_statements(program, lambda s: replace(s, body=c.rewrite(s.body, minus))))


def test_another_operand(program: Program) -> None:
    """The text names an element of another array; what is touched is right."""

    def other(node: c.Node) -> c.Node | None:
        return replace(node, array="D") if isinstance(node, c.ArrayRef) and node.array == "C" else None

    assert RELOCATION in kinds(with_statements(program, lambda s: replace(s, body=c.rewrite(s.body, other))))


def test_reads_lost(program: Program) -> None:
    def without(statement: Statement) -> Statement:
        kept = tuple(a for a in statement.accesses if not (a.array == "C" and a.kind is AccessKind.READ))
        return replace(statement, accesses=kept)

    assert RELOCATION in kinds(with_statements(program, without))


def test_the_step_is_not_told(program: Program) -> None:
    step = program.relocated
    assert step is not None
    faults = check(replace(program, relocated=None), step.before)
    assert {fault.kind for fault in faults} == {"region"}


def test_a_step_from_another_region(program: Program) -> None:
    step = program.relocated
    assert step is not None
    other = replace(step.before, statements=dict(step.before.statements))
    faults = check(replace(program, relocated=Relocation(step.moves, step.dropped, other, step.after)), step.before)
    assert {fault.kind for fault in faults} == {"region"}


# --- what the pass must not do ---------------------------------------------------------------------------------------


NOT_ALLOWED = {
    "read by the store": text_of(f"w = 0.0; {SUM} C[i][j] = 0.5 * C[i][j] + w;"),
    "read between": text_of(f"w = 0.0; {SUM} D[i][j] = C[i][j]; C[i][j] = w;"),
    "written between": text_of(f"w = 0.0; C[i][j] = 1.0; {SUM} C[i][j] += w;"),
    "another type": text_of(f"w = 0.0; {SUM} E[i][j] = w;"),
    "under a condition": text_of(f"w = 0.0; {SUM} if (j < i) C[i][j] = w;"),
    "read later": text_of(f"w = 0.0; {SUM} C[i][j] = w + 1.0; D[i][j] = w;"),
    "an operand": text_of(f"w = 0.0; {SUM} B[j][i] = w;"),
    "data": text_of(f"w = 0.0; {SUM} C[i][j] = w; if (D[i][j] > 0) C[j][i] = 1.0;"),
    "stored again": text_of(f"w = 0.0; {SUM} C[i][j] = w; w = w * w; D[i][j] = C[i][j]; C[i][j] = w * 2.0;"),
}


@pytest.mark.parametrize("name", NOT_ALLOWED)
def test_nothing_forbidden(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The pass sees no obstacle: the check refuses what it makes, and what is printed instead is right. Nothing puts
    the temporaries back before the check because they gain nothing."""
    monkeypatch.setattr(LIVE_RANGE, "obstacle", lambda self: None)
    monkeypatch.setattr(relaxations, "of_no_use", lambda program: False)
    region = region_of(NOT_ALLOWED[name], tmp_path)
    moved = after(region, "temporaries")
    assert moved.relocated is not None
    assert {fault.kind for fault in check(moved, region.scop)} == {RELOCATION}
    result = compile_region(region, Options())
    assert result.verified
    assert [r.code for r in result.program.remarks if r.code == "verification-failed"]
    assert result.program.relocated is None


def test_needed_afterwards(tmp_path: Path) -> None:
    """The scalar's last value is read after the region, and the pass does not know."""
    text = text_of(f"w = 0.0; {SUM} C[i][j] = w;").replace("#pragma endscop", "#pragma endscop\n    E[0][0] = w;")
    scop = region_of(text, tmp_path).scop.whole
    assert scop is not None
    assert "w" in scop.live_out
    program = pipeline.initial_program(replace(scop, privatizable=scop.privatizable | {"w"}), Options())
    moved = temporaries.relocate_temporaries(program)
    assert moved.relocated is not None
    assert RELOCATION in {fault.kind for fault in check(moved)}


def test_copies_of_other_elements_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`w = C[j][i]` is no copy of a cell to itself."""

    def is_copy(self: Any, name: str) -> bool:
        match self.scop.statements[name].body:
            case c.ExprStmt(expr=c.Assign(op="=", target=c.ArrayRef(), value=c.ArrayRef())):
                return True
        return False

    monkeypatch.setattr(LIVE_RANGE, "is_copy", is_copy)
    region = region_of(text_of(f"w = C[j][i]; {SUM} C[i][j] = w;"), tmp_path)
    moved = after(region, "temporaries")
    assert moved.relocated is not None
    assert {fault.kind for fault in check(moved, region.scop)} == {RELOCATION}


@pytest.mark.slow
@pytest.mark.parametrize("text", [PRODUCT, SCALED])
def test_equal_values(text: str, tmp_path: Path) -> None:
    region = region_of(text, tmp_path)
    assert run_and_compare(region, compile_region(region, Options()), sizes=(1, 5, 40)) == []


# --- arrays of their own ---------------------------------------------------------------------------------------------

SYMM = text_of(
    "w = 0.0; for (int k = 0; k < i; k++) { C[k][j] += B[i][j] * A[i][k]; w += B[k][j] * A[i][k]; } "
    "C[i][j] = 0.5 * C[i][j] + w;"
)


@pytest.fixture
def expanded(tmp_path: Path) -> Program:
    found = after(region_of(SYMM, tmp_path), "temporaries")
    assert found.relocated is not None
    assert "w_each" in found.scop.arrays
    assert check(found, found.relocated.before) == []
    return found


def with_array(program: Program, **changes: Any) -> Program:
    made = replace(program.scop.arrays["w_each"], **changes)
    return with_step(program, after=replace(program.scop, arrays=program.scop.arrays | {"w_each": made}))


def test_an_array_that_is_too_small(expanded: Program) -> None:
    first, second = expanded.scop.arrays["w_each"].extents
    assert first is not None
    less = first.add_constant_val(isl.Val.int_from_si(first.get_ctx(), -1))
    assert RELOCATION in kinds(with_array(expanded, extents=(less, second)))
    assert RELOCATION in kinds(with_array(expanded, extents=(None, second)))


def test_an_array_that_others_know(expanded: Program) -> None:
    assert RELOCATION in kinds(with_array(expanded, storage=Storage.GLOBAL))
    assert RELOCATION in kinds(with_array(expanded, c_name="D"))
    single = replace(expanded.scop.arrays["B"].element, text="float", size_bytes=4)
    assert RELOCATION in kinds(with_array(expanded, element=single))


def test_an_array_changed_as_well(expanded: Program) -> None:
    other = replace(expanded.scop.arrays["B"], constant=True)
    changed = replace(expanded.scop, arrays=expanded.scop.arrays | {"B": other})
    assert RELOCATION in kinds(with_step(expanded, after=changed))


def test_one_element_for_all_rows(expanded: Program) -> None:
    """Also where its extents allow it, and the order would: what is shown is the flow of the region as it was."""
    once = isl.Map("{ w_each[i, j] -> w_each[i - 1, j] }")
    assert RELOCATION in kinds(with_moves(expanded, lambda m: replace(m, relation=m.relation.apply_range(once))))


def test_values_go_from_one_iteration_to_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LIVE_RANGE, "is_private", lambda self: True)
    region = region_of(text_of(f"if (j == 0) w = 0.0; {SUM} C[i][j] = 0.5 * C[i][j] + w;"), tmp_path)
    moved = after(region, "temporaries")
    assert moved.relocated is not None
    assert {fault.kind for fault in check(moved, region.scop)} == {RELOCATION}


@pytest.mark.slow
def test_equal_values_in_tiles(tmp_path: Path) -> None:
    region = region_of(SYMM, tmp_path)
    assert run_and_compare(region, compile_region(region, Options()), sizes=(1, 5, 40)) == []
