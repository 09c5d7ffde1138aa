"""The flow that isl gets wrong: its maximum of sets with remainders is not always the last element."""

from __future__ import annotations

from pathlib import Path

import islpy as isl
import pytest

from polyc.analysis.dependences import last_writers
from polyc.flow import Accesses, compute_false, compute_flow
from polyc.model.program import Options
from polyc.pipeline import compile_region
from tests.programs import region_of

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


FAULT = (
    "[m] -> { S0[i, j] -> C[i + j, i] : i mod 2 = 0 and 0 <= i <= 3 + m and 0 <= j <= 1 + m; "
    "S1[i, j] -> C[i + j, x] : j mod 2 = 0 and 0 <= i < m and 0 <= j < m and i <= 2x <= 1 + i }",
    "[m] -> { S1[i, j] -> C[4 + m - j, 1 + i] : j mod 2 = 0 and 0 <= i < m and 0 <= j < m; "
    "S1[i, j] -> C[1 + j, i] : j mod 2 = 0 and 0 <= i < m and 0 <= j < m }",
    "{ S0[i, j] -> [0, i, j]; S1[i, j] -> [1, i, j] }",
)


def test_the_check_survives_it_too(tmp_path: Path) -> None:
    source = (Path(__file__).parents[1] / "differential" / "refused" / "fault.c").read_text()
    compiled = compile_region(region_of(source, tmp_path), Options())
    assert compiled.certificate.tree == "shown"
    assert "budget" not in {remark.code for remark in compiled.program.remarks}


def test_a_fault_of_memory_in_isl_ends_a_copy_only() -> None:
    """The writes of FAULT that follow each other: `compute_flow` of isl ends its process."""
    writes, reads, order = (isl.UnionMap(text) for text in FAULT)
    accesses = Accesses(reads, writes, isl.UnionMap("{ }"))
    false = compute_false(accesses, order.intersect_domain(writes.domain()))
    small = isl.Set("[m] -> { : m = 6 }")
    every = accesses.all.apply_range(writes.reverse()).intersect(order.lex_lt_union_map(order)).intersect_params(small)
    output = writes.apply_range(writes.reverse()).intersect(order.lex_lt_union_map(order)).intersect_params(small)
    found = false.intersect_params(small)
    assert not found.is_empty()
    assert found.is_subset(every)
    assert every.is_subset(found.union(every.apply_range(output)))


FINAL = """
{ S[i, j] -> a[i] : 0 <= i <= 5 and 0 <= j <= 3; T[i] -> a[i + 3] : 0 <= i <= 5; U[i] -> a[2i] : 0 <= i <= 4 }
"""


@pytest.mark.parametrize("uncertain", ["", "S", "T", "U", "TU"])
def test_last_writers_are_those_that_no_certain_write_follows(uncertain: str) -> None:
    """Instance by instance: what runs after a write, and certainly writes its cell, hides it."""
    runs = {("S", i, j): ((0, i, j), i) for i in range(6) for j in range(4)}
    runs |= {("T", i, 0): ((1, i, 0), i + 3) for i in range(6)} | {("U", i, 0): ((1, i, 1), 2 * i) for i in range(5)}
    last = {
        run: cell
        for run, (time, cell) in runs.items()
        if not any(
            other == cell and when > time and name not in uncertain for (name, *_), (when, other) in runs.items()
        )
    }
    writes = isl.UnionMap(FINAL)
    may = isl.UnionMap("{ }")
    for name in uncertain:
        own = isl.UnionSet(f"{{ {name}[i, j]; {name}[i] }}")
        may, writes = may.union(writes.intersect_domain(own)), writes.subtract_domain(own)
    order = isl.UnionMap("{ S[i, j] -> [0, i, j]; T[i] -> [1, i, 0]; U[i] -> [1, i, 1] }")
    found = last_writers(Accesses(isl.UnionMap("{ }"), writes, may), order.intersect_domain(writes.union(may).domain()))
    expected = ["S[{}, {}]", "T[{}]", "U[{}]"]
    text = "; ".join(f"{expected['STU'.index(s)].format(i, j)} -> a[{cell}]" for (s, i, j), cell in last.items())
    assert found.is_equal(isl.UnionMap(f"{{ {text} }}"))
