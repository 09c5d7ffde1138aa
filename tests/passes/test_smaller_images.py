"""Boxes of what a tile needs of smaller images."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyc.poly import constant_of
from polyc.runtime.check import check
from tests.programs import compiled, region_of

PYRAMID = """
void f(int n, int m, const float in[n][m], float out[n][m])
{
    float low[n / FACTOR + 2][m / FACTOR + 2];
#pragma scop
    for (int y = 0; y < n / FACTOR + 2; y++)
        for (int x = 0; x < m / FACTOR + 2; x++)
            low[y][x] = in[0][0] + 0.5f * y + 0.25f * x;
    for (int y = 1; y < n; y++)
        for (int x = 1; x < m; x++)
            out[y][x] = low[y / FACTOR][(x - 1) / FACTOR] * low[(y + 1) / FACTOR][x / FACTOR] + in[y][x];
#pragma endscop
}
"""
WRONG = {"verification-failed", "budget", "not-printed", "text-not-checked"}


@pytest.mark.parametrize(("factor", "tile", "size"), [(2, 16, 9), (2, 15, 9), (3, 16, 7), (8, 32, 5)])
def test_a_smaller_image_has_a_smaller_buffer(factor: int, tile: int, size: int, tmp_path: Path) -> None:
    """`tile / factor` cells and those at its border, rounded up."""
    text = PYRAMID.replace("FACTOR", str(factor))
    result = compiled(text, tmp_path, tile_sizes=(tile,), max_recompute=1e9)
    assert result.verified
    assert not {r.code for r in result.program.remarks} & WRONG
    (buffer,) = (b for b in result.program.buffers.values() if b.array == "low")
    sizes = [constant_of(extent) for extent in buffer.extents]
    assert sizes == [size, size]
    assert check(region_of(text, tmp_path), result, sizes=(1, 2, 3, 8, 17, 33)) == []
