"""Which parallel loops deal out their iterations as they come: those with iterations of different lengths."""

from __future__ import annotations

import pytest

from polyc.frontend import read
from polyc.model.program import InputOptions, Options
from polyc.pipeline import compile_region

RECTANGLE = """
void f(int n, double A[n][n]) {
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            A[i][j] = A[i][j] * 2 + 1;
#pragma endscop
}
"""
CASES = {
    "rectangle": (RECTANGLE, "omp parallel for\n"),
    "triangle": (RECTANGLE.replace("j < n", "j <= i"), "omp parallel for schedule(dynamic, 8)\n"),
    "other triangle": (RECTANGLE.replace("j = 0", "j = i"), "omp parallel for schedule(dynamic, 8)\n"),
    "band": (
        RECTANGLE.replace("j = 0; j < n", "j = i; j < i + 64").replace("int i = 0; i < n", "int i = 0; i < n - 64"),
        "omp parallel for\n",
    ),
    "steps": (
        RECTANGLE.replace("for (int i = 0", "for (int k = 0; k < n; k++) for (int i = k + 1")
        .replace("j = 0", "j = k + 1")
        .replace("* 2", "+ A[k][k] * 2"),
        "omp parallel for\n",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_parallel_loops(name):
    """A loop around a triangle has dynamic chunks; one whose rows are equally long in each step of `k` has not."""
    source, pragma = CASES[name]
    (region,) = read("t.c", InputOptions(), text=source).regions
    compiled = compile_region(region, Options(budget=0, time_tile=("none", ()), threads="always"))
    assert compiled.verified
    loops = [line + "\n" for line in compiled.text.splitlines() if "omp parallel for" in line]
    assert loops
    assert all(line.endswith(pragma) for line in loops), compiled.text


PLANES = """
void f(const float in[3][200][300], float out[3][200][300]) {
    float mid[3][200][300];
#pragma scop
    for (int c = 0; c < 3; c++)
        for (int i = 0; i < 199; i++)
            for (int j = 0; j < 300; j++)
                mid[c][i][j] = in[c][i][j] + in[c][i + 1][j];
    for (int c = 0; c < 3; c++)
        for (int i = 0; i < 199; i++)
            for (int j = 0; j < 299; j++)
                out[c][i][j] = mid[c][i][j] * mid[c][i][j + 1];
#pragma endscop
}
"""


def test_a_loop_of_one_tile_is_not_the_parallel_one():
    """Three planes in tiles of eight: threads share the rows of tiles, since there is one step over planes only."""
    (region,) = read("t.c", InputOptions(), text=PLANES).regions
    compiled = compile_region(region, Options(tile_sizes=(8, 16, 64)))
    assert compiled.verified
    lines = compiled.text.splitlines()
    (at,) = [k for k, line in enumerate(lines) if "omp parallel for" in line]
    assert "int it = 0" in next(line for line in lines[at:] if "for (int" in line), compiled.text
