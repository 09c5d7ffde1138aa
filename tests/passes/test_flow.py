"""The flow that isl gets wrong: its maximum of sets with remainders is not always the last element."""

from __future__ import annotations

import islpy as isl
import pytest

from polyc.flow import Accesses, compute_false, compute_flow

WRONG = {
    "three": (
        "[n] -> { S[i, j, k] -> c[i] : (i + j) mod 3 = 0 and 0 <= i < n and 0 <= j <= 38 and j <= k < n }",
        "[n] -> { T[x] -> c[x + 2] : 0 <= x <= n - 4 }",
        6,
    ),
    "six": (
        "[n, m] -> { S[i, j, k] -> c[i] : i mod 2 = 0 and j mod 2 = 0 and (2k - j) mod 6 = 0 and 0 <= i < m and "
        "0 <= j < n and k <= 39 and k < m + j and 2k >= j }",
        "[n, m] -> { T[x] -> c[3 + x] : 0 <= x <= m - 5 }",
        75,
    ),
}
ORDER = "{ S[i, j, k] -> [0, i, j, k]; T[x] -> [1, x, 0, 0] }"


def ordered(accesses: Accesses) -> isl.UnionMap:
    return isl.UnionMap(ORDER).intersect_domain(accesses.all.domain())


def at(relation: isl.UnionMap, size: int) -> isl.UnionMap:
    return relation.intersect_params(isl.Set(f"[n, m] -> {{ : n = {size} and m = {size} }}"))


@pytest.mark.parametrize("name", WRONG)
def test_a_read_sees_the_last_write(name: str) -> None:
    writes, reads, size = WRONG[name]
    accesses = Accesses(isl.UnionMap(reads), isl.UnionMap(writes), isl.UnionMap("{ }"))
    order = ordered(accesses)
    flow = compute_flow(accesses, order)
    pairs = at(accesses.writes.apply_range(accesses.reads.reverse()), size)
    last = isl.Map.from_union_map(pairs.reverse()).lexmax()  # at one size, where the maximum is right
    assert not last.is_empty()
    assert at(flow.dependence.reverse(), size).is_equal(isl.UnionMap.from_map(last))
    assert at(flow.live_in, size).is_equal(
        at(accesses.reads, size).subtract_domain(isl.UnionSet.from_set(last.domain()))
    )


@pytest.mark.parametrize("name", WRONG)
def test_a_write_follows_the_one_before(name: str) -> None:
    """The other way round: what T writes comes after the last of S."""
    first, second, size = WRONG[name]
    writes = isl.UnionMap(first).union(isl.UnionMap(second))
    accesses = Accesses(isl.UnionMap("{ }"), writes, isl.UnionMap("{ }"))
    false = compute_false(accesses, ordered(accesses))
    between = isl.UnionMap("{ S[i, j, k] -> T[x] }").intersect_domain(writes.domain())
    pairs = at(isl.UnionMap(first).apply_range(isl.UnionMap(second).reverse()), size)
    last = isl.Map.from_union_map(pairs.reverse()).lexmax()
    assert at(false.intersect(between).reverse(), size).is_equal(isl.UnionMap.from_map(last))
