"""The laws of task mappings, on mappings that hypothesis draws."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyc.model.tasks import Part, TaskMapping, repeat, spatial

SIZES = st.integers(1, 3)
few = settings(deadline=None, max_examples=40)


@st.composite
def mappings(draw: st.DrawFn, rank: int = 2, most: int = 3) -> TaskMapping:
    parts = draw(st.lists(st.builds(Part, st.booleans(), st.tuples(*[SIZES] * rank)), min_size=1, max_size=most))
    return TaskMapping(tuple(parts))


def points_of(mapping: TaskMapping) -> list[list[tuple[int, ...]]]:
    return [list(mapping.points(thread)) for thread in range(mapping.threads)]


@few
@given(mappings())
def test_each_point_belongs_to_one_thread_once(mapping: TaskMapping) -> None:
    every = [point for own in points_of(mapping) for point in own]
    assert sorted(every) == sorted(product(*(range(extent) for extent in mapping.shape)))


@few
@given(mappings())
def test_each_thread_has_as_many_points(mapping: TaskMapping) -> None:
    assert {len(own) for own in points_of(mapping)} == {mapping.repeats}


@few
@given(mappings(most=2), mappings(most=2), mappings(most=2))
def test_products_are_associative(a: TaskMapping, b: TaskMapping, c: TaskMapping) -> None:
    assert points_of((a * b) * c) == points_of(a * (b * c))


@few
@given(mappings(most=2), mappings(most=2))
def test_a_product_is_blocks_of_the_inner_mapping(outer: TaskMapping, inner: TaskMapping) -> None:
    """(f * g)(w) = [ t . d + u : t in f(w / m), u in g(w mod m) ], with m threads of g over a box of extents d."""
    for thread in range(outer.threads * inner.threads):
        expected = [
            tuple(t * d + u for t, u, d in zip(block, point, inner.shape, strict=True))
            for block in outer.points(thread // inner.threads)
            for point in inner.points(thread % inner.threads)
        ]
        assert list((outer * inner).points(thread)) == expected


@few
@given(st.tuples(SIZES, SIZES))
def test_one_part_alone(sizes: tuple[int, int]) -> None:
    every = list(product(*map(range, sizes)))
    assert points_of(repeat(*sizes)) == [every]
    assert points_of(spatial(*sizes)) == [[point] for point in every]


@few
@given(mappings())
def test_units_change_nothing(mapping: TaskMapping) -> None:
    for unit in (repeat(1, 1), spatial(1, 1)):
        assert points_of(mapping * unit) == points_of(mapping) == points_of(unit * mapping)


@few
@given(mappings())
def test_a_thread_holds_a_box(mapping: TaskMapping) -> None:
    """The digits of repeated parts number a thread's points without a gap."""
    places = [
        tuple(
            sum(digit[k][d] * mapping.register_weight(p, d) for k, (p, _) in enumerate(repeated))
            for d in range(mapping.rank)
        )
        for repeated in [[(p, part) for p, part in enumerate(mapping.parts) if not part.spatial]]
        for digit in product(*(list(product(*map(range, part.sizes))) for _, part in repeated))
    ]
    assert sorted(places) == sorted(product(*map(range, mapping.registers)))


def test_the_order_matters() -> None:
    assert list((repeat(2) * spatial(3)).points(0)) == [(0,), (3,)]
    assert list((spatial(3) * repeat(2)).points(0)) == [(0,), (1,)]


def test_parts_of_different_rank() -> None:
    with pytest.raises(ValueError, match="one rank"):
        repeat(2) * spatial(2, 2)
    with pytest.raises(ValueError, match="positive"):
        spatial(0)
