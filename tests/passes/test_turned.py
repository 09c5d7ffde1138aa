"""Buffers of a tile that lie as its vector loops run."""

from __future__ import annotations

from pathlib import Path

from polyc.model.program import Options
from polyc.pipeline import compile_region
from polyc.runtime.check import check
from tests.docs.pages import ROOT
from tests.programs import compiled, region_in

COLUMNS = ROOT / "tests" / "remarks" / "remarks" / "turned.c"
ROWS = """
void rows(int n, double u[n][n], double v[n][n], double q[n][n])
{
#pragma scop
    for (int t = 0; t < 9; t++) {
        for (int i = 1; i < n - 1; i++) {
            q[i][0] = 1.0;
            for (int j = 1; j < n - 1; j++)
                q[i][j] = u[i - 1][j] + u[i][j] + u[i + 1][j] - 0.5 * q[i][j - 1];
            for (int j = n - 2; j >= 1; j--)
                v[i][j] = 0.5 * v[i][j + 1] + q[i][j];
        }
        for (int i = 1; i < n - 1; i++)
            for (int j = 0; j < n - 1; j++)
                q[i][j] = 0.25 * v[i][j];
    }
#pragma endscop
}
"""


def test_columns_run_in_vectors() -> None:
    """A recurrence down the columns: the loop over them is innermost, and the buffer has them innermost."""
    region = region_in(COLUMNS)
    result = compile_region(region, Options(tile_sizes=(8,)))
    assert result.verified
    assert "text-not-checked" not in {remark.code for remark in result.program.remarks}
    (buffer,) = [b for b in result.program.buffers.values() if b.array == "q"]
    assert buffer.order == (1, 0)
    assert "q_tile[j][i - it] = u[j][i - 1]" in result.text
    assert check(region, result, sizes=(1, 2, 3, 17, 40)) == []


def test_rows_stay(tmp_path: Path) -> None:
    """Along the rows all lies together already."""
    result = compiled(ROWS, tmp_path)
    assert result.verified
    assert not any(b.order for b in result.program.buffers.values())
