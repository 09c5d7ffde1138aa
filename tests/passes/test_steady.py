"""Elements that a vector loop reads under a condition, and that stay as they are, are read once before it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from polyc.model import ctree as c
from polyc.model.program import Options
from polyc.pipeline import compile_region
from polyc.reread.steps import Step, _faults
from polyc.runtime.check import check
from tests.programs import region_of
from tests.reread.test_text_is_program import printed

PATHS = """
void f(int n, int d[n][n], int next[n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            next[i][j] = j;
    for (int k = 0; k < n; k++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                if (d[i][k] + d[k][j] < d[i][j]) {
                    d[i][j] = d[i][k] + d[k][j];
                    next[i][j] = next[i][k];
                }
#pragma endscop
}
"""
PERHAPS = """
void f(int n, float w[n], int m[n][n], float a[n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            if (m[i][j] > 3)
                a[i][j] = w[i];
#pragma endscop
}
"""


def test_shortest_paths(tmp_path: Path) -> None:
    region = region_of(PATHS, tmp_path)
    found = compile_region(region, Options(tile_sizes=None))
    assert found.verified
    assert not [r for r in found.program.remarks if r.code.startswith("text-")]
    assert "const int next_kept = next[i][k];" in found.text
    assert "next[i][j] = next_kept;" in found.text
    assert check(region, found, sizes=(1, 2, 7)) == []


def test_what_may_not_be_there_is_not_read(tmp_path: Path) -> None:
    """Of a parameter, nobody says that it has the elements that its extents name."""
    found = compile_region(region_of(PERHAPS, tmp_path), Options(tile_sizes=None))
    assert "_kept" not in found.text
    always = PERHAPS.replace("if (m", "if (w[i] > m")
    found = compile_region(region_of(always, tmp_path), Options(tile_sizes=None))
    assert "a[i][j] = w_kept;" in found.text


def other_element(node: c.Node) -> c.Node | None:
    """`d[k][j]` or `d[i][j]`, which the loop writes, in the place of what stays."""
    match node:
        case c.Decl(type="const int", name="next_kept", init=c.ArrayRef(subscripts=(i, _)) as cell):
            return replace(node, init=replace(cell, subscripts=(i, i)))
    return None


def other_type(node: c.Node) -> c.Node | None:
    return replace(node, type="const short") if isinstance(node, c.Decl) and node.name == "next_kept" else None


def other_name(node: c.Node) -> c.Node | None:
    return replace(node, name="d") if isinstance(node, c.Decl) and node.name == "next_kept" else None


def further_out(node: c.Node) -> c.Node | None:
    """Before the loop that sets the diagonal, of which the loop behind it reads an element."""
    match node:
        case c.Block(body=(c.Decl() as first, c.Decl() as second, c.For() as loop)):
            return replace(node, body=(first, loop, second))
    return None


@pytest.mark.parametrize("change", [other_element, other_type, other_name, further_out])
def test_others_are_refused(change, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    program, _, rendered = printed(PATHS, tmp_path, tile_sizes=None)
    step = next(Step(*step) for step in rendered.steps if step[0] == "steady")
    assert _faults(program, step, {}) == []
    after = tuple(c.rewrite(item, change) for item in step.after)
    assert after != step.after
    assert _faults(program, replace(step, after=after), {})
