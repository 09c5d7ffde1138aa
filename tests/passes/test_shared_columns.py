"""Nests in a sequential loop that meet columns of an array again, and sums whose only parallel loop is along memory."""

from __future__ import annotations

from pathlib import Path

from polyc.model.program import Options
from polyc.pipeline import compile_region
from polyc.runtime.check import check
from tests.programs import region_of

ORTHOGONAL = """
void f(int m, int n, double A[m][n], double R[n][n], double q[m]) {
#pragma scop
    for (int k = 0; k < n; k++) {
        for (int i = 0; i < m; i++)
            q[i] = A[i][k] * 0.5;
        for (int j = k + 1; j < n; j++) {
            R[k][j] = 0.0;
            for (int i = 0; i < m; i++)
                R[k][j] += q[i] * A[i][j];
            for (int i = 0; i < m; i++)
                A[i][j] = A[i][j] - q[i] * R[k][j];
        }
    }
#pragma endscop
}
"""

ROWS = """
void f(int m, int n, double in[m][n], double a[m][n], double out[m][n]) {
#pragma scop
    for (int i = 0; i < m; i++)
        for (int j = 1; j < n; j++)
            a[i][j] = in[i][j] + 0.5 * a[i][j - 1];
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            out[i][j] = 2.0 * a[i][j];
#pragma endscop
}
"""


def test_values(tmp_path: Path) -> None:
    """Bit by bit, at sizes around those of strips."""
    region = region_of(ORTHOGONAL, tmp_path)
    result = compile_region(region, Options())
    assert result.verified
    assert not {r.code for r in result.program.remarks} & {"verification-failed", "not-printed"}
    assert check(region, result, sizes=(1, 7, 64, 130)) == []


def test_nests_share_their_strips(tmp_path: Path) -> None:
    """The sum and the update run in the same strips of columns, and these in parallel."""
    text = compile_region(region_of(ORTHOGONAL, tmp_path), Options()).text
    strips = text.split("#pragma omp parallel for")[-1]
    assert "R[k][j] +=" in strips
    assert "A[i][j] =" in strips


def test_one_thread_has_no_strips(tmp_path: Path) -> None:
    assert "jt" not in compile_region(region_of(ORTHOGONAL, tmp_path), Options(target="c")).text


def test_no_buffer_is_as_wide_as_an_image(tmp_path: Path) -> None:
    """A whole row of unknown length has no constant size: nothing is assumed on it."""
    result = compile_region(region_of(ROWS, tmp_path), Options())
    assert result.verified
    assert not result.program.buffers
    assert result.program.scop.assumed.plain_is_universe()
