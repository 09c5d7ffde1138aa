"""The list of what has to be apart in memory: a text that leaves something out of it is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from polyc.codegen.render import render_region
from polyc.frontend import read
from polyc.model import ctree as c
from polyc.model.printed import Rendered
from polyc.model.program import InputOptions, Options
from polyc.model.scop import Scop
from polyc.pipeline import compile_region
from polyc.reread.guards import guard_faults

TEXT = """
void f(int n, int m, double **a, double **b, double *x)
{
    for (int i = 1; i < n; i++)
        for (int j = 1; j < m; j++)
            a[i][j] = b[i - 1][j] * x[j];
}
"""
Body = tuple[c.Stmt, ...]


@pytest.fixture(scope="module")
def printed() -> tuple[Scop, Rendered]:
    (region,) = read("t.c", InputOptions(detect=True), text=TEXT).regions
    program = compile_region(region, Options(target="c")).program
    return region.scop, render_region(program, region, True)


def exchanged(one: c.Expr, other: c.Expr) -> Callable[[Body], Body]:
    return lambda body: tuple(c.rewrite(item, lambda node: other if node == one else None) for item in body)


def test_the_list_is_enough(printed: tuple[Scop, Rendered]) -> None:
    assert guard_faults(*printed) == []


@pytest.mark.parametrize(
    "change",
    [
        *(lambda body, k=k: body[:k] + body[k + 1 :] for k in range(7)),
        exchanged(c.Literal("1"), c.Literal("0")),
        exchanged(c.Name("a"), c.Name("b")),
        exchanged(c.Name("n"), c.Name("m")),
        exchanged(c.Name("polyc_is_apart"), c.Name("n")),
        exchanged(c.Postfix("++", c.Name("polyc_row")), c.Postfix("++", c.Name("n"))),
        lambda body: tuple(item.then if isinstance(item, c.If) else item for item in body),
        lambda body: (c.ExprStmt(c.Call("polyc_ranges", (c.Literal("5"),))), *body[1:]),
        lambda body: (body[0], c.ExprStmt(c.Postfix("++", c.Name("n"))), *body[1:]),
    ],
)
def test_less_of_it_is_refused(change: Callable[[Body], Body], printed: tuple[Scop, Rendered]) -> None:
    scop, rendered = printed
    assert rendered.question is not None
    assert len(rendered.question.body) == 7
    body = change(rendered.question.body)
    assert body != rendered.question.body
    faults = guard_faults(scop, replace(rendered, question=replace(rendered.question, body=body)))
    assert [fault.message for fault in faults]
