"""Comparisons whose sides are equal where they are printed: C compilers warn of `n - 1 < n - 1`."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from polyc.model import ctree as c
from tests.reread.test_text_is_program import Change, messages, printed, rewritten

COUNTER = """
void f(int n, int m, double b[30], const double *a, int *out)
{
    int j = 0, t = 0;
#pragma scop
    for (t = 0; t < n / m; t++)
        for (j = 2 * t - 1; j BOUND; j++)
            b[j] = a[j] * 2;
#pragma endscop
    *out = j + t;
}
"""
CHOICES = """
long f(int n, long w)
{
    long s = 0;
#pragma scop
    for (int t = 0; t < n; t++)
        if (t == n - 1) {
            s = (t < n - 1 ? w : t) * 1000000;
            s += (t >= n - 1) * 3;
            s += (t <= n - 1 ? n : t - 1) * 5;
        }
#pragma endscop
    return s;
}
"""


@pytest.mark.parametrize("bound", ["<= 2 * (n / m - 1) - 1", "< 2 * (n / m - 1) - 1", "< 2 * (n / m) - 3"])
def test_what_a_counter_has_after_its_loop(bound: str, tmp_path: Path) -> None:
    text = COUNTER.replace("BOUND", bound)
    found = printed(text, tmp_path)
    assert messages(found) == []
    result = text[: text.index("#pragma scop")] + found[2].text + text[text.index("#pragma endscop") + 15 :]
    command = ["gcc", "-O2", "-fopenmp", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-xc", "-"]
    subprocess.run(command, input=result, text=True, check=True)


def test_choices(tmp_path: Path) -> None:
    """The branch in the place of the choice has the type of the choice."""
    found = printed(CHOICES, tmp_path)
    assert messages(found) == []
    lines = [line.strip() for line in found[2].text.split("\n")]
    assert "s = (0 ? w : (int)(n - 1L)) * 1000000;" in lines, found[2].text
    assert "s += 1 * 3;" in lines
    assert "s += n * 5;" in lines


def turned(node: c.Node) -> c.Node | None:
    """The comparison holds."""
    match node:
        case c.Ternary(condition=c.Literal(text="0")):
            return c.Ternary(c.Literal("1"), node.then, node.otherwise)
    return None


def never(node: c.Node) -> c.Node | None:
    """The comparison gives 0."""
    return c.Binary("*", c.Literal("0"), c.Literal("3")) if node == c.Binary("*", ONE, c.Literal("3")) else None


def other(node: c.Node) -> c.Node | None:
    """The other branch."""
    less = c.Binary("-", c.Cast("int", c.Binary("-", c.Name("n"), c.Literal("1L"))), ONE)
    return c.Binary("*", less, c.Literal("5")) if node == c.Binary("*", c.Name("n"), c.Literal("5")) else None


def chosen(node: c.Node) -> c.Node | None:
    """A choice whose type is wider than its branch."""
    return node.otherwise if isinstance(node, c.Ternary) else None


ONE = c.Literal("1")


@pytest.mark.parametrize("change", [turned, never, other, chosen])
def test_what_is_refused(change: Change, tmp_path: Path) -> None:
    found = printed(CHOICES, tmp_path)
    assert messages(found, rewritten(found, change)) != []


DECIDED = """
void f(int n, double *restrict sum, const double rate[35], double (*restrict x)[50])
{
#pragma scop
    for (int r = 0; r < n; r++)
        for (int a = 15; a < 50; a++)
            sum[r] += (a >= 15 && a < 50 ? rate[a - 15] : 0.0) * (x[r][a] + (a > 15 ? x[r][a - 1] : 0.0));
#pragma endscop
}
"""


def test_a_choice_of_two_comparisons_that_always_hold(tmp_path: Path) -> None:
    """It is no choice in the text, which computes no more for that than C would."""
    found = printed(DECIDED, tmp_path)
    assert messages(found) == []
    assert "rate[a - 15] *" in found[2].text
