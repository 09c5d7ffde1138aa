"""The operators of benchmarks/operators on the CPU, small, in single and half precision."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyc.frontend import read
from polyc.model.program import InputOptions, Options
from polyc.pipeline import compile_region
from polyc.runtime import compare
from tests.half import needs_half
from tests.turns import turn

OPERATORS = {file.stem: file for file in sorted((Path(__file__).parents[2] / "benchmarks" / "operators").glob("*.c"))}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "precision"), [(name, p) for k, name in enumerate(OPERATORS) for p in turn(("single", "half"), k)]
)
def test_operator(name: str, precision: str) -> None:
    if precision == "half":
        needs_half()
    defines = ("SMALL", "HALF") if precision == "half" else ("SMALL",)
    (region,) = read(str(OPERATORS[name]), InputOptions(defines=defines)).regions
    compiled = compile_region(region, Options())
    assert compiled.verified
    report = compare(region, compiled, (5,))
    assert not report.differences, report.differences[0].message
    assert report.rows, report.skipped
