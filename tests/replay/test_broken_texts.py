"""Printed texts that somebody breaks by hand: a replay says that they compute something else, and where."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from polyc.replay import Outcome, replay
from tests.mutation.runner import region_of, unbroken


@dataclass(frozen=True, slots=True)
class Break:
    """One edit of a text, the first place of it."""

    what: str
    program: str
    old: str
    new: str
    says: str
    """Part of what is said of it."""


BREAKS = (
    Break("a bound one short", "jacobi", "i < polyc_min(n - 1,", "i < polyc_min(n - 2,", "has another value"),
    Break("a tile without its last row", "past_caches", "polyc_min(n, it + 6)", "polyc_min(n, it + 5)", "a[5][3]"),
    Break("a wrong subscript", "past_caches", "b[i + 1][j]", "b[i + 2][j]", "a[0][3] has another value"),
    Break("a row that is stored too short", "past_caches", "- jt) * sizeof", "- jt - 1) * sizeof", "a[0][18]"),
    Break("a row that is stored elsewhere", "past_caches", "&a[i][jt + 3]", "&a[i][jt + 2]", "a[0][2]"),
    Break("a buffer one too small", "past_caches", "float a_row[16]", "float a_row[15]", "a_row has 15 elements"),
    Break("a dropped parenthesis", "interleaved", "(2.0 * p[i][j - 1] + 3.0)", "2.0 * p[i][j - 1] + 3.0", "p[0][1]"),
    Break(
        "another other branch", "interleaved", "for (int j = 1; j < m; j++)", "for (int j = 2; j < m; j++)", "p[0][1]"
    ),
    Break("a vector from elsewhere", "product", "(B_panel[k - kt][8 * j])", "(B_panel[k - kt][8 * j + 1])", "C[0][0]"),
    Break("an element looked up beside it", "looked_up", ", 12, k + 1)", ", 12, k)", "out[0][0] has another value"),
    Break("a question that is not asked", "bins", "(index < n)", "(index < n + 9)", "h[6] has another value"),
    Break("no memory and no other branch", "overlapped", "if (a_next && c_next)", "if (c_next || n > 2)", "no memory"),
    Break("tiles of time without a border", "overlapped", "x0t - 3); x0 <", "x0t - 2); x0 <", "has another value"),
    Break("a macro of another text", "jacobi", "((a) < (b) ? (a) : (b))", "((a) < (b) ? (b) : (a))", "polyc_min"),
)


def after(change: Break) -> Outcome:
    compiled = unbroken(change.program)
    assert change.old in compiled.text, compiled.text
    text = compiled.text.replace(change.old, change.new, 1)
    return replay(region_of(change.program), compiled.program, text)


@pytest.mark.parametrize("change", BREAKS, ids=lambda change: change.what)
def test_it_is_found(change: Break) -> None:
    found = after(change)
    assert found.kind == "differs"
    assert change.says in found.reason


@pytest.mark.parametrize("program", sorted({change.program for change in BREAKS}))
def test_unbroken_ones_agree(program: str) -> None:
    compiled = unbroken(program)
    found = replay(region_of(program), compiled.program, compiled.text)
    assert found.kind == "agrees"
    assert found.sizes
    assert found.coverage.share > 0.8
