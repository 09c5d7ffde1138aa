"""Dependences take operations in proportion to the stages, and a short way for arrays whose cells have one writer."""

from __future__ import annotations

from pathlib import Path

import islpy as isl
import pytest

from benchmarks.compile_growth import chain
from polyc.analysis.dependences import compute_dependences
from polyc.flow import Accesses, Flow, _by_subtraction, _Places, _written_once, compute_false, compute_flow
from polyc.frontend import read
from polyc.model.program import InputOptions, Options, operations_for
from polyc.poly import budget, convex

OPERATIONS = 2500
"""Of isl for each stage of the chain; some 1,400 are taken for each of 25 stages, 1,800 for each of 100."""


@pytest.mark.parametrize("stages", [25, 100])
def test_dependences_grow_with_the_stages(stages: int, tmp_path: Path) -> None:
    file = tmp_path / "chain.c"
    file.write_text(chain(stages))
    scop = read(str(file), InputOptions(budget=0)).regions[0].scop
    with budget(scop.domain.get_ctx(), OPERATIONS * stages):
        found = compute_dependences(scop)
    assert found.flow.n_map() == stages - 1
    assert found.false.is_empty()


def test_a_step_may_take_more_where_there_are_more_statements(tmp_path: Path) -> None:
    found = []
    for stages in (5, 20, 50):
        file = tmp_path / "chain.c"
        file.write_text(chain(stages))
        found.append(operations_for(read(str(file), InputOptions()).regions[0].scop, Options(budget=1000)))
    assert found == [1000, 1000, 2500]


NONE = isl.UnionMap("{ }")
ORDER = isl.UnionMap("{ S[i, j] -> [0, i, j]; U[i, j] -> [1, i, j]; T[i, j] -> [2, i, j] }")
READS = {
    "clamped": "T[i, j] -> a[i, k] : 0 <= i < n and 0 <= j < n and ((j = 0 and k = 0) or (j >= 1 and k = j - 1))",
    "halved": "T[i, j] -> a[floor(i/2), k] : 0 <= i < n and 0 <= j < n and floor(j/2) <= k <= floor((j + 1)/2)",
    "beyond": "T[i, j] -> a[i + 1, j] : 0 <= i < n and 0 <= j < n",
}
WRITES = {
    "one": "S[i, j] -> a[i, j] : 0 <= i < n and 0 <= j < n",
    "two": "S[i, j] -> a[i, 2j] : 0 <= i < n and 0 <= 2j < n; U[i, j] -> a[i, 2j + 1] : 0 <= i < n and 0 <= 2j < n",
}


def relation(text: str) -> isl.UnionMap:
    return isl.UnionMap(f"[n] -> {{ {text} }}")


@pytest.mark.parametrize("written", WRITES)
@pytest.mark.parametrize("read_", READS)
def test_one_writer_of_each_cell(written: str, read_: str) -> None:
    accesses = Accesses(relation(READS[read_]), relation(WRITES[written]), NONE)
    order = ORDER.intersect_domain(accesses.all.domain())
    once = _written_once(accesses.reads, accesses.writes, NONE, order)
    assert once is not None
    assert same(once, _by_subtraction(accesses.reads, accesses.writes, NONE, _Places(accesses.reads, order)))
    assert same(once, compute_flow(accesses, order))


def same(one: Flow, other: Flow) -> bool:
    return bool(one.dependence.is_equal(other.dependence) and one.live_in.is_equal(other.live_in))


def test_reads_before_the_only_write() -> None:
    accesses = Accesses(
        relation("S[i, j] -> a[i, j] : 0 <= i, j < n"), relation("T[i, j] -> a[j, i] : 0 <= i, j < n"), NONE
    )
    order = ORDER.intersect_domain(accesses.all.domain())
    assert _written_once(accesses.writes, accesses.writes, accesses.reads, order) is not None
    assert compute_false(accesses, order).is_equal(relation("S[i, j] -> T[j, i] : 0 <= i, j < n"))
    assert compute_flow(accesses, order).dependence.is_empty()


@pytest.mark.long
@pytest.mark.parametrize("kind", ["flow", "false"])
def test_pieces_one_by_one_have_the_flow_of_all_at_once(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a ring, whose steps go from one array to another and back."""
    steps = "0 <= t < n and 0 <= x < n and t mod 2"
    sides = ("x", "x - 1", "n - 1 + x", "x + 1", "x + 1 - n")
    texts = [f"S[t, x] -> a[{x}] : {steps} = 0 and 0 <= {x} < n" for x in sides]
    texts += [f"T[t, x] -> b[{x}] : {steps} = 1 and 0 <= {x} < n" for x in sides]
    writes = f"S[t, x] -> b[x] : {steps} = 0; T[t, x] -> a[x] : {steps} = 1"
    large = isl.Set("[n] -> { : n >= 3 }")
    accesses = Accesses(*(relation(r).intersect_params(large) for r in ("; ".join(texts), writes)), NONE)
    order = isl.UnionMap("{ S[t, x] -> [t, x]; T[t, x] -> [t, x] }").intersect_domain(accesses.all.domain())
    assert len(convex(accesses.reads)) > 8
    found = []
    for most in (4, 1000):
        monkeypatch.setattr("polyc.flow.MOST_AT_ONCE", most)
        found.append(compute_flow(accesses, order) if kind == "flow" else Flow(compute_false(accesses, order), NONE))
    assert not found[0].dependence.is_empty()
    assert same(*found)


@pytest.mark.parametrize(
    ("reads", "writes", "may"),
    [
        ("T[i, j] -> a[0, 0]", "S[i, j] -> a[0, 0]", ""),  # a cell is written again and again
        ("T[i, j] -> a[i, j]", "S[i, j] -> a[i, j]; U[i, j] -> a[i, j]", ""),  # or by two
        ("T[i, j] -> a[i, j]", "T[i, j] -> a[i, j + 1]", ""),  # a loop says which is first
        ("T[i, j] -> a[i, j]", "S[i, j] -> a[i, j]", "U[i, j] -> a[i, j]"),  # it may be overwritten
    ],
)
def test_what_takes_the_long_way(reads: str, writes: str, may: str) -> None:
    inside = isl.UnionSet("{ S[i, j] : 0 <= i, j <= 9; T[i, j] : 0 <= i, j <= 9; U[i, j] : 0 <= i, j <= 9 }")
    accesses = Accesses(*(isl.UnionMap(f"{{ {text} }}").intersect_domain(inside) for text in (reads, writes, may)))
    order = ORDER.intersect_domain(accesses.all.domain())
    assert _written_once(accesses.reads, accesses.writes, accesses.may_writes, order) is None
    long = _by_subtraction(accesses.reads, accesses.writes, accesses.may_writes, _Places(accesses.reads, order))
    assert same(compute_flow(accesses, order), long)
