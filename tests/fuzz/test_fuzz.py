"""Generated programs, compiled and compared with gcc -O0: the same ones every time, and some fresh ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from polyc.runtime.opencl import missing
from tests.fuzz import gpu
from tests.fuzz.builds import GCC, compiler
from tests.fuzz.case import BUILDS, Case, as_built, check, drawn_case, numbered_case
from tests.fuzz.choose import RandomChooser
from tests.fuzz.draw import Maker
from tests.fuzz.model import SHIFTS, Assert, Compare, Linear, Loop
from tests.fuzz.oracle import lenient, warnings
from tests.fuzz.run import BATCH, Worker, stored
from tests.fuzz.traits import traits
from tests.turns import EVERYTHING

SEED = 0
BATCHES = 12 if EVERYTHING else 2
FOR_A_GPU = 10
"""Programs of each of its targets."""
RACING = (10, 8)
"""Of seed 3: without barriers one reads shared memory that nobody wrote, the other one races."""
FRESH = 16
"""Programs that `make test-all` draws anew in each run; those of `make test` are the same for the same code, so that it
says something of the change under test."""
REFUSED = ("verification-failed", "not-printed")
"""What polyc says where it refuses its own program, and prints another one: a failure of programs that are the same
every time, and of a long run. A fresh one in 250 shows a new case, which would say nothing of the change under test."""
DRAWN = 1600
SHARES = {
    "regions found by polyc": 0.2,
    "two marked regions": 0.05,
    "flat rows": 0.08,
    "flat rows at data": 0.02,
    "rows that subscripts leave": 0.08,
    "scalar accumulators": 0.1,
    "index temporaries": 0.15,
    "borders that are joined": 0.02,
    "functions for subscripts": 0.02,
    "clamps": 0.2,
    "helper functions": 0.15,
    "float beside double": 0.1,
    "integers beside floats": 0.06,
    "state between calls": 0.1,
    "calls in a row": 0.3,
    "no memory": 0.15,
    "few or no iterations": 0.3,
    "negative sizes": 0.1,
    "counters unsigned": 0.04,
    "counters size_t": 0.02,
    "counters long": 0.02,
    "arguments apart": 0.1,
    **{f"arguments {shift}": 0.05 for shift in SHIFTS},
}
"""Of DRAWN programs at least such a share has each trait."""
EACH = 2
"""Programs with each trait that are compiled and run."""
pytestmark = pytest.mark.slow


class DrawChooser:
    """Choices that hypothesis draws, and makes smaller in a program that fails."""

    def __init__(self, draw: Callable[[st.SearchStrategy[int]], int]) -> None:
        self.draw = draw

    def integer(self, low: int, high: int) -> int:
        return self.draw(st.integers(low, high))


@st.composite
def fresh_cases(draw: st.DrawFn) -> Case:
    build = draw(st.sampled_from(BUILDS))
    return as_built(drawn_case(DrawChooser(draw), "fresh", build), build)


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    process = Worker()
    yield process
    process.stop()


def faults(worker: Worker, cases: list[Case], tolerated: tuple[str, ...] = ()) -> str:
    """Each program that fails, with its command line and what is wrong."""
    outcomes = worker.check(cases)
    for outcome in outcomes:
        outcome.faults = [fault for fault in outcome.faults if fault[0] not in tolerated]
    return "\n".join(stored(case, o) for case, o in zip(cases, outcomes, strict=True) if o.faults)


@given(fresh_cases())
@settings(
    max_examples=FRESH,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=set(Phase) - {Phase.explain},
    derandomize=not EVERYTHING,
)
def test_fresh_programs(worker: Worker, case: Case) -> None:
    assert not (found := faults(worker, [case], REFUSED)), f"\n{found}"


@pytest.mark.parametrize("build", gpu.BUILDS)
def test_programs_for_a_gpu(worker: Worker, build: str) -> None:
    if build not in gpu.available():
        pytest.skip(missing())
    first = gpu.BUILDS.index(build) * BATCH
    cases = [numbered_case(SEED, number, BATCH, "gpu") for number in range(first, first + FOR_A_GPU)]
    assert {case.options.target for case in cases} == {build}
    assert not (found := faults(worker, cases)), f"\n{found}"


def test_kernels_without_barriers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What the suite above would say of them."""
    monkeypatch.setattr("polyc.pipeline.place_barriers", lambda program: program)
    cases = [numbered_case(3, number, BATCH, "gpu") for number in RACING]
    unchecked = [replace(case, options=replace(case.options, verify=False)) for case in cases]
    found = [[kind for kind, _ in outcome.faults] for outcome in check(unchecked, tmp_path)]
    assert found == [["uninitialised"], ["race"]]


def test_programs_for_a_cpu_stay_as_they_are() -> None:
    """A long run is repeated by its seed and numbers: the switch for a GPU changes no draw."""
    numbers = range(0, 12 * BATCH, BATCH)
    builds = [numbered_case(SEED, number, BATCH, "all").build for number in numbers]
    assert [build for build in builds if build in gpu.BUILDS] == ["cuda", "opencl"]
    for number, build in zip(numbers, builds, strict=True):
        plain, other = (numbered_case(SEED, number, BATCH, targets) for targets in ("cpu", "all"))
        assert (plain.program.nests, plain.inputs) == (other.program.nests, other.inputs)
        assert other.options == (replace(plain.options, target=build) if build in gpu.BUILDS else plain.options)


@pytest.mark.parametrize("batch", range(BATCHES))
def test_fixed_programs(worker: Worker, batch: int) -> None:
    cases = [numbered_case(SEED, number, BATCH) for number in range(batch * BATCH, (batch + 1) * BATCH)]
    assert not (found := faults(worker, cases)), f"\n{found}"


def drawn() -> dict[int, list[str]]:
    """The traits of the first programs, by their numbers."""
    return {number: traits(numbered_case(SEED, number, BATCH).program) for number in range(DRAWN)}


def test_a_call_for_sizes_that_no_memory_has(tmp_path: Path) -> None:
    """gcc may say that it is too large, and nothing else of it."""
    (tmp_path / "t.c").write_text(
        """#line 1 "p0.c"
        #include <string.h>
        void f(size_t n, double *a, const double *b) {
            double c[n + 3];
            if ((long)n <= 9223372036854775804L) a[0] = 1;
            else {
                if (n + 3 > 0) memcpy(&c[0], &b[1], (n + 3) * sizeof(double));
                if (n > 0) memcpy(&a[0], &c[1], n * sizeof(double));
            }
        }
        """
    )
    assert warnings(compiler(tmp_path, lenient(GCC), "-c", "t.c")) == []


def test_each_trait_is_drawn() -> None:
    found = Counter(name for names in drawn().values() for name in names)
    rare = {name: found[name] / DRAWN for name, share in SHARES.items() if found[name] < share * DRAWN}
    assert not rare


def test_a_number_gives_one_program() -> None:
    first, again = (numbered_case(7, 3, BATCH) for _ in range(2))
    assert (first.program, first.options, first.inputs) == (again.program, again.options, again.inputs)


def test_programs_with_each_trait(worker: Worker) -> None:
    wanted = Counter(dict.fromkeys(SHARES, EACH))
    chosen: list[int] = []
    for number, names in drawn().items():
        if any(wanted[name] > 0 for name in names):
            wanted.subtract(names)
            chosen.append(number)
    assert max(wanted.values()) <= 0
    cases = [numbered_case(SEED, number, BATCH) for number in chosen]
    by_build = {build: [case for case in cases if case.build == build] for build in BUILDS}
    assert not (found := "".join(faults(worker, some) for some in by_build.values() if some)), f"\n{found}"


def test_assertions_hold_in_loops_of_constant_lengths() -> None:
    """For sizes that are negative as well: those of runs are above -4."""
    for number in range(20):
        nest = Loop("x", Linear(()), Linear((), 200), 1, (), "<")
        asserted = Maker(RandomChooser(f"asserted {number}"), True).asserted(nest)
        assert isinstance(asserted, Loop)
        (first,) = asserted.body
        assert isinstance(first, Assert)
        assert isinstance(first.condition, Compare)
        assert isinstance(first.condition.right, Linear)
        assert first.condition.right.constant >= 300
