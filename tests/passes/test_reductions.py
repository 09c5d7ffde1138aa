"""Reductions run in parallel only where the user allows another order of operations."""

from __future__ import annotations

from pathlib import Path

from polyc.model.program import Options
from polyc.pipeline import compile_region
from polyc.runtime.check import check
from tests.programs import compiled, region_of

DOT = """
double dot(int n, double a[n], double b[n], double M[n][n])
{
    double s = 0, t = 1;
#pragma scop
    for (int i = 0; i < n; i++)
        s += a[i] * b[i];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            t = t + M[i][j];
#pragma endscop
    return s + t;
}
"""

PREFIX = """
void prefix(int n, double a[n], double b[n])
{
    double s = 0;
#pragma scop
    for (int i = 0; i < n; i++) {
        s += a[i];
        b[i] = s;
    }
#pragma endscop
}
"""


def test_order_is_kept_by_default(tmp_path: Path) -> None:
    text = compiled(DOT, tmp_path).text
    assert "reduction" not in text
    assert "omp" not in text


def test_parallel_and_vector_reductions(tmp_path: Path) -> None:
    result = compiled(DOT, tmp_path, reassociate=True)
    assert result.verified
    assert "#pragma omp parallel for reduction(+: s)" in result.text
    assert "#pragma omp parallel for reduction(+: t)" in result.text
    assert "#pragma omp simd reduction(+: t)" in result.text


def test_a_sum_that_is_read_on_the_way_is_no_reduction(tmp_path: Path) -> None:
    result = compiled(PREFIX, tmp_path, reassociate=True)
    assert result.verified
    assert "reduction" not in result.text


def test_reassociated_values_agree(tmp_path: Path) -> None:
    region = region_of(DOT, tmp_path)
    assert check(region, compile_region(region, Options(reassociate=True)), sizes=(1, 7, 40)) == []
