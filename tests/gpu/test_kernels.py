"""Kernels and operators on PoCL and in the CUDA shim: the same values, no race, nothing out of bounds."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyc.frontend import read
from polyc.model.program import Compiled, InputOptions, Options
from polyc.model.scop import Region
from polyc.pipeline import compile_region
from polyc.runtime import compare
from polyc.runtime.opencl import missing, support
from tests.programs import region_of

ROOT = Path(__file__).parents[2]
POLYBENCH = ROOT / "polybench"
OPERATORS = {file.stem: file for file in sorted((ROOT / "benchmarks" / "operators").glob("*.c"))}
SMALL = InputOptions(defines=("SMALL",))
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
KERNELS = {file.stem: file for file in sorted((POLYBENCH / "kernels").glob("*.c"))}
INPUTS = InputOptions(include_dirs=(str(POLYBENCH / "harness"),), defines=("MINI_DATASET",))
KERNELS_OF = {"indep": 2, **dict.fromkeys(("conv1", "conv2", "conv3", "conv4"), 2)}
"""Two chains that share nothing but their input; and a sum with padding, which all output channels would repeat."""
SIZES = (5, 40)
"""Less than a tile, and more."""
ROUNDED_DIFFERENTLY = {"deriche"}
"""Kernels that call exp and pow, which OpenCL's libraries round in their own way: compared in the shim only."""


TARGETS = pytest.mark.parametrize("target", ["cuda", "opencl"])


@pytest.mark.slow
@TARGETS
@pytest.mark.parametrize("name", KERNELS)
def test_kernel(name: str, target: str) -> None:
    if target == "opencl" and name in ROUNDED_DIFFERENTLY:
        pytest.skip("its exp and pow are the library's")
    for region in read(str(KERNELS[name]), INPUTS).regions:
        assert_same(region, Options(target=target))


@pytest.mark.slow
@TARGETS
@pytest.mark.parametrize("name", OPERATORS)
def test_operator(name: str, target: str) -> None:
    """The twenty sub-graphs of the paper's Table 3, small. All but convolutions with padding are one kernel each."""
    (region,) = read(str(OPERATORS[name]), SMALL).regions
    compiled = assert_same(region, Options(target=target))
    word = {"cuda": "__global__", "opencl": "__kernel"}[target]
    assert compiled.device[0].count(word) == KERNELS_OF.get(name, 1)


@pytest.mark.slow
def test_one_row(tmp_path: Path) -> None:
    assert_same(region_of(ONE_ROW, tmp_path, assume=("n <= 50",)), Options(target="cuda", max_recompute=1e6))


def assert_same(region: Region, options: Options, wanted: tuple[int, ...] = SIZES) -> Compiled:
    if options.target == "opencl" and support() is None:
        pytest.skip(missing())
    compiled = compile_region(region, options)
    assert compiled.verified
    assert compiled.device, [r.message for r in compiled.program.remarks]
    report = compare(region, compiled, wanted)
    assert not report.differences, report.differences[0].message
    assert report.rows, report.skipped
    return compiled
