"""Any grid and any block is right: the same values, no race, nothing out of bounds."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyc.model.program import Options
from tests.gpu.test_kernels import TARGETS, assert_same
from tests.programs import region_of

FOLDED = """
void scale(int n, int m, float in[3][n][2][m][5], float out[3][n][2][m][5])
{
#pragma scop
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < n; b++)
            for (int c = 0; c < 2; c++)
                for (int d = 0; d < m; d++)
                    for (int e = 0; e < 5; e++)
                        out[a][b][c][d][e] = 2 * in[a][b][c][d][e];
#pragma endscop
}
"""
"""Five parallel loops on three axes: those that share x divide the blocks along it among them."""
FUSED = """
void blur(int n, int m, float in[n][m], float t[n][m], float out[n][m], float sum[n])
{
#pragma polyc live-out(out, sum)
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            t[i][j] = 2 * in[i][j];
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < m - 1; j++)
            out[i][j] = t[i - 1][j] + t[i + 1][j] + t[i][j - 1] + t[i][j + 1];
    for (int i = 0; i < n; i++) {
        sum[i] = 0;
        for (int j = 0; j < m; j++)
            sum[i] += in[i][j];
    }
#pragma endscop
}
"""
"""Shared memory with barriers, and a kernel with one parallel loop."""


@pytest.mark.slow
@TARGETS
@pytest.mark.parametrize("text", [FOLDED, FUSED], ids=["folded", "fused"])
@pytest.mark.parametrize(("grid", "block"), [((1,), (32,)), ((7, 3, 2), (64, 2)), ((1000, 1), (32, 16)), (None, (96,))])
def test_any_grid_and_block(
    text: str, grid: tuple[int, ...] | None, block: tuple[int, ...], target: str, tmp_path: Path
) -> None:
    compiled = assert_same(region_of(text, tmp_path), Options(target=target, grid=grid, block=block))
    folded = "grid-rounded" in {remark.code for remark in compiled.program.remarks}
    assert folded == (text is FOLDED and grid is not None)


@pytest.mark.slow
@pytest.mark.parametrize("machine", ["v100", "h100"])
def test_other_machines(machine: str, tmp_path: Path) -> None:
    for text in (FOLDED, FUSED):
        assert_same(region_of(text, tmp_path), Options(target="cuda", machine=machine))
