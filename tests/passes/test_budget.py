"""However small the budget of isl operations is, the compile ends with a program that is right, if less optimised."""

from __future__ import annotations

import os
import time
from pathlib import Path

import islpy as isl
import pytest

from polyc import bounded
from polyc.analysis.dependences import Known, compute_dependences, has_large_factors
from polyc.errors import UserError
from polyc.frontend import read
from polyc.frontend.c.state import CTX
from polyc.model.program import Compiled, InputOptions, Options, Program
from polyc.model.tree import Band, walk
from polyc.passes.buffers.privatize import place_private_arrays
from polyc.passes.order.schedule import schedule_nests
from polyc.pipeline import compile_region, initial_program
from polyc.poly import OverBudget, budget, share
from polyc.reread import NotComparable
from polyc.verify import Fault
from tests.programs import after, region_of
from tests.turns import turn

PROGRAMS = Path(__file__).parents[1] / "differential" / "programs"
NAMES = (
    "batch_norm",
    "guarded",
    "jacobi",
    "reductions",
    "single_iterations",
    "stencil_3d",
    "transposed",
    "two_products",
)
OPERATIONS = (1, 100, 10_000, 30_000, 100_000, 300_000)


def compiled(name: str, operations: int) -> list[Compiled]:
    source = read(str(PROGRAMS / f"{name}.c"), InputOptions(include_dirs=(str(PROGRAMS),)))
    return [compile_region(region, Options(budget=operations)) for region in source.regions]


@pytest.mark.parametrize(
    ("name", "operations"), [(name, o) for k, name in enumerate(NAMES) for o in turn(OPERATIONS, k)]
)
def test_a_small_budget_ends_well(name: str, operations: int) -> None:
    for one in compiled(name, operations):
        codes = [remark.code for remark in one.program.remarks]
        assert one.verified
        assert "verification-failed" not in codes
        assert "not-printed" not in codes
        if "left as it was written" in one.text:
            assert "budget" in codes
    assert CTX.get_max_operations() == 0


def test_without_operations_the_region_stays_as_it_was_written() -> None:
    (one,) = compiled("jacobi", 1)
    assert [(r.code, r.stage) for r in one.program.remarks] == [("budget", "dependences")]
    assert "left as it was written" in one.text
    assert "omp" not in one.text


def test_zero_is_no_bound() -> None:
    (one,) = compiled("jacobi", 0)
    assert [r.code for r in one.program.remarks if "budget" in r.code] == []
    assert [share(operations, 5) for operations in (0, 1, 4, 50)] == [0, 1, 1, 10]


def test_a_check_that_never_ends_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    here = os.getpid()

    def endless(*_: object) -> list[Fault]:
        while os.getpid() != here:  # as isl does with numbers of thousands of digits, whatever its budget
            pass
        raise OverBudget

    monkeypatch.setattr("polyc.fallback.check", endless)
    monkeypatch.setattr("polyc.bounded.MOST_SECONDS", 1)
    (one,) = compiled("jacobi", Options().budget)
    assert [(r.code, r.stage) for r in one.program.remarks if r.code == "budget"] == [("budget", "verify")]
    assert "omp" not in one.text


def test_what_a_child_found_is_told() -> None:
    (one,) = compiled("jacobi", Options().budget)
    assert one.verified
    assert not {"budget", "text-not-checked"} & {remark.code for remark in one.program.remarks}


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (NotComparable("it has another form"), "it has another form"),
        (OverBudget(), "comparing it took more isl operations than the budget allows"),
        (isl.Error("overflow"), "isl failed in comparing it (overflow)"),
    ],
)
def test_a_text_that_is_not_compared_says_so(error: Exception, reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Remark, certificate and first line; the text is that of the tree, which was checked."""

    def fails(*_: object) -> list[Fault]:
        raise error

    monkeypatch.setattr("polyc.attempt.text_faults", fails)
    (one,) = compiled("jacobi", Options().budget)
    messages = [remark.message for remark in one.program.remarks if remark.code == "text-not-checked"]
    assert messages == [f"the printed text was not shown to be right: {reason}"]
    assert not one.verified
    assert (one.certificate.tree, one.certificate.text) == ("shown", "not shown")
    assert "text NOT checked" in one.text.split("\n", 1)[0]
    assert "omp parallel for" in one.text


def test_the_scheduler_has_a_budget_of_its_own() -> None:
    (region,) = read(str(PROGRAMS / "jacobi.c"), InputOptions(include_dirs=(str(PROGRAMS),))).regions
    program = schedule_nests(initial_program(region.scop, Options(budget=100)))
    assert [remark.code for remark in program.remarks] == ["schedule-budget"]
    marked = [
        member.coincident for node in walk(program.tree.child) if isinstance(node, Band) for member in node.members
    ]
    assert any(marked)
    assert not all(marked)


def test_a_scheduler_that_gives_up_leaves_the_original_order(monkeypatch: pytest.MonkeyPatch) -> None:
    def give_up(*_: object) -> None:
        raise isl.Error("unable to carry dependences")

    (region,) = read(str(PROGRAMS / "jacobi.c"), InputOptions(include_dirs=(str(PROGRAMS),))).regions
    monkeypatch.setattr("polyc.passes.order.schedule._heuristic", give_up)
    one = compile_region(region, Options())
    assert "not-scheduled" in [remark.code for remark in one.program.remarks]
    assert one.verified


def test_reading_has_a_budget() -> None:
    file = str(PROGRAMS / "harris.c")
    with pytest.raises(UserError) as caught:
        read(file, InputOptions(include_dirs=(str(PROGRAMS),), budget=100))
    (problem,) = caught.value.diagnostics
    assert problem.code == "too-large"
    assert problem.span is not None
    assert problem.span.file == file
    assert "--budget" in problem.hint


def test_errors_that_follow_from_a_used_up_budget_are_told_from_others() -> None:
    large = "[n] -> { [i, j] : 0 <= i < n and (i < j < n or j < 2i) }"
    with pytest.raises(OverBudget), budget(CTX, 1):
        isl.Set(large).lexmin()
    with pytest.raises(OverBudget), budget(CTX, 1):
        misled(large)
    with pytest.raises(TypeError), budget(CTX, 1_000_000):
        raise TypeError("of our own")
    with budget(CTX, 1_000_000), pytest.raises(OverBudget), budget(CTX, 1):
        isl.Set(large).lexmin()


def misled(text: str) -> None:
    """As code is to which isl answers None."""
    try:
        isl.Set(text).lexmin()
    except isl.Error:
        raise TypeError("isl gave None") from None


PLANES = """
void f(int steps, int n, double a[2][n + 1][n + 1])
{
#pragma scop
    for (int t = 0; t < steps; t++)
        for (int i = 0; i <= n; i++)
            for (int j = 0; j <= n; j++)
                a[(t + 1) % 2][i][j] = a[t % 2][i][j] + a[t % 2][i == n ? 0 : i + 1][j]
                                       + a[t % 2][i == 0 ? n : i - 1][j] + a[t % 2][i][j == n ? 0 : j + 1]
                                       + a[t % 2][i][j == 0 ? n : j - 1];
#pragma endscop
}
"""
"""A stencil between two planes, whose neighbours go round the border."""


def test_what_is_overwritten_is_compared_piece_by_piece(tmp_path: Path) -> None:
    region = region_of(PLANES, tmp_path)
    with budget(CTX, Options().budget):
        initial_program(region.scop, Options())


def test_finding_dependences_may_take_what_a_check_may(tmp_path: Path) -> None:
    region = region_of(PLANES, tmp_path)
    told = compile_region(region, Options(budget=500_000)).program.remarks
    assert [remark for remark in told if remark.stage == "dependences"] == []
    told = compile_region(region, Options(budget=50_000)).program.remarks
    assert [remark.code for remark in told] == ["budget"]


def test_a_step_goes_on_where_a_try_has_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No try has the operations for all six arrays, and no copy of the process is asked."""
    rows = "".join(f"        {a}[i] = {a}[i - 1] + {a}[i];\n" for a in "abcdef")
    head = f"void f(int n, {', '.join(f'double {a}[n]' for a in 'abcdef')}) {{\n#pragma scop\n"
    scop = region_of(f"{head}    for (int i = 1; i < n; i++) {{\n{rows}    }}\n#pragma endscop\n}}\n", tmp_path).scop
    whole = compute_dependences(scop)
    known: Known = {}
    monkeypatch.setattr(bounded, "QUICK", 8000)
    monkeypatch.setattr(bounded, "survived", lambda _: pytest.fail("a copy was asked"))
    with pytest.raises(OverBudget), budget(CTX, bounded.QUICK):
        compute_dependences(scop)
    found = bounded.within_time(CTX, 100_000, lambda: compute_dependences(scop, known), known.__len__)
    assert found.flow.is_equal(whole.flow)
    assert found.false.is_equal(whole.false)


def test_what_is_over_budget_in_a_copy_is_not_done_again(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[int] = []  # by this process: what a copy adds is lost

    def endless() -> None:
        done.append(len(done))
        while True:
            isl.Set("{ [i] : 0 <= i < 10 }").intersect(isl.Set("{ [i] : 5 <= i < 20 }")).is_empty()

    monkeypatch.setattr(bounded, "QUICK", 1000)
    with pytest.raises(OverBudget):
        bounded.within_time(CTX, 5000, endless)
    assert done == [0]
    with pytest.raises(OverBudget):
        bounded.within_time(CTX, 5000, endless, hard=True)
    assert done == [0]


@pytest.mark.parametrize(
    ("subscript", "large"), [("(27 * i + j) * 31 + k", True), ("300 * i", False), ("i + j", False)]
)
def test_large_factors_of_subscripts(subscript: str, large: bool, tmp_path: Path) -> None:
    """Few operations on them may take minutes."""
    text = f"""
void f(int n, double *a)
{{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = j; k < n; k++)
                a[{subscript}] += 1;
#pragma endscop
}}
"""
    assert has_large_factors(region_of(text, tmp_path).scop) == large


def test_a_pass_that_is_needed_and_comes_to_no_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Loops that have no scalars of their own are no fault that the check finds: time is what was missing."""

    def endless(program: Program) -> Program:
        raise OverBudget("no operations left")

    monkeypatch.setattr("polyc.pipeline.place_private_arrays", endless)
    region = region_of(
        "void f(int n, double a[n]) {\n#pragma scop\nfor (int i = 0; i < n; i++) {"
        " double t = a[i]; if (i > 3) t = t + 1; a[i] = t * t; }\n#pragma endscop\n}",
        tmp_path,
    )
    one = compile_region(region, Options(threads="always", relocate=False, tile_sizes=None))
    codes = {remark.code for remark in one.program.remarks}
    assert one.verified
    assert "budget" in codes
    assert "verification-failed" not in codes


def test_slow_operations_do_not_keep_the_dependences_from_ending(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten million operations over a linear form with large coefficients take minutes."""
    text = """
    void f(long n, long m, double *E)
    {
    #pragma scop
        for (int i = 0; i < m + 1; i++)
            for (int j = i; j < n; j++)
                for (int k = 0; k < m - 1; k++)
                    for (int l = 0; l < n; l++)
                        E[((l * 15 + k) * 12 + j) * 17 + i] = i;
    #pragma endscop
    }
    """
    region = region_of(text, tmp_path)
    monkeypatch.setattr(bounded, "MOST_SECONDS", 1)
    monkeypatch.setattr(bounded, "QUICK", 100_000)
    start = time.process_time()
    one = compile_region(region, Options())
    assert time.process_time() - start < 20
    assert [(r.code, r.stage) for r in one.program.remarks] == [("budget", "dependences")]
    assert "left as it was written" in one.text


def test_memory_of_a_step_is_bounded() -> None:
    """A step in a child process that wants ever more memory fails there, and nowhere else."""

    def step() -> int:
        kept = []
        while len(kept) < 64:
            kept.append(bytearray(1 << 28))
        return len(kept)

    with pytest.raises(bounded.StepError):
        bounded.in_child(step, 20)


UNEQUAL = """
void kernel(int n, int m, int p, double u[n][n][n])
{
    double a, b, c, d, e;
#pragma scop
    for (int i = 0; i < n; i++) {
        a = 1.0 / (i + 1);
        for (int j = 0; j < n; j++)
            if (i != m && j != p) {
                b = a * j;
                c = a * b;
                d = b * c;
                for (int k = 0; k < n; k++) {
                    e = c + d * k;
                    u[i][j][k] = a + e * e;
                }
            }
    }
#pragma endscop
}
"""
"""Each condition leaves two pieces of the iterations, and both of them four."""


def test_values_that_stay_in_a_block_are_not_compared_in_pairs_of_pieces(tmp_path: Path) -> None:
    program = after(region_of(UNEQUAL, tmp_path), "parallel")
    with budget(CTX, 40_000):
        placed = place_private_arrays(program)
    assert {buffer.array for buffer in placed.buffers.values()} == {"a", "b", "c", "d", "e"}
