"""The extreme values of sets, in which isl's own functions see pieces that are empty, and how many points they have."""

from __future__ import annotations

from pathlib import Path

import islpy as isl
import pytest

from polyc.poly import free_volume, greatest_of, least_of

PIECE = """{ [i] : exists (a = floor((1 + i) / 6), b = floor((1 + i) / 3):
    3b = 1 + i and 6a >= -4 + i and 6a <= i and 0 <= i <= 6) }"""
ISL = ("dim_min_val(", "dim_max_val(")


@pytest.fixture
def halves() -> isl.Set:
    """`{ [5] }`, beside a piece that only remainders show to be empty: isl says that 0 is the least."""
    hidden = isl.Set(PIECE).lower_bound_val(isl.dim_type.set, 0, isl.Val(3))
    return hidden.union(isl.Set("{ [5] }"))


def test_pieces_without_points_have_no_values(halves: isl.Set) -> None:
    first = isl.Aff.var_on_domain(isl.LocalSpace.from_space(halves.get_space()), isl.dim_type.set, 0)
    assert halves.is_equal(isl.Set("{ [5] }"))
    assert least_of(halves, 0).to_python() == least_of(halves, first).to_python() == 5
    assert greatest_of(halves, 0).to_python() == greatest_of(halves, first).to_python() == 5
    assert greatest_of(halves, first.neg()).to_python() == -5


def test_bounds() -> None:
    assert least_of(isl.Set("{ [i] : false }"), 0).is_nan()
    assert least_of(isl.Set("{ [i] : i < 0 or i > 3 }"), 0).is_neginfty()
    assert greatest_of(isl.Set("{ [i] : 2 < i < 9 or i = 1 }"), 0).to_python() == 8


def test_nobody_asks_isl() -> None:
    source = Path(__file__).parents[2] / "polyc"
    using = [file.name for file in source.rglob("*.py") if any(name in file.read_text() for name in ISL)]
    assert using == []


def test_strides_are_no_dimensions_that_others_decide() -> None:
    assert free_volume(isl.Set("{ S[i, j] : 0 <= i < 80 and i mod 8 = 0 and 0 <= j < 5 }")) == 50
    assert free_volume(isl.Set("{ S[i, j] : 0 <= i < 10 and j = 3 - i }")) == 10
