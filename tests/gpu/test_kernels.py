"""Kernels and operators on PoCL and in the CUDA shim: the same values, no race, nothing out of bounds."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyc.frontend import read
from polyc.model.program import Compiled, InputOptions, Options
from polyc.model.scop import AccessKind, Region
from polyc.pipeline import compile_region
from polyc.runtime import compare
from polyc.runtime.opencl import missing, support
from tests.half import needs_half
from tests.programs import region_of
from tests.turns import on_targets

ROOT = Path(__file__).parents[2]
POLYBENCH = ROOT / "polybench"
OPERATORS = {file.stem: file for file in sorted((ROOT / "benchmarks" / "operators").glob("*.c"))}
SMALL = InputOptions(defines=("SMALL",))
SMALL_HALVES = InputOptions(defines=("SMALL", "HALF"))
ONE_ROW = """
void one_row(int n, double a[40][50], double out[40][50])
{
    double p[40][50];
#pragma polyc live-out(out)
#pragma scop
    for (int i = 0; i < 40; i++)
        for (int j = 0; j < 50; j++) {
            p[i][j] = 1.0;
            for (int k = 0; k < n; k++)
                p[i][j] += a[i][k] * 2.0;
        }
    for (int i = 0; i < 40; i++)
        for (int j = 0; j < 50; j++)
            out[i][j] = p[7][j] + a[i][j];
#pragma endscop
}
"""
"""isl leaves out the loop over the rows of `p`, which was to be shared out among threads: one of them has to do it."""
LAST_ROWS = """
void last_rows(int n, int x[n + 4][n + 3], int b[39][38], int c[39][38])
{
    int a[n][n + 1];
#pragma polyc live-out(b, c)
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n + 1; j++)
            a[i][j] = x[i + 4][j] + x[i][j + 2];
    for (int i = 1; i < n - 1; i++)
        for (int j = 0; j < n - 2; j++)
            b[i][j] = a[i + 1][j + 3] + a[i + 1][j];
    for (int i = 1; i < n - 1; i++)
        for (int j = 0; j < n - 2; j++)
            c[i][j] = a[i - 1][j + 2] * 2;
#pragma endscop
}
"""
"""What a tile keeps for the second nest, and gives to the third one, is empty in some tiles: isl puts the step, barrier
and all, into a branch. PoCL crashes on such barriers."""
IN_TWO_LOOPS = """
void in_two_loops(int n, double a[n + 1], double b[n + 3])
{
#pragma scop
    for (int i = 0; i < n; i += 4) {
        double t = a[i] + 0.3;
        b[i + 3] += t;
    }
#pragma endscop
}
"""
IN_PIECES = """
void in_pieces(int n, double x[40], double a[40], double b[40])
{
#pragma scop
    for (int i = 0; i < 2; i++)
        a[i] = x[i] * 2.0;
    for (int i = 1; i < 40; i++)
        b[i] = a[i] + 1.0;
#pragma endscop
}
"""
"""isl prints two loops for the one that both statements share: iteration 1 is the last of one, the first of the other,
and has to be the same thread's."""
KERNELS = {file.stem: file for file in sorted((POLYBENCH / "kernels").glob("*.c"))}
INPUTS = InputOptions(include_dirs=(str(POLYBENCH / "harness"),), defines=("MINI_DATASET",))
SIZES = (5, 40)
"""Less than a tile, and more."""
ROUNDED_DIFFERENTLY = {"deriche"}
"""Kernels that call exp and pow, which OpenCL's libraries round in their own way: compared in the shim only."""
IN_ORDER = {"durbin"}
"""One thread would run half of its work, sums in their order: it stays on the CPU."""


TARGETS = pytest.mark.parametrize("target", ["cuda", "opencl"])


@pytest.mark.slow
@pytest.mark.parametrize(("name", "target"), on_targets(KERNELS))
def test_kernel(name: str, target: str) -> None:
    if target == "opencl" and name in ROUNDED_DIFFERENTLY:
        pytest.skip("its exp and pow are the library's")
    for region in read(str(KERNELS[name]), INPUTS).regions:
        if name in IN_ORDER:
            compiled = compile_region(region, Options(target=target))
            assert not compiled.device
            assert any("on one thread of a GPU" in remark.message for remark in compiled.program.remarks)
        else:
            assert_same(region, Options(target=target))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "target"), on_targets(OPERATORS))
def test_operator(name: str, target: str) -> None:
    """The twenty sub-graphs of the paper's Table 3, small: one kernel each."""
    (region,) = read(str(OPERATORS[name]), SMALL).regions
    compiled = assert_same(region, Options(target=target))
    word = {"cuda": "__global__", "opencl": "__kernel"}[target]
    assert compiled.device[0].count(word) == 1


@pytest.mark.slow
@pytest.mark.parametrize(("name", "target"), on_targets(OPERATORS))
def test_operator_in_half_precision(name: str, target: str) -> None:
    needs_half()
    (region,) = read(str(OPERATORS[name]), SMALL_HALVES).regions
    compiled = assert_same(region, Options(target=target))
    word = {"cuda": "__global__", "opencl": "__kernel"}[target]
    assert compiled.device[0].count(word) == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", OPERATORS)
def test_operators_of_full_size(name: str) -> None:
    """Elementwise chains, products, convolutions and attention: one kernel each, what lies between on the chip."""
    (region,) = read(str(OPERATORS[name]), InputOptions()).regions
    compiled = compile_region(region, Options(target="cuda"))
    assert compiled.passed
    assert compiled.device[0].count("__global__") == 1
    stored = {a.array for s in region.scop.statements.values() for a in s.accesses if a.kind is not AccessKind.READ}
    between = stored - region.scop.live_out - _inlined(compiled)
    assert between <= {b.array for b in compiled.program.buffers.values()}


def _inlined(compiled: Compiled) -> set[str]:
    """What is computed where it is read."""
    made = [i.before.statements[i.producer] for i in compiled.program.inlined]
    return {a.array for s in made for a in s.accesses if a.kind is not AccessKind.READ}


@pytest.mark.slow
def test_one_row(tmp_path: Path) -> None:
    assert_same(region_of(ONE_ROW, tmp_path, assume=("n <= 50",)), Options(target="cuda", max_recompute=1e6))


@pytest.mark.slow
@TARGETS
def test_barriers_stand_outside_of_branches(tmp_path: Path, target: str) -> None:
    compiled = assert_same(
        region_of(LAST_ROWS, tmp_path), Options(target=target, tile_sizes=(3, 16), max_recompute=1e6)
    )
    lines = [line.strip() for line in compiled.device[0].splitlines()]
    meets = [k for k, line in enumerate(lines) if "barrier(" in line or "__syncthreads" in line]
    assert meets
    assert not [lines[k - 1] for k in meets if lines[k - 1].startswith("if")]


def test_a_variable_of_a_thread_in_two_loops(tmp_path: Path) -> None:
    """isl has the writer of `t` in one loop and its reader in the next: each would declare a `t` of its own."""
    compiled = compile_region(region_of(IN_TWO_LOOPS, tmp_path), Options(target="cuda", tile_sizes=(4, 5)))
    text = "".join(compiled.device)
    assert "t = " not in text or text.count("double t;") == 1


@pytest.mark.slow
@TARGETS
def test_in_pieces(tmp_path: Path, target: str) -> None:
    assert_same(region_of(IN_PIECES, tmp_path), Options(target=target, tile_sizes=(64,)))


@pytest.mark.slow
@TARGETS
def test_inlined_producers(target: str) -> None:
    (region,) = read(str(ROOT / "tests" / "mutation" / "programs" / "inlined.c"), InputOptions()).regions
    compiled = assert_same(region, Options(target=target))
    assert len(compiled.program.inlined) == 4


def assert_same(region: Region, options: Options, wanted: tuple[int, ...] = SIZES) -> Compiled:
    if options.target == "opencl" and support() is None:
        pytest.skip(missing())
    compiled = compile_region(region, options)
    assert compiled.passed
    assert compiled.device, [r.message for r in compiled.program.remarks]
    report = compare(region, compiled, wanted)
    assert not report.differences, report.differences[0].message
    assert report.rows, report.skipped
    return compiled
