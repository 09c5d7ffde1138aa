"""Every kernel of polybench/ on PoCL and in the CUDA shim: the same values, no race, nothing out of bounds."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyc.frontend import read
from polyc.model.program import InputOptions, Options
from polyc.pipeline import compile_region
from polyc.runtime import compare
from polyc.runtime.opencl import missing, support

POLYBENCH = Path(__file__).parents[2] / "polybench"
KERNELS = {file.stem: file for file in sorted((POLYBENCH / "kernels").glob("*.c"))}
INPUTS = InputOptions(include_dirs=(str(POLYBENCH / "harness"),), defines=("MINI_DATASET",))
SIZES = (5, 40)
"""Less than a tile, and more."""
ROUNDED_DIFFERENTLY = {"deriche"}
"""Kernels that call exp and pow, which OpenCL's libraries round in their own way: compared in the shim only."""


@pytest.mark.slow
@pytest.mark.parametrize("target", ["cuda", "opencl"])
@pytest.mark.parametrize("name", KERNELS)
def test_same_values(name, target):
    if target == "opencl":
        if support() is None:
            pytest.skip(missing())
        if name in ROUNDED_DIFFERENTLY:
            pytest.skip("its exp and pow are the library's")
    options = Options(target=target)
    for region in read(str(KERNELS[name]), INPUTS).regions:
        compiled = compile_region(region, options)
        assert compiled.verified
        assert compiled.device, [r.message for r in compiled.program.remarks]
        report = compare(region, compiled, SIZES)
        assert not report.differences, report.differences[0].message
        assert report.rows, report.skipped
