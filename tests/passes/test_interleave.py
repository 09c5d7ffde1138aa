"""Rows of recurrences beside or behind each other, run; the trees are in `interleaved/`, for `test_on_trees.py`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from polyc.model.program import Options
from polyc.model.tree import Band, Domain, Node, rewrite
from polyc.pipeline import compile_region
from polyc.runtime.check import check
from polyc.verify import check as faults_of
from tests.programs import after, compiled, region_in, region_of

FILES = sorted((Path(__file__).parent / "interleaved").glob("*.c"))
FAILURES = {"verification-failed", "budget", "not-printed", "text-not-checked"}
SIZES = (1, 2, 7, 8, 9, 17, 40)


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.stem)
@pytest.mark.parametrize("target", ["openmp", "c"])
def test_values(file: Path, target: str) -> None:
    """Bit by bit, at sizes around those of strips."""
    region = region_in(file)
    result = compile_region(region, Options(target=target))
    codes = {remark.code for remark in result.program.remarks}
    assert result.verified
    assert "interleaved" in codes
    assert not codes & FAILURES
    assert check(region, result, sizes=SIZES) == []


LEFT_ALONE = {
    "a row without a recurrence": "A[i][j] = 0.5 * B[i][j] + 0.25 * B[i][j - 1];",
    "nothing is computed from the element before": "A[i][j] = A[i][j - 1];",
    "rows that need all of each other": "A[i][j] = 0.5 * A[i][j - 1] / (A[i - 1][n - j] + 2.0);",
    "whole numbers, which wait a cycle": "K[i][j] = K[i][j - 1] + 3 * K[i - 1][j];",
    "a sum": "A[i][0] += B[i][j] / C[j];",
    "columns": "A[j][i] = 0.5 * A[j - 1][i] / (B[j][i] + 2.0);",
}


@pytest.mark.parametrize("name", LEFT_ALONE)
def test_other_nests_stay(name: str, tmp_path: Path) -> None:
    text = f"""
void f(int n, double A[n][n], double B[n][n], double C[n], long K[n][n])
{{
#pragma scop
    for (int i = 1; i < n; i++)
        for (int j = 1; j < n; j++)
            {LEFT_ALONE[name]}
#pragma endscop
}}
"""
    region = region_of(text, tmp_path)
    result = compile_region(region, Options())
    assert "interleaved" not in {r.code for r in result.program.remarks}
    assert check(region, result, sizes=(1, 9, 33)) == []


def test_windows_that_are_unrolled_in_vectors_wait_for_nothing(tmp_path: Path) -> None:
    text = """
void f(int n, unsigned char a[n][n], unsigned char b[n][n])
{
#pragma scop
    for (int y = 1; y < n - 1; y++)
        for (int x = 1; x < n - 1; x++) {
            unsigned char m = 255;
            for (int dy = -1; dy <= 1; dy++)
                for (int dx = -1; dx <= 1; dx++) {
                    unsigned char v = a[y + dy][x + dx];
                    if (v < m)
                        m = v;
                }
            b[y][x] = m;
        }
#pragma endscop
}
"""
    region = region_of(text, tmp_path)
    result = compile_region(region, Options())
    assert {"spread", "interleaved"} & {r.code for r in result.program.remarks} == {"spread"}
    assert check(region, result, sizes=(1, 9, 33)) == []


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.stem)
def test_the_wrong_loop_inside_is_seen(file: Path) -> None:
    """The loop that carries the recurrence run at once."""
    program = after(region_in(file), "privatize")
    assert faults_of(program) == []

    def change(node: Node) -> Node:
        if not isinstance(node, Band) or node.members[-1].coincident or not isinstance(node.child, Band):
            return node
        members = (*node.members[:-1], replace(node.members[-1], vector=True))
        return replace(node, members=members)

    assert faults_of(replace(program, tree=Domain(program.tree.domain, rewrite(program.tree.child, change))))


def test_steps_in_which_nothing_waits_stay_as_they_are(tmp_path: Path) -> None:
    """Of lines that are solved, the right-hand side keeps its loop along the row; a private value that lives in one
    iteration does not stand in the way."""
    program = Path(__file__).parents[1] / "differential/programs/implicit_lines.c"
    text = program.read_text().split("int main")[0].replace('#include "driver.h"', "")
    found = compiled(text, tmp_path)
    assert found.verified
    assert [r for r in found.program.remarks if r.code == "interleaved"]
    assert not [r for r in found.program.remarks if r.code == "time-tiled"]
    lines = [line.strip() for line in found.text.splitlines()]
    solved = next(k for k, line in enumerate(lines) if line.startswith("double m = 3 - "))
    assert "b = bt; b < polyc_min(lines, bt + 8)" in lines[solved - 1]
    place = next(k for k, line in enumerate(lines) if line.startswith("rhs[b"))
    assert any("i = 1; i < 150; i++" in line for line in lines[place - 3 : place])
