"""Generated programs, compiled and compared with gcc -O0: the same ones every time, and some fresh ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.fuzz.case import BUILDS, Case, drawn_case, numbered_case
from tests.fuzz.run import BATCH, Worker, stored

SEED = 0
BATCHES = 12
FRESH = 30
pytestmark = pytest.mark.slow


class DrawChooser:
    """Choices that hypothesis draws, and makes smaller in a program that fails."""

    def __init__(self, draw: Callable[[st.SearchStrategy[int]], int]) -> None:
        self.draw = draw

    def integer(self, low: int, high: int) -> int:
        return self.draw(st.integers(low, high))


@st.composite
def fresh_cases(draw: st.DrawFn) -> Case:
    return drawn_case(DrawChooser(draw), "fresh", draw(st.sampled_from(BUILDS)))


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    process = Worker()
    yield process
    process.stop()


def faults(worker: Worker, cases: list[Case]) -> str:
    """Each program that fails, with its command line and what is wrong."""
    outcomes = zip(cases, worker.check(cases), strict=True)
    return "\n".join(stored(case, outcome) for case, outcome in outcomes if outcome.faults)


@given(fresh_cases())
@settings(
    max_examples=FRESH, deadline=None, suppress_health_check=list(HealthCheck), phases=set(Phase) - {Phase.explain}
)
def test_fresh_programs(worker: Worker, case: Case) -> None:
    assert not (found := faults(worker, [case])), f"\n{found}"


@pytest.mark.parametrize("batch", range(BATCHES))
def test_fixed_programs(worker: Worker, batch: int) -> None:
    cases = [numbered_case(SEED, number, BATCH) for number in range(batch * BATCH, (batch + 1) * BATCH)]
    assert not (found := faults(worker, cases)), f"\n{found}"
