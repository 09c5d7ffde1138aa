"""Parallel loops that are too small for threads: always, never, or as a run finds out."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyc.runtime.csource import with_all_threads
from tests.programs import compiled

NEST = """
void f(int n, int m, int t, double A[ROWS][COLUMNS], const double B[ROWS][COLUMNS])
{
#pragma scop
    AROUND
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            A[i][j] = A[i][j] * 0.5 + B[i][j];
#pragma endscop
}
"""
CASES = {
    "unknown": ("n", "m", "", ["if (polyc_threads(1.0 * n * m > 44000)) {", "#pragma omp parallel for"]),
    "one unknown": ("n", "100", "", ["if (polyc_threads(n > 440)) {", "#pragma omp parallel for"]),
    "around steps": (
        "n",
        "m",
        "for (int s = 0; s < t; s++)",
        ["#pragma omp parallel for if (1.0 * t * n * m > 12000)"],
    ),
    "small": ("20", "30", "", []),
    "large": ("200", "300", "", ["#pragma omp parallel for"]),
}


@pytest.mark.parametrize("name", CASES)
def test_threads_start_where_they_save_time(name: str, tmp_path: Path) -> None:
    rows, columns, around, wanted = CASES[name]
    text = NEST.replace("ROWS", rows).replace("COLUMNS", columns).replace("AROUND", around)
    found = compiled(text, tmp_path, time_tile=("none", ()))
    assert found.verified
    asked = ("#pragma omp parallel", "if (polyc_threads(")
    assert [line.strip() for line in found.text.splitlines() if line.strip().startswith(asked)] == wanted
    told = [remark.code for remark in found.program.remarks]
    assert ("small-region" in told) == (not wanted)
    always = compiled(text, tmp_path, time_tile=("none", ()), threads="always")
    assert "#pragma omp parallel for\n" in always.text


STEPS = """
void f(int n, int t, double A[n][n], double B[n][n])
{
#pragma scop
    for (int s = 0; s < t; s++) {
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                A[i][j] = B[i - 1][j] + B[i + 1][j];
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                B[i][j] = A[i][j];
    }
#pragma endscop
}
"""


def test_in_each_step_what_it_has_to_do_counts(tmp_path: Path) -> None:
    found = compiled(STEPS, tmp_path, time_tile=("none", ()))
    assert found.verified
    assert "#pragma omp parallel for if (1.0 * (n - 2) * (n - 2) > 44000)" in found.text


def test_a_check_by_running_starts_all_threads() -> None:
    text = (
        "  #pragma omp parallel for if (1.0 * n * (m - 2L) > 12000) schedule(dynamic, 8)\n"
        "#pragma omp parallel for if (polyc_max(n, (m)) > 120) reduction(+: s)\n"
        "#pragma omp parallel for if (n > 120)\nfor\n#define polyc_threads(worth) (worth)\nif (polyc_threads(n > 9))\n"
    )
    wanted = (
        "  #pragma omp parallel for schedule(dynamic, 8)\n#pragma omp parallel for reduction(+: s)\n"
        "#pragma omp parallel for\nfor\n#define polyc_threads(worth) 1\nif (polyc_threads(n > 9))\n"
    )
    assert with_all_threads(text) == wanted


def test_a_row_that_a_variable_chooses_is_one_row(tmp_path: Path) -> None:
    """All rows that `now` may mean, there is no bound to their number, would take threads for longer than they cost."""
    text = """
short a[2][1282];
void f(int now)
{
#pragma scop
    for (int x = 0; x < 1282; x++)
        a[now][x] = 0;
#pragma endscop
}
"""
    result = compiled(text, tmp_path)
    assert "omp parallel" not in result.text
