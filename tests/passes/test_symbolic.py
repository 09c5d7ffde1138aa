"""Schedules with parameters in the places of sizes that are numbers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import islpy as isl
import pytest

from polyc.frontend.c.state import CTX
from polyc.model.program import Options
from polyc.model.tree import Band, walk
from polyc.model.tree_text import render_tree
from polyc.passes.order import schedule
from polyc.passes.order.schedule import schedule_nests
from polyc.passes.order.symbolic import at_sizes, with_symbols
from polyc.pipeline import initial_program
from polyc.poly import OverBudget
from tests.programs import region_of

FILTERS = """
typedef struct { float old_x, old_y; } State;
State state[40][4];
float in[40][30000], out[40][30000], gain[4];
void filter(void) {
#pragma scop
    for (int c = 0; c < 40; c++)
        for (int n = 0; n < 30000; n++) {
            float sum = 0, x = in[c][n];
            for (int k = 0; k < 4; k++) {
                float y = gain[k] * x + state[c][k].old_x - state[c][k].old_y;
                state[c][k].old_x = x;
                state[c][k].old_y = y;
                sum += y;
            }
            out[c][n] = sum;
        }
#pragma endscop
}
"""

SMALL = """
void f(int n, float A[64], float B[64]) {
#pragma scop
    for (int i = 1; i < 64; i++)
        B[i] = A[i] + A[i - 1];
    for (int i = 1; i < 64; i++)
        A[i] = B[i] * B[i - 1];
#pragma endscop
}
"""
PATHS = """
double trans[8][8], emit[8][4];
int seen[200][50], path[200][50];
void paths(int n) {
#pragma scop
    for (int q = 0; q < n; q++) {
        double v[8], w[8];
        int back[50][8];
        for (int s = 0; s < 8; s++) v[s] = emit[s][seen[q][0]];
        for (int t = 1; t < 50; t++) {
            for (int s = 0; s < 8; s++) {
                double best = v[0] + trans[0][s];
                int from = 0;
                for (int r = 1; r < 8; r++) {
                    double c = v[r] + trans[r][s];
                    if (c > best) { best = c; from = r; }
                }
                w[s] = best + emit[s][seen[q][t]];
                back[t][s] = from;
            }
            for (int s = 0; s < 8; s++) v[s] = w[s];
        }
        int last = 0;
        for (int s = 1; s < 8; s++) if (v[s] > v[last]) last = s;
        path[q][49] = last;
        for (int t = 49; t > 0; t--) { last = back[t][last]; path[q][t - 1] = last; }
    }
#pragma endscop
}
"""


def test_sizes_become_parameters_and_numbers_again() -> None:
    domain = isl.UnionSet("[n] -> { S[i, j] : 0 <= i < n and 0 <= j <= 99; T[j] : 0 <= j <= 98 }")
    order = isl.UnionMap("[n] -> { S[i, j] -> S[1 + i, j + 1] : 0 <= i < n - 1 and 0 <= j < 99 }")
    asked = isl.ScheduleConstraints.on_domain(domain).set_validity(order).set_context(isl.Set("[n] -> { : n >= 5 }"))
    general = with_symbols(asked)
    assert general is not None
    size = isl.Set("[polyc_size_98] -> { : polyc_size_98 = 98 }")
    for before, after in (
        (asked.get_domain(), general.get_domain()),
        (asked.get_validity(), general.get_validity()),
    ):
        assert after.intersect_params(size).is_equal(before.intersect_params(size))
    assert not general.get_domain().is_subset(asked.get_domain())
    text = '{ domain: "[n, polyc_size_98] -> { S[i] : 0 <= i <= 2polyc_size_98 and i < n }", child: { schedule: "'
    text += '[polyc_size_98] -> [{ S[i] -> [(3 + i + polyc_size_98)] }]" } }'
    found = at_sizes(isl.Schedule.read_from_str(CTX, text))
    assert found.get_domain().is_equal(isl.UnionSet("[n] -> { S[i] : 0 <= i <= 196 and i < n }"))
    assert found.get_map().is_equal(isl.UnionMap("[n] -> { S[i] -> [101 + i] }"))


@pytest.mark.parametrize("text", ["{ S[i] : 0 <= i < n }", "{ S[i] : 0 <= i < 8 }", "{ S[i] : i mod 40 = 3 }"])
def test_small_numbers_and_remainders_are_no_sizes(text: str) -> None:
    assert with_symbols(isl.ScheduleConstraints.on_domain(isl.UnionSet(f"[n] -> {text}"))) is None


def test_numbers_do_not_make_a_schedule_slow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the numbers isl has no schedule of this after ten seconds."""
    monkeypatch.setattr(schedule, "MOST_SECONDS", 0)
    scheduled = schedule_nests(initial_program(region_of(FILTERS, tmp_path).scop, Options()))
    assert [remark.code for remark in scheduled.remarks] == []
    bands = [band for band in walk(scheduled.tree.child) if isinstance(band, Band)]
    assert [[member.coincident for member in band.members] for band in bands] == [[True, False], [False]]


def test_a_schedule_that_numbers_do_not_make_slow_is_that_of_the_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = initial_program(region_of(SMALL, tmp_path).scop, Options())
    known = schedule_nests(program)
    monkeypatch.setattr(schedule, "QUICK", 1)
    monkeypatch.delattr(schedule, "at_sizes")
    monkeypatch.delattr(schedule, "MOST_SECONDS")
    assert render_tree(schedule_nests(program).tree) == render_tree(known.tree)


def test_what_no_loop_carries_at_any_size_is_not_tried_with_numbers_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(schedule, "MOST_SECONDS")
    scheduled = schedule_nests(initial_program(region_of(PATHS, tmp_path).scop, Options()))
    assert [remark.code for remark in scheduled.remarks] == ["not-scheduled"]


def test_numbers_that_are_slow_are_not_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """isl is asked again for what the live ranges of `v` and `w` hold back: with parameters at once."""
    asked: list[int | None] = []
    real = schedule.isl_in_child

    def answer(step: Callable[[], str], seconds: int | None = None) -> str:
        asked.append(seconds)
        if seconds == schedule.NUMERIC_SECONDS:
            raise OverBudget("it took too long")
        return real(step, seconds=seconds)

    monkeypatch.setattr(schedule, "isl_in_child", answer)
    schedule_nests(initial_program(region_of(PATHS, tmp_path).scop, Options()))
    assert len(asked) > 2
    assert asked.count(schedule.NUMERIC_SECONDS) == 1
