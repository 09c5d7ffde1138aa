"""A wrong inlining is caught: each test breaks the pass, or what it answers, on purpose."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import islpy as isl
import pytest

import polyc.passes.values.inline as inline
import polyc.pipeline as pipeline
import polyc.verify.region.inlining as inlining
from polyc.model import ctree as c
from polyc.model.program import Inlining, Options, Program, Use
from polyc.model.scop import Access, Statement
from polyc.passes.values.inline import inline_elementwise
from polyc.pipeline import compile_region
from polyc.poly import OverBudget
from polyc.runtime.check import check as run_and_compare
from polyc.verify import Fault, check
from tests.programs import after, region_of

TRANSPOSED = """
void f(int n, int m, float A[n][m], float C[m][n], float D[n])
{
    float T[n][m];
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            T[i][j] = A[i][j] * 3.0 + j;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            C[i][j] = T[j][i] - D[j];
#pragma endscop
}
"""

OVERWRITTEN = """
void f(int n, float A[n], float C[n])
{
    float T[n];
#pragma scop
    for (int i = 0; i < n; i++)
        T[i] = A[i] * 3.0f;
    for (int i = 0; i < n; i++)
        A[i] = C[i];
    for (int i = 0; i < n; i++)
        C[i] = T[n - 1 - i];
#pragma endscop
}
"""

TWO_WRITERS = """
void f(int n, float A[n], float C[n])
{
    float T[n];
#pragma scop
    for (int i = 0; i < n; i++)
        T[i] = A[i] * 3.0f;
    for (int i = 2; i < n; i++)
        T[i] = 1.0f;
    for (int i = 0; i < n; i++)
        C[i] = T[n - 1 - i];
#pragma endscop
}
"""

LIVE_OUT = """
void f(int n, float A[n], float T[n], float C[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        T[i] = A[i] * 3.0f;
    for (int i = 0; i < n; i++)
        C[i] = T[n - 1 - i];
#pragma endscop
}
"""

CHAIN = """
void f(int n, float A[n], float B[n], float C[n])
{
    float T[n], U[n];
#pragma scop
    for (int i = 0; i < n; i++)
        T[i] = A[i] * 3.0f;
    for (int i = 0; i < n; i++)
        U[i] = T[n - 1 - i] + B[i];
    for (int i = 0; i < n; i++)
        C[i] = U[n - 1 - i];
#pragma endscop
}
"""


@pytest.fixture
def transposed(tmp_path: Path) -> Program:
    return after(region_of(TRANSPOSED, tmp_path), "inline")


def with_use(program: Program, change: Callable[[Use], Use]) -> Program:
    """The last step with another use, and nothing else."""
    step = program.inlined[-1]
    broken = replace(step, uses=tuple(change(use) for use in step.uses))
    return replace(program, inlined=(*program.inlined[:-1], broken))


def with_reader(program: Program, change: Callable[[Statement], Statement]) -> Program:
    """The region in which the reader is another one."""
    step = program.inlined[-1]
    name = step.uses[0].statement
    statements = step.after.statements | {name: change(step.after.statements[name])}
    scop = replace(step.after, statements=statements)
    last = Inlining(step.producer, step.uses, step.before, scop)
    return replace(program, scop=scop, statements=dict(statements), inlined=(*program.inlined[:-1], last))


def faults(program: Program) -> list[Fault]:
    return check(program, program.inlined[0].before)


def kinds(program: Program) -> set[str]:
    return {fault.kind for fault in faults(program)}


def rewritten(change: Callable[[c.Node], c.Node | None]) -> Callable[[Statement], Statement]:
    return lambda reader: replace(reader, body=c.rewrite(reader.body, change))


def test_the_unbroken_program_passes(transposed: Program, tmp_path: Path) -> None:
    assert faults(transposed) == []
    assert len(transposed.inlined) == 1
    chain = after(region_of(CHAIN, tmp_path), "inline")
    assert len(chain.inlined) == 2
    assert faults(chain) == []


# --- what the pass says of its work ----------------------------------------------------------------------------------


def test_another_instance(transposed: Program) -> None:
    """M is wrong, and the text and the accesses are wrong in the same way."""
    right = inline._Candidate.instances

    def shifted(self: inline._Candidate, read: inline.Read) -> isl.Map:
        m = right(self, read)
        moved = isl.Map("{ S0[i, j] -> S0[i', j] : i' = i + 1 }").align_params(m.get_space())
        at_the_end = m.apply_range(moved).intersect_range(self.producer.domain)
        return at_the_end.union(m.subtract_domain(at_the_end.domain()))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inline._Candidate, "instances", shifted)
        patch.setattr(inline._Candidate, "obstacle", lambda _self: None)
        patch.setattr(inline._Candidate, "widened", lambda _self: False)
        broken = inline_elementwise(pipeline.initial_program(transposed.inlined[0].before, transposed.options))
    assert broken.inlined
    assert "live-in" in kinds(broken)


def test_another_instance_in_the_record_only(transposed: Program) -> None:
    swap = isl.Map("{ S1[i, j] -> S0[i, j] }")

    def change(use: Use) -> Use:
        m = swap.align_params(use.instance.get_space()).intersect_domain(use.instance.domain())
        return replace(use, instance=m)

    assert "inlining" in kinds(with_use(transposed, change))


def test_instances_that_are_missing(transposed: Program) -> None:
    def change(use: Use) -> Use:
        return replace(use, instance=use.instance.intersect_domain(isl.Set("{ S1[i, j] : i > 0 }")))

    assert kinds(with_use(transposed, change)) == {"inlining"}


def test_a_use_that_is_not_told(transposed: Program) -> None:
    step = replace(transposed.inlined[0], uses=())
    assert kinds(replace(transposed, inlined=(step,))) == {"inlining"}


def test_a_step_that_is_not_told(tmp_path: Path) -> None:
    chain = after(region_of(CHAIN, tmp_path), "inline")
    original = chain.inlined[0].before
    assert "region" in {fault.kind for fault in check(replace(chain, inlined=()), original)}
    assert {f.kind for f in check(replace(chain, inlined=chain.inlined[1:]), original)} == {"inlining"}
    assert {f.kind for f in check(replace(chain, inlined=chain.inlined[:1]), original)} == {"region"}


# --- the statement ---------------------------------------------------------------------------------------------------


def test_another_operator(transposed: Program) -> None:
    def change(node: c.Node) -> c.Node | None:
        return replace(node, op="/") if isinstance(node, c.Binary) and node.op == "*" else None

    assert kinds(with_reader(transposed, rewritten(change))) == {"inlining"}


def test_another_constant(transposed: Program) -> None:
    def change(node: c.Node) -> c.Node | None:
        return replace(node, text="3.5") if isinstance(node, c.Literal) and node.text == "3.0" else None

    assert kinds(with_reader(transposed, rewritten(change))) == {"inlining"}


def test_the_rounding_of_the_array_is_lost(transposed: Program) -> None:
    def change(node: c.Node) -> c.Node | None:
        return node.operand if isinstance(node, c.Cast) else None

    assert kinds(with_reader(transposed, rewritten(change))) == {"inlining"}


def test_the_readers_variable_for_the_producers(transposed: Program) -> None:
    def change(node: c.Node) -> c.Node | None:
        return replace(node, name="j") if isinstance(node, c.Name) and node.name.endswith(".j") else None

    assert kinds(with_reader(transposed, rewritten(change))) == {"inlining"}


def test_another_value_of_a_variable(transposed: Program) -> None:
    def change(reader: Statement) -> Statement:
        (value,) = (v for v in reader.values if v.name.endswith(".j"))
        other = value.relation.apply_range(isl.Map("{ [v] -> [v + 1] }"))
        rest = tuple(v for v in reader.values if v is not value)
        return replace(reader, values=(*rest, replace(value, relation=other)))

    assert kinds(with_reader(transposed, change)) == {"inlining"}


def test_another_element_of_an_input(transposed: Program) -> None:
    def moved(access: Access) -> Access:
        if access.array != "A":
            return access
        return replace(access, relation=access.relation.apply_range(isl.Map("{ A[i, j] -> A[i, j + 1] }")))

    def change(reader: Statement) -> Statement:
        return replace(reader, accesses=tuple(map(moved, reader.accesses)))

    assert kinds(with_reader(transposed, change)) == {"inlining"}


def test_an_access_that_is_lost(transposed: Program) -> None:
    def change(reader: Statement) -> Statement:
        return replace(reader, accesses=tuple(a for a in reader.accesses if a.array != "A"))

    assert kinds(with_reader(transposed, change)) == {"inlining"}


# --- what the pass must see ------------------------------------------------------------------------------------------


def careless(text: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Program:
    """The program by a pass that sees no obstacle."""
    monkeypatch.setattr(inline._Candidate, "obstacle", lambda _self: None)
    program = after(region_of(text, folder), "inline")
    assert program.inlined
    return program


def test_an_input_that_is_overwritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "flow" in kinds(careless(OVERWRITTEN, tmp_path, monkeypatch))


def test_two_writers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert kinds(careless(TWO_WRITERS, tmp_path, monkeypatch)) & {"inlining", "flow"}


def test_values_that_are_needed_afterwards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "live-out" in kinds(careless(LIVE_OUT, tmp_path, monkeypatch))


def test_a_reader_that_was_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second reader keeps reading the array, which nobody writes any more."""
    text = LIVE_OUT.replace("float T[n], ", "").replace("#pragma scop", "float T[n];\n#pragma scop")
    text = text.replace("#pragma endscop", "for (int i = 0; i < n; i++) C[i] += T[i];\n#pragma endscop")
    whole = inline._Candidate.of

    def first_reader_only(program: Program, name: str, *known: Any) -> inline._Candidate:
        found = whole(program, name, *known)
        return replace(found, reads=found.reads[:1])

    monkeypatch.setattr(inline._Candidate, "of", staticmethod(first_reader_only))
    assert kinds(careless(text, tmp_path, monkeypatch)) >= {"flow"}


@pytest.mark.parametrize("text", [OVERWRITTEN, TWO_WRITERS, LIVE_OUT])
def test_what_is_printed_then(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The producer keeps its nest, all other passes do their work, and polyc says that something was wrong."""
    monkeypatch.setattr(inline._Candidate, "obstacle", lambda _self: None)
    region = region_of(text, tmp_path)
    found = compile_region(region, Options())
    assert found.verified
    assert found.program.inlined == ()
    assert [r.code for r in found.program.remarks].count("verification-failed") == 1
    assert "not-inlined" not in {r.code for r in found.program.remarks}
    assert "#pragma omp" in found.text
    assert run_and_compare(region, found, sizes=(1, 9, 40)) == []


def test_a_check_that_takes_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(*_args: object) -> list[Fault]:
        raise OverBudget("the budget of isl operations is used up")

    monkeypatch.setattr(inlining, "dataflow_faults", endless)
    region = region_of(TRANSPOSED, tmp_path)
    found = compile_region(region, Options())
    assert found.verified
    assert found.program.inlined == ()
    assert "budget" in {r.code for r in found.program.remarks}
    assert "#pragma omp" in found.text


# --- the printed text ------------------------------------------------------------------------------------------------


def test_the_text_of_another_iteration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The printer takes another value for the producer's loop variable, in the text and in its note."""
    from polyc.codegen.loops.instances import InstancePrinter

    monkeypatch.setattr(InstancePrinter, "_value", lambda self, _item: self.instance[0])
    text = TRANSPOSED.replace("3.0 + j", "3.0 + i")
    region = region_of(text, tmp_path)
    found = compile_region(region, Options())
    (told,) = [r for r in found.program.remarks if r.code == "verification-failed"]
    assert told.stage == "text"
    assert "another iteration" in told.message
    assert run_and_compare(region, found, sizes=(1, 9)) == []
