"""Conditions of fused nests that gcc would take for never true."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.passes.test_choices import text_of

STEP = """
double u[300][300], v[300][300];
void step(void)
{{
#pragma scop
    for (int j = 1; j < 299; j++)
        for (int i = 1; i < 299; i++)
            v[j][i] = 0.25 * (u[j][i - 1] + u[j][i + 1] + u[j - 1][i] + u[j + 1][i]);
    for (int j = 0; j < {rows}; j++) {{
        v[j][0] = v[j][1];
        v[j][299] = v[j][298];
    }}
#pragma endscop
}}
"""


def test_ends_of_a_range_are_asked_for_apart(tmp_path: Path) -> None:
    text = text_of(STEP.format(rows=300), tmp_path)
    assert "if (j >= 1) {" in text
    assert "if (j <= 298) {" in text


@pytest.mark.slow
def test_gcc_makes_vectors_below(tmp_path: Path) -> None:
    region = STEP.format(rows=300)
    before, _, after = region.partition("#pragma scop")
    file = tmp_path / "step.c"
    file.write_text(before + text_of(region, tmp_path) + after.partition("#pragma endscop")[2])
    command = ["gcc", "-O3", "-c", "-fopt-info-vec-optimized", str(file), "-o", str(tmp_path / "step.o")]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    assert "loop vectorized" in told


def test_the_ends_of_other_loops_are_one_condition(tmp_path: Path) -> None:
    """The length of a loop up to a parameter is not known, and nothing is predicted from it."""
    text = STEP.format(rows="n").replace("step(void)", "step(int n)")
    assert "if (j >= 1) {" not in text_of(text, tmp_path, sizes=(300,))
