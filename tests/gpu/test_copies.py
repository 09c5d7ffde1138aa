"""How panels in shared memory are filled: by as many threads as there are rows for."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyc.model.program import Options
from tests.gpu.test_kernels import assert_same
from tests.programs import region_of

CONV = """
void conv(float in[32][5][9][9], float w[65][5][3][3], float out[32][65][7][7])
{
#pragma scop
    for (int b = 0; b < 32; b++)
        for (int f = 0; f < 65; f++)
            for (int y = 0; y < 7; y++)
                for (int x = 0; x < 7; x++) {
                    out[b][f][y][x] = 0;
                    for (int c = 0; c < 5; c++)
                        for (int u = 0; u < 3; u++)
                            for (int v = 0; v < 3; v++)
                                out[b][f][y][x] += in[b][c][y + u][x + v] * w[f][c][u][v];
                }
#pragma endscop
}
"""


@pytest.mark.slow
def test_long_loops_are_dealt_out(tmp_path: Path) -> None:
    """A window of 3 x 3 for each filter: filters and columns go to threads; nine would do for rows and columns."""
    compiled = assert_same(region_of(CONV, tmp_path), Options(target="cuda", machine="h200"))
    lines = [line.strip() for line in compiled.device[0].splitlines()]
    first = next(k for k, line in enumerate(lines) if line.startswith("polyc_fetch(&w_panel[0]"))
    assert lines[first - 4 : first] == [
        "for (long x0 = ft + ty; x0 < ft + 16; x0 += 16)",
        "for (long x1 = 0; x1 < 2; x1++)",
        "for (long x2 = 0; x2 < 3; x2++)",
        "for (long x3 = tx; x3 < 3; x3 += 8)",
    ]
