"""The groups of a sequence: by the time of all of them together, not by what pays one by one."""

from __future__ import annotations

from itertools import combinations, pairwise
from pathlib import Path
from typing import Any, cast

import islpy as isl
import pytest

import polyc.passes.fusion.grouping as grouping
from polyc.frontend import read
from polyc.model.program import InputOptions, Options
from polyc.model.tree import Leaf
from polyc.nests.nest import Nest
from polyc.passes.fusion.grouping import Choice, Grouping, Waiting
from polyc.pipeline import compile_region

EXAMPLE = Path(__file__).parents[1] / "remarks" / "not-fused" / "other-groups.c"


class Chain(Grouping):
    """Stages that read the one before each; a group of k of them takes k + repeated * (k - 1) ** 2, one alone 2."""

    def __init__(self, repeated: float) -> None:
        super().__init__(cast(Any, None), cast(Any, None), lambda one, two: "")
        self.repeated = repeated

    def taken(self, count: int) -> float:
        return 2.0 if count == 1 else count + self.repeated * (count - 1) ** 2

    def _parts(self, waiting: Waiting, left: frozenset[int]) -> tuple[Nest, ...]:
        return ()

    def _path(
        self, waiting: Waiting, position: int, left: frozenset[int], copied: frozenset[int]
    ) -> tuple[Choice, tuple[float, ...]]:
        count = 1
        while position >= count and self.taken(count + 1) <= self.taken(count) + 2.0:
            count += 1
        places = tuple(range(position - 1, position - count, -1))
        nests = tuple(cast(Nest, waiting[q]) for q in places)
        return Choice(nests, places, self.taken(count)), tuple(self.taken(k + 1) for k in range(count))

    def _alone(self, waiting: Waiting, place: int) -> float:
        return 2.0

    def _least(self, waiting: Waiting, position: int, path: Choice, count: int) -> float:
        return 0.0


def stages(count: int) -> Waiting:
    return tuple(Nest(isl.UnionSet(f"{{ S{k}[] }}"), Leaf()) for k in range(count))


def least(chain: Chain, count: int) -> float:
    """Of all ways to cut so many stages into groups."""
    found = []
    for cuts in range(count):
        for places in combinations(range(1, count), cuts):
            ends = (0, *places, count)
            found.append(sum(chain.taken(b - a) for a, b in pairwise(ends)))
    return min(found)


@pytest.mark.parametrize("repeated", [0.05, 0.1, 0.2, 0.4])
@pytest.mark.parametrize("count", [1, 2, 7, 12, 13])
def test_the_groups_of_a_chain_take_the_least_time(
    count: int, repeated: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grouping, "DOUBT", 0.0)
    monkeypatch.setattr(grouping, "WORTH", 0.0)
    chain = Chain(repeated)
    assert chain.best(stages(count)).seconds == pytest.approx(least(chain, count))


def test_what_pays_one_by_one_goes_on_for_too_long() -> None:
    chain = Chain(0.2)
    groups = [len(choice.places) + 1 for _, choice in chain.best(stages(12)).groups()]
    greedy = [len(choice.places) + 1 for _, choice in chain.best(stages(12), split=False).groups()]
    assert max(greedy) > max(groups)
    assert chain.best(stages(12)).seconds < chain.best(stages(12), split=False).seconds


def test_a_long_chain_is_not_looked_at_forever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grouping, "MOST_GROUPS", 0)
    chain = Chain(0.1)
    found, whole = chain.best(stages(40)), chain.best(stages(40), split=False)
    assert found.seconds == whole.seconds


@pytest.mark.long
def test_a_chain_of_wide_stencils_is_cut_in_the_middle() -> None:
    (region,) = read(str(EXAMPLE), InputOptions()).regions
    result = compile_region(region, Options(machine="zen4"))
    assert result.verified
    groups = [(group.outputs, len(group.fused)) for group in result.program.groups]
    assert groups == [(("S3",), 3), (("S11",), 7)]
    (declined,) = (r for r in result.program.remarks if r.data.get("reason") == "other-groups")
    assert declined.data["groups_us"] < 0.97 * declined.data["otherwise_us"]


def test_the_limit_of_recomputation_overrides_the_groups() -> None:
    (region,) = read(str(EXAMPLE), InputOptions()).regions
    result = compile_region(region, Options(machine="zen4", max_recompute=1e9))
    assert all(r.data.get("reason") != "other-groups" for r in result.program.remarks)
