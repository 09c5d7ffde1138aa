"""Loops that count down where only the negative of their variable is used: what is printed, and what is refused."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from polyc.codegen.text.downward import negative, with_downward
from polyc.codegen.text.printer import expression, statement
from polyc.frontend import read
from polyc.model import ctree as c
from polyc.model.program import InputOptions, Options
from polyc.pipeline import compile_region, initial_program
from polyc.reread.steps import Step, step_faults

TEXT = """
void sweep(int n, double A[n][n])
{
#pragma scop
    for (int y = n - 2; y > 0; y--)
        for (int x = n - 2; x > 0; x--)
            A[y][x] = A[y + 1][x] + A[y][x + 1] - A[y - 1][x + 1];
#pragma endscop
}
"""


def test_the_text_counts_as_the_user_does() -> None:
    (region,) = read("t.c", InputOptions(), text=TEXT).regions
    compiled = compile_region(region, Options(time_tile=("none", ()), without=frozenset({"interleave"})))
    assert compiled.verified
    assert "for (int y = n - 2; y > 0; y--)" in compiled.text
    assert "for (int x = n - 2; x > 0; x--)" in compiled.text
    assert "A[y][x] = A[y + 1][x] + A[y][x + 1] - A[y - 1][x + 1];" in compiled.text


@pytest.mark.parametrize(
    ("bound", "turned"),
    [
        (c.Literal("-7"), "7"),
        (c.Literal("0"), "0"),
        (c.Literal("7"), "-7"),
        (c.Unary("-", c.Name("n")), "n"),
        (c.Binary("-", c.Literal("2"), c.Name("n")), "n - 2"),
        (c.Binary("-", c.Literal("0"), c.Name("n")), "n"),
        (c.Name("n"), None),  # -n of the least int is none
        (c.Binary("-", c.Name("n"), c.Literal("2")), None),
        (c.Binary("-", c.Unary("-", c.Name("n")), c.Literal("1")), None),
    ],
)
def test_bounds(bound: c.Expr, turned: str | None) -> None:
    found = negative(bound)
    assert (None if found is None else expression(found)) == turned


X, ONE = c.Name("x"), c.Literal("1")
MINUS = c.Unary("-", X)
LOOP = c.For(
    c.Decl("long", "x", (), c.Binary("-", ONE, c.Name("n"))),
    c.Binary("<", X, c.Literal("0")),
    c.Postfix("++", X),
    c.ExprStmt(c.Assign("=", c.ArrayRef("A", (MINUS,)), c.ArrayRef("A", (c.Binary("-", ONE, X),)))),
)


def test_other_uses_keep_the_loop() -> None:
    assert with_downward((LOOP,)) != (LOOP,)
    for place in (X, c.Binary("+", X, ONE), c.Binary("+", c.Name("k"), X), c.Binary("*", X, ONE), c.Name("y")):
        other = c.For(LOOP.init, LOOP.condition, LOOP.step, c.ExprStmt(c.ArrayRef("A", (place,))))
        assert with_downward((other,)) == (other,)


def test_sums_with_the_variable() -> None:
    """`k - x` for `x + k`, where other places have the negative."""
    sums = c.ArrayRef("B", (c.Binary("+", X, c.Name("k")), c.Binary("+", c.Binary("+", c.Name("k"), X), ONE)))
    loop = c.For(LOOP.init, LOOP.condition, LOOP.step, c.Block((LOOP.body, c.ExprStmt(sums))))
    assert "B[k - x][k - x + 1];" in [line.strip() for line in statement(with_downward((loop,))[0])]


def test_remainders_of_the_variable() -> None:
    """`x % 8 + k - x` for `-x % 8 + k + x`: the check reads it as the same."""
    remainder = c.Binary("%", MINUS, c.Literal("8"))
    sums = c.ArrayRef("B", (c.Binary("+", c.Binary("+", remainder, c.Name("n")), X),))
    loop = c.For(LOOP.init, LOOP.condition, LOOP.step, c.Block((LOOP.body, c.ExprStmt(sums))))
    (after,) = with_downward((loop,))
    assert "B[x % 8 + n - x];" in [line.strip() for line in statement(after)]
    (region,) = read("t.c", InputOptions(), text=TEXT).regions
    assert not step_faults(initial_program(region.scop, Options()), (Step("downward", (loop,), (after,)),), {})


def replaced(old: c.Node, new: c.Node) -> Callable[[c.Stmt], c.Stmt]:
    return lambda item: c.rewrite(item, lambda node: new if node == old else None)


@pytest.mark.parametrize(
    "wrong",
    [
        replaced(c.Binary("-", c.Name("n"), ONE), c.Name("n")),
        replaced(c.Binary(">", X, c.Literal("0")), c.Binary(">=", X, c.Literal("0"))),
        replaced(c.Binary("+", X, ONE), c.Binary("-", X, ONE)),
        replaced(c.ArrayRef("A", (X,)), c.ArrayRef("A", (MINUS,))),
        replaced(c.Postfix("--", X), c.Postfix("++", X)),
    ],
)
def test_what_is_refused(wrong: Callable[[c.Stmt], c.Stmt]) -> None:
    (region,) = read("t.c", InputOptions(), text=TEXT).regions
    program = initial_program(region.scop, Options())
    (after,) = with_downward((LOOP,))
    assert not step_faults(program, (Step("downward", (LOOP,), (after,)),), {})
    changed = wrong(after)
    assert changed != after
    assert step_faults(program, (Step("downward", (LOOP,), (changed,)),), {})


def test_below_remainders() -> None:
    """`1 - (1 - x) % 7 - x` is `1 - (x + 1) % 7 + x` of the loop that counts down."""
    rest = c.Binary("%", c.Binary("-", ONE, X), c.Literal("7"))
    body = c.ExprStmt(c.ArrayRef("A", (c.Binary("-", c.Binary("-", ONE, rest), X),)))
    before = c.For(LOOP.init, LOOP.condition, LOOP.step, body)
    (region,) = read("t.c", InputOptions(), text=TEXT).regions
    program = initial_program(region.scop, Options())
    (after,) = with_downward((before,))
    assert after != before
    assert not step_faults(program, (Step("downward", (before,), (after,)),), {})
    changed = replaced(c.Binary("+", X, ONE), c.Binary("+", X, c.Literal("2")))(after)
    assert step_faults(program, (Step("downward", (before,), (changed,)),), {})
