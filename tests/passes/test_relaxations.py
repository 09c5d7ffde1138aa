"""A refusal costs as little as possible: the pass at fault is left out, the others stay, and reports say so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import islpy as isl
import pytest

from polyc import fallback, pipeline, relaxations
from polyc.attempt import Attempt
from polyc.explain.words.data import nest_data
from polyc.explain.words.report import render
from polyc.explain.words.summary import summary
from polyc.explain.words.why import why
from polyc.model.printed import Rendered
from polyc.model.program import Compiled, Options, Pass, Program, Remark
from polyc.model.same import changed
from polyc.model.scop import Scop
from polyc.model.tree import Band, Domain, Role, rewrite, walk
from polyc.pipeline import compile_region, initial_program, passes_for
from polyc.poly import sets
from polyc.runtime.check import check as differences
from polyc.verify import Fault
from tests.mutation.runner import options_for
from tests.mutation.runner import region_of as program_of
from tests.programs import region_of

FAILURES = {"verification-failed", "budget", "not-printed"}
SIZES = (1, 7, 30)

TWO_NESTS = """
void f(int n, int m, double A[n][m], double B[n][m], double C[n][m])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            B[i][j] = 2.0 * A[i][j];
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < m - 1; j++)
            C[i][j] = B[i - 1][j] + B[i + 1][j] + B[i][j - 1] + B[i][j + 1];
#pragma endscop
}
"""


def losing(program: Program) -> Program:
    """The program without the first instance of its last statement, at each size."""
    last = max(sets(program.scop.domain), key=lambda piece: int(piece.get_tuple_name()[1:]))
    lost = isl.UnionSet.from_set(last.lexmin())
    return replace(program, tree=Domain(program.tree.domain.subtract(lost), program.tree.child))


def breaking(monkeypatch: pytest.MonkeyPatch, broken: str, fault: Callable[[Program], Program] = losing) -> None:
    """Put a fault into one pass, wherever it does something."""

    def with_fault(run: Pass) -> Pass:
        def faulty(program: Program) -> Program:
            after = run(program)
            return fault(after) if changed(program, after) else after

        return faulty

    def passes(options: Options) -> list[tuple[str, Pass]]:
        return [(name, with_fault(run) if name == broken else run) for name, run in passes_for(options)]

    monkeypatch.setattr(pipeline, "passes_for", passes)


def refusals(compiled: Compiled) -> list[Remark]:
    return [remark for remark in compiled.program.remarks if remark.code in FAILURES]


CASES = [
    ("conv_relu", "basteln"),
    ("filter", "spread"),
    ("interleaved", "interleave"),
    ("looked_up", "lookups"),
    ("looked_up", "parallel"),
    ("any_rows", "unroll"),
    ("private", "contract"),
    ("product", "registers"),
    ("skewed", "timetiles"),
    ("sliding_rows", "unroll"),
    ("sliding_rows", "windows"),
    ("sums", "jam"),
    ("stages", "share"),
    ("vectors", "vectorize"),
    ("conv_relu", "schedule"),
]


@pytest.mark.parametrize(("name", "broken"), CASES)
def test_the_pass_at_fault_is_left_out(name: str, broken: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is printed is what polyc makes without that pass: nothing else is lost."""
    region, options = program_of(name), options_for(name)
    expected = compile_region(region, replace(options, without=frozenset([broken])))
    assert refusals(expected) == []
    breaking(monkeypatch, broken)
    found = compile_region(region, options)
    assert found.verified
    (told,) = refusals(found)
    assert told.message.endswith(f"; the pass {broken} was left out")
    assert told.data["left_out"] == broken
    assert told.data["faults"]
    assert found.text == expected.text
    assert found.program.options.without == {broken}


def test_the_check_of_a_pass_that_did_nothing_is_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each program is checked once; passes that rebuild a tree as it was are no candidates."""
    checked: list[Program] = []
    real = fallback.check

    def seen(program: Program, original: Scop) -> list[Fault]:
        checked.append(program)
        return real(program, original)

    region = program_of("conv_relu")
    options = replace(options_for("conv_relu"), budget=0)  # checks run in this process
    breaking(monkeypatch, "basteln")
    monkeypatch.setattr(fallback, "check", seen)
    assert len(refusals(compile_region(region, options))) == 1
    assert len(checked) <= 5
    assert all(changed(one, two) for k, one in enumerate(checked) for two in checked[:k])


def test_two_passes_at_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    region, options = program_of("sliding_rows"), options_for("sliding_rows")
    faulty = {"unroll", "basteln"}

    def passes(asked: Options) -> list[tuple[str, Pass]]:
        return [(name, (lambda p, r=run: losing(r(p))) if name in faulty else run) for name, run in passes_for(asked)]

    monkeypatch.setattr(pipeline, "passes_for", passes)
    found = compile_region(region, options)
    assert found.verified
    assert {remark.data["left_out"] for remark in refusals(found)} == faulty
    assert "#pragma omp parallel" in found.text


# --- the text --------------------------------------------------------------------------------------------------------


def refusing(monkeypatch: pytest.MonkeyPatch, wrong: Callable[[Program], bool]) -> None:
    """Refuse the texts of some programs."""
    real = Attempt.text_of

    def text_of(attempt: Attempt, program: Program, verified: bool) -> tuple[Rendered | None, Program]:
        if wrong(program):
            faults = [{"kind": "text", "message": "it is not so", "witness": ""}]
            return None, program.remark("verification-failed", "text", "the printed text was refused", faults=faults)
        return real(attempt, program, verified)

    monkeypatch.setattr(Attempt, "text_of", text_of)


def unrolled(program: Program) -> bool:
    bands = (node for node in walk(program.tree.child) if isinstance(node, Band))
    return any(m.role in (Role.UNROLLED, Role.WRITTEN_OUT) for band in bands for m in band.members)


def test_the_pass_whose_text_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    region, options = program_of("sliding_rows"), options_for("sliding_rows")
    assert unrolled(compile_region(region, options).program)
    refusing(monkeypatch, unrolled)
    found = compile_region(region, options)
    assert found.verified
    (told,) = refusals(found)
    assert (told.stage, told.data["left_out"]) == ("text", "unroll")
    assert told.message == "the printed text was refused (it is not so); the pass unroll was left out"
    assert any(group.tile_sizes for group in found.program.groups)
    assert "#pragma omp parallel" in found.text
    assert differences(region, found, sizes=SIZES) == []


@pytest.mark.parametrize("name", ["conv_relu", "skewed", "sliding_rows", "strips"])
def test_the_last_right_program_where_no_pass_is_left_out(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its text was read in the search for the pass at fault, and is read again."""
    monkeypatch.setattr(relaxations, "MOST_LEFT_OUT", 0)
    refusing(monkeypatch, lambda program: bool(program.groups))
    found = compile_region(program_of(name), options_for(name))
    assert found.verified
    (told,) = refusals(found)
    assert told.message.endswith("and those after it were left out")
    assert "left as it was written" not in found.text
    assert not found.program.groups


def scheduled(program: Program) -> bool:
    return any(isinstance(node, Band) and node.permutable for node in walk(program.tree.child))


def test_the_order_of_the_user_keeps_its_parallel_loops(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A check that accepts nothing but the order as it was written."""
    real = fallback.check

    def check(program: Program, original: Scop) -> list[Fault]:
        return [Fault("flow", "it is another order", "")] if scheduled(program) else real(program, original)

    region = region_of(TWO_NESTS, tmp_path)
    monkeypatch.setattr(fallback, "check", check)
    found = compile_region(region, Options(threads="always"))
    assert found.verified
    assert found.text.count("#pragma omp parallel for") == 2
    assert differences(region, found, sizes=SIZES) == []
    (told,) = refusals(found)
    assert told.data["left_out"] == "schedule"


def test_the_order_as_written_where_no_single_pass_is_at_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every run of the passes is refused; the order as it was written, by itself, is not."""
    real = fallback.check

    def check(program: Program, original: Scop) -> list[Fault]:
        told = any(remark.stage not in ("verify", "parallel") for remark in program.remarks) or program.groups
        return [Fault("flow", "it is not so", "")] if told else real(program, original)

    region = region_of(TWO_NESTS, tmp_path)
    monkeypatch.setattr(fallback, "check", check)
    found = compile_region(region, Options(threads="always"))
    assert found.verified
    assert found.text.count("#pragma omp parallel for") == 2
    assert differences(region, found, sizes=SIZES) == []


@pytest.mark.parametrize("stage", ["tree", "text"])
def test_the_region_stays_where_nothing_is_accepted(
    stage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    region = region_of(TWO_NESTS, tmp_path)
    if stage == "tree":
        monkeypatch.setattr(fallback, "check", lambda *_: [Fault("flow", "it is not so", "")])
    else:
        refusing(monkeypatch, lambda _: True)
    found = compile_region(region, Options())
    assert found.verified
    assert "left as it was written" in found.text
    assert region.original.strip() in found.text
    (told,) = refusals(found)
    assert told.message.endswith("; the region stays as it was written")
    assert told.data["left_out"] == "all"


# --- what reports say ------------------------------------------------------------------------------------------------


def test_reports_name_the_refusal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is said of what was taken back but why."""
    region = region_of(TWO_NESTS, tmp_path)
    refusing(monkeypatch, lambda _: True)
    found = compile_region(region, Options())
    assert {remark.code for remark in found.program.remarks} == {"verification-failed"}
    line = summary("t.c", [found])
    assert "2 not tiled (lines 7, 10: verification-failed)" in line
    assert "2 not parallel (lines 7, 10: verification-failed)" in line
    for text in (render("t.c", [found]), why([found], 6, TWO_NESTS.splitlines()) or "", str(nest_data(found))):
        assert "verification-failed" in text
        assert "no-band" not in text
        assert "carried-dependence" not in text
        assert "it is not so" in text


def test_what_is_not_lost_keeps_its_own_reasons(monkeypatch: pytest.MonkeyPatch) -> None:
    """The program is tiled and parallel without the pass that was left out: no nest lacks anything for it."""
    region, options = program_of("stages"), options_for("stages")
    breaking(monkeypatch, "share")
    found = compile_region(region, options)
    assert refusals(found)
    assert "lost" not in refusals(found)[0].data
    assert "verification-failed" not in summary("t.c", [found])


def test_what_is_lost_is_told_of_the_nests_that_lost_it(monkeypatch: pytest.MonkeyPatch) -> None:
    region, options = program_of("conv_relu"), options_for("conv_relu")
    whole = compile_region(region, options)
    breaking(monkeypatch, "basteln")
    found = compile_region(region, options)
    (told,) = refusals(found)
    assert told.data["lost"].keys() >= {"tiled"}
    assert "not tiled" not in summary("t.c", [whole])
    assert "verification-failed)" in summary("t.c", [found])
    assert "fused" not in {remark.code for remark in found.program.remarks}


# --- equality by structure -------------------------------------------------------------------------------------------


def test_a_tree_that_was_rebuilt_is_the_same(tmp_path: Path) -> None:
    program = initial_program(region_of(TWO_NESTS, tmp_path).scop, Options())
    rebuilt = replace(program, tree=Domain(program.tree.domain, rewrite(program.tree.child, lambda node: node)))
    assert rebuilt.tree.child is not program.tree.child
    assert not changed(program, rebuilt)
    assert changed(program, losing(program))


@pytest.mark.parametrize("name", ["private", "not_looked_up", "recurrence"])
def test_loops_of_the_users_order(name: str) -> None:
    """What is marked as free of dependences is what the check accepts as parallel."""
    region = program_of(name)
    tried: Any = relaxations.Outcome(
        "",
        initial_program(region.scop, options_for(name)),
        (),
        initial_program(region.scop, Options()),
        None,  # type: ignore[arg-type]
    )
    ready = pipeline._ready(tried, 0)
    assert fallback.check(ready, region.scop) == []


GATES = """
#include <math.h>
void gates(int n, const float x[n][48], const float w[64][48], const float v[64][48], const float b[64],
           float out[n][64])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 64; j++) {
            float p = b[j], q = 0;
            for (int k = 0; k < 48; k++) {
                p += w[j][k] * x[i][k];
                q += v[j][k] * x[i][k];
            }
            out[i][j] = p * tanhf(q);
        }
#pragma endscop
}
"""


def test_sums_that_gain_nothing_in_elements_stay_in_variables(tmp_path: Path) -> None:
    """A C compiler would store the element in each step; in variables they run several rows at once."""
    result = compile_region(region_of(GATES, tmp_path), Options())
    assert result.passed
    codes = {remark.code for remark in result.program.remarks}
    served = codes & relaxations.SERVED
    assert ("relocated" in codes) == bool(served)
    assert served or "spread" in codes
    assert not differences(region_of(GATES, tmp_path), result, SIZES)


IN_ELEMENTS = """
void f(int n, const double a[n], const int k[n], double b[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        double s = 0;
        for (int j = 0; j < i; j++)
            s += a[k[j]] * a[j];
        b[i] = s;
    }
#pragma endscop
}
"""
WAVES = """
void f(int n, double A[12][n])
{
#pragma scop
    for (int i = 1; i < 12; i++)
        for (int j = 1; j < n; j++)
            A[i][j] = A[i - 1][j] + A[i][j - 1];
#pragma endscop
}
"""


@pytest.mark.parametrize("text", [IN_ELEMENTS, WAVES])
def test_passes_that_wait_run_again_however_late_it_is(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They have made no text; only refusals are not looked into any more."""
    monkeypatch.setattr(Attempt, "is_late", True)
    taken: list[str] = []
    found = relaxations.relaxation_for
    monkeypatch.setattr(pipeline, "relaxation_for", lambda tried: [taken.append(tried.stage), found(tried)][1])
    result = compile_region(region_of(text, tmp_path), Options())
    assert result.verified
    assert len(taken) > 1


def test_passes_that_wait_for_a_relaxation_run_again_however_late_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They have made no text, and nothing was refused that could be told."""
    again = relaxations.Relaxation(
        "temporaries",
        ("parallel",),
        lambda tried: tried.options.relocate,
        lambda tried: replace(tried.options, relocate=False),
        lambda tried: tried.initial,
    )
    monkeypatch.setattr(relaxations, "RELAXATIONS", (again,))
    monkeypatch.setattr("polyc.attempt.processor_seconds", iter(range(0, 100_000, 100)).__next__)
    result = compile_region(region_of(TWO_NESTS, tmp_path), Options())
    assert result.verified
    assert result.ast
