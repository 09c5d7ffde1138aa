"""Fragments: the task mappings say what the PTX ISA says of `mma`."""

from __future__ import annotations

import pytest

from polyc.model import ctree as c
from polyc.model.fragments import COLUMNS, HALF, LANES, ROWS, SUMS, TF32, Fragment, factors


@pytest.mark.parametrize("lane", range(LANES))
def test_layouts(lane: int) -> None:
    """In the order of a lane's registers, with groupID and threadID_in_group of the PTX ISA."""
    g, t = lane >> 2, lane % 4
    assert list(SUMS.points(lane)) == [(g, 2 * t), (g, 2 * t + 1), (g + 8, 2 * t), (g + 8, 2 * t + 1)]
    assert list(TF32.rows.points(lane)) == [(g, t), (g + 8, t), (g, t + 4), (g + 8, t + 4)]
    assert list(TF32.columns.points(lane)) == [(g, t), (g, t + 4)]
    half = [(g, 2 * t), (g, 2 * t + 1), (g + 8, 2 * t), (g + 8, 2 * t + 1)]
    assert list(HALF.rows.points(lane)) == half + [(i, k + 8) for i, k in half]
    assert list(HALF.columns.points(lane)) == [(g, 2 * t), (g, 2 * t + 1), (g, 2 * t + 8), (g, 2 * t + 9)]


@pytest.mark.parametrize("fragment", [TF32, HALF])
def test_each_element_has_one_lane(fragment: Fragment) -> None:
    for layout, shape in (
        (SUMS, (ROWS, COLUMNS)),
        (fragment.rows, (ROWS, fragment.depth)),
        (fragment.columns, (COLUMNS, fragment.depth)),
    ):
        assert layout.shape == shape
        assert layout.threads == LANES
        points = [point for lane in range(LANES) for point in layout.points(lane)]
        assert len(set(points)) == len(points) == shape[0] * shape[1]


def test_sums_of_products() -> None:
    x, a, b = (c.ArrayRef(name, (c.Name("i"),), name) for name in "xab")
    product = c.Binary("*", a, c.Cast("float", b))
    assert factors(c.ExprStmt(c.Assign("+=", x, product))) == (a, b)
    assert factors(c.ExprStmt(c.Assign("=", x, c.Binary("+", x, product)))) == (a, b)
    for other in (c.Binary("+", a, product), c.Binary("-", x, product), product):
        assert factors(c.ExprStmt(c.Assign("=", x, other))) is None
    assert factors(c.ExprStmt(c.Assign("-=", x, product))) is None
