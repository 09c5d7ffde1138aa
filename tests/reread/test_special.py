"""A version for known sizes that is not the text at these sizes is refused."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from polyc.frontend import read
from polyc.model.program import Compiled, InputOptions, Options
from polyc.model.scop import Region
from polyc.pipeline import compile_region
from polyc.reread import both_faults, next_version_faults, special_faults

FILE = """
static void scale(int n, int low, int m, double a[n][2 * n], double *sum)
{
    double s = 0;
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = low; j < m; j++)
            a[i][j] = 2 * a[i][j];
    for (int i = 0; i < n; i++)
        s += a[i][0];
#pragma endscop
    *sum = s;
}
void all(int m, double a[300][600], double *sum) { scale(300, -1 + 1, m, a, sum); }
"""

EXCHANGED = FILE.replace("a[i][j] = 2 * a[i][j]", "a[j][i] = 2 * a[j][i]")
"""Loops that one thread gains by, too: no condition but that on the sizes."""


@pytest.fixture(scope="module", params=[FILE, EXCHANGED])
def made(request: pytest.FixtureRequest) -> tuple[Region, Compiled]:
    (region,) = read("t.c", InputOptions(), text=request.param).regions
    return region, compile_region(region, Options())


def test_the_version_is_right(made: tuple[Region, Compiled]) -> None:
    region, compiled = made
    assert "if (n == 300 && low == 0" in compiled.special
    assert "double (*const polyc_a)[600] = a;" in compiled.special
    assert "known-sizes" in {remark.code for remark in compiled.program.remarks}
    assert not special_faults(compiled.program, region, compiled.text, compiled.special)


def test_the_region_as_it_was_written_stands_there_once() -> None:
    """gcc takes its body, between constants, for one that never runs: the census transform took twice its time."""
    (region,) = read("t.c", InputOptions(), text=FILE).regions
    special = compile_region(region, Options()).special
    assert "low == 0 && polyc_threads(" in special
    assert special.count("as it was written") == special.count("a[i][j] = 2 * a[i][j];\n    for (int i") == 1


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("const int n = 300", "const int n = 299"),
        ("const int n = 300", "const long n = 300"),
        ("const int n = 300", "const int s = 300"),
        ("n == 300 && ", ""),
        ("n == 300", "n <= 300"),
        ("n == 300", "n == 301"),
        ("n == 300 &&", "n == 300 ||"),
        (r"\[600\]", "[601]"),
        (r"\[600\]", "[60][10]"),
        (r"= polyc_a;", "= polyc_b;"),
        (r"double \(\*const polyc_a\)\[600\] = a", "double (*const polyc_a)[600] = sum"),
        (r"2 \* a", "3 * a"),
        (r"2 \* a\[(\w)\]\[\w\];\n(\s+for \(int i)", r"2 * a[\1][0];\n\2"),
        ("88000", "88001"),
        (r" > 88000\)", " > 88000 || s)"),
        (r"(#define polyc_plain_simd)\n", r"\1 s = 0;\n"),
        (r"(pragma GCC diagnostic pop\n)", r"\1}\n"),
        (r"\} else \{[^\n]*\n", "} else {\n n = 0;\n"),
        (r"(if \(n == 300[^\n]*\n)", r"\1  low = 0;\n"),
        (r"(if \(n == 300[^\n]*\n)", r"\1#define j i\n"),
    ],
)
def test_another_one_is_refused(made: tuple[Region, Compiled], before: str, after: str) -> None:
    region, compiled = made
    other = re.sub(before, after, compiled.special)
    assert other != compiled.special
    assert special_faults(compiled.program, region, compiled.text, other)


def test_a_name_that_the_region_writes_is_no_constant(made: tuple[Region, Compiled]) -> None:
    region, compiled = made
    (one,) = (one for one in region.scop.always if one.name == "n")
    scop = replace(region.scop, always=(replace(one, name="s", type="double"),))
    other = compiled.special.replace("const int n = 300", "const double s = 300").replace(
        "n == 300", "n == 300 && s == 300"
    )
    assert special_faults(replace(compiled.program, scop=scop), region, compiled.text, other)


STRIDES = """
void thin(int n, int m, int stride, const double *restrict a, double *restrict b)
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 4; j++) {
            int x = i * stride + j;
            if (x < m)
                b[i] += a[x];
        }
#pragma endscop
}
"""


def test_the_text_for_any_stride_is_the_other_branch() -> None:
    (region,) = read("t.c", InputOptions(), text=STRIDES).regions
    assert region.scop.general is not None
    both = compile_region(region, Options())
    found = compile_region(replace(region, scop=replace(region.scop, general=None)), Options())
    other = compile_region(replace(region, scop=region.scop.general), Options())
    assert not both_faults(region, found.text, other.text, both.text)
    for before, after in [
        ("stride == 1", "stride <= 1"),
        ("long j = 0", "long j = 1"),
        ("int j = 0; j < 4", "int j = 0; j < 3"),
        ("} else {", "}{"),
        ("} else {", "} else { b[0] = 1;"),
    ]:
        wrong = both.text.replace(before, after, 1)
        assert wrong != both.text
        assert both_faults(region, found.text, other.text, wrong), before
    assert both_faults(region, found.text, other.text, found.text)


WAVES = """
#include <math.h>
void waves(int rows, int n, const double x[restrict rows][n], double y[restrict rows][n])
{
#pragma scop
    for (int r = 0; r < rows; r++)
        for (int k = 0; k < n; k++) {
            double s = 0;
            for (int j = 0; j < n; j++)
                s += x[r][j] * cos(0.1 * j * k);
            y[r][k] = s;
        }
#pragma endscop
}
"""


def test_the_text_without_a_table_is_the_other_branch() -> None:
    """For so many or so few rows that a table is too large, or read too seldom."""
    (region,) = read("t.c", InputOptions(), text=WAVES).regions
    assert region.scop.whole is not None
    both = compile_region(region, Options())
    other = compile_region(replace(region, scop=region.scop.whole), Options())
    head, behind = both.text.split("} else { /* where that does not hold: for any sizes */\n")
    assert "rows >= 4" in head
    assert "[k][j]" in head
    loops = [line.strip() for line in other.text.splitlines()]
    assert [line.strip() for line in behind.splitlines()][: len(loops)] == loops
    assert "#pragma omp parallel for" in loops


CALLS = (
    STRIDES.replace("void thin", "static void thin")
    + """
void thinned(int n, int m, const double *a, double *b) { thin(n, m, 1, a, b); thin(n, m, 3, a, b); }
"""
)


def test_a_version_for_each_stride() -> None:
    (region,) = read("t.c", InputOptions(), text=CALLS).regions
    other_region = replace(region, scop=region.scop.general)
    assert region.scop.has_versions
    first = compile_region(replace(region, scop=replace(region.scop, general=None)), Options())
    second = compile_region(other_region, Options())
    both = compile_region(region, Options()).special
    asked = [line for line in both.splitlines() if "as the calls of this file have it" in line]
    assert [line.count("stride == 1") for line in asked] == [1, 0]
    assert [line.count("stride == 3") for line in asked] == [0, 1]
    assert both.count("#pragma omp parallel for") == 2
    assert not next_version_faults(region, first.special, second.special, both)
    for before, after in [
        ("stride == 3", "stride == 2"),
        ("stride == 1", "stride <= 1"),
        ("b[i] += a[x]", "b[i] += a[i]"),
    ]:
        wrong = both.replace(before, after, 1)
        assert wrong != both
        assert next_version_faults(region, first.special, second.special, wrong), before
    assert next_version_faults(region, first.special, second.special, first.special)
