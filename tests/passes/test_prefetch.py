"""Loops on data that ask ahead for the lines of arrays they go through, and rows of sums that need no array."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from polyc.model import ctree as c
from polyc.model.program import Options
from polyc.pipeline import compile_region
from polyc.runtime.check import check
from polyc.verify.region.wellformed import asks_ahead
from tests.programs import after, region_of

FAILURES = {"verification-failed", "text-not-checked", "budget", "not-printed"}
HEAD = "void f(int n, const int index[n + 1], double u[n][3], double y[n]"


def of(loop: str, arrays: str) -> str:
    """A region of rows, each a loop on data."""
    return f"""{HEAD}, {arrays})
{{
#pragma scop
    for (int i = 0; i < n; i++) {{
        int k = i & index[i];
        {loop}
    }}
#pragma endscop
}}
"""


WHILE = "while (k < i) { y[i] += K[k][0] + K[k][1]; k++; }"
ASKED = {
    "a while": (WHILE, "double K[n][9]", 1),
    "the step first": ("while (k < i) { ++k; y[i] += K[k][0]; }", "double K[n][9]", 1),
    "a for": ("for (int m = i & index[i]; m < i; m++) y[i] += K[m][1];", "double K[n][9]", 1),
    "three dimensions": ("for (int m = k; m < i; m += 1) y[i] += K[m][1][2];", "double K[n][3][3]", 1),
    "two lines": (WHILE, "double K[n][16]", 2),
    "two arrays": ("while (k < i) { y[i] += K[k][0] * L[k][1]; k += 1; }", "double K[n][8], double L[n][9]", 2),
    "a loop inside": (
        "while (k < i) { for (int d = 0; d < 8; d++) y[i] += K[k][d]; k++; }",
        "double K[n][8]",
        1,
    ),
}
NOT_ASKED = {
    "less than a line": (WHILE, "double K[n][7]"),
    "a vector": ("while (k < i) { y[i] += K[k]; k++; }", "double K[n]"),
    "many lines": (WHILE, "double K[n][41]"),
    "a size that is not known": (WHILE, "double K[n][n + 9]"),
    "another step": ("while (k < i) { y[i] += K[k][0]; k += 2; }", "double K[n][9]"),
    "two steps": ("while (k < i) { y[i] += K[k][0]; k++; if (u[i][0] > 0.5) k++; }", "double K[n][9]"),
    "another subscript": ("while (k < i) { y[i] += K[k / 2][0]; k++; }", "double K[n][9]"),
    "written": ("while (k < i) { K[k][0] += y[i]; k++; }", "double K[n][9]"),
    "a jump": ("while (k < i) { if (u[i][0] < K[k][0]) break; k++; }", "double K[n][9]"),
}


@pytest.mark.parametrize("name", ASKED)
def test_asked(name: str, tmp_path: Path) -> None:
    loop, arrays, requests = ASKED[name]
    region = region_of(of(loop, arrays), tmp_path)
    result = compile_region(region, Options())
    assert result.passed
    assert not {remark.code for remark in result.program.remarks} & FAILURES
    assert result.text.count("__builtin_prefetch((const void *)((unsigned long)&") == requests
    assert [r.code for r in result.program.remarks].count("prefetched") == 1
    assert check(region, result, sizes=(1, 2, 7, 33)) == []


@pytest.mark.parametrize("name", NOT_ASKED)
def test_not_asked(name: str, tmp_path: Path) -> None:
    result = compile_region(region_of(of(*NOT_ASKED[name]), tmp_path), Options())
    assert "prefetch" not in result.text


@pytest.mark.parametrize(("rows", "asked"), [(12, False), (1 << 20, True)])
def test_what_stays_in_a_cache_is_not_asked_for(rows: int, asked: bool, tmp_path: Path) -> None:
    text = of(WHILE, "int m").replace("void f", f"static double K[{rows}][9];\nvoid f")
    assert ("__builtin_prefetch" in compile_region(region_of(text, tmp_path), Options()).text) == asked


def test_no_requests_for_a_gpu_or_in_code_without_data(tmp_path: Path) -> None:
    region = region_of(of("for (int m = 0; m < i; m++) y[i] += K[m][1];", "double K[n][9]"), tmp_path)
    assert "prefetch" not in compile_region(region, Options()).text
    region = region_of(of(WHILE, "double K[n][9]"), tmp_path)
    assert "prefetch" not in compile_region(region, Options(target="cuda")).text


def test_what_is_more_than_a_request(tmp_path: Path) -> None:
    """The check asks for the region's own statement, and for addresses that compute nothing."""
    program = after(region_of(of(WHILE, "double K[n][9]"), tmp_path), "prefetch")
    (name,) = (n for n, s in program.statements.items() if s is not program.scop.statements[n])
    own, now = program.scop.statements[name], program.statements[name]
    assert asks_ahead(own, now)
    assert asks_ahead(own, own)
    assert not asks_ahead(own, replace(now, accesses=now.accesses[1:]))
    stepping = c.Postfix("++", c.ArrayRef("k", ()))
    unread = c.ArrayRef("K", (c.Literal("0"), c.Literal("0")))
    for place in (stepping, unread, c.Name("other"), c.Call("rand", ())):
        assert not asks_ahead(own, replace(now, body=c.rewrite(now.body, partial(_asking_for, place))))


def _asking_for(place: c.Expr, node: c.Node) -> c.Node | None:
    """The request of a row that another expression names."""
    if not (isinstance(node, c.ExprStmt) and c.is_request(node)):
        return None
    return c.rewrite(node, lambda n: place if isinstance(n, c.ArrayRef) and not n.subscripts else None)


ROWS = """
void f(int n, const int index[n + 1], const double K[n][3], const double u[n][3], double y[n][3])
{
    double sum[n][3];
#pragma polyc live-out(y)
#pragma scop
    for (int i = 0; i < n; i++)
        for (int d = 0; d < 3; d++)
            sum[i][d] = 0.0;
    for (int i = 0; i < n; i++)
        for (int k = i & index[i]; k < i; k++)
            for (int d = LOW; d < 3; d++)
                sum[i][WHERE] += K[k][d] * u[i][d];
    for (int i = 0; i < n; i++)
        for (int d = 0; d < 3; d++)
            y[i][d] = sum[i][d] / 2.0;
#pragma endscop
}
"""


@pytest.mark.parametrize("low", ["0", "1"])
@pytest.mark.parametrize("where", ["d", "2 - d", "index[k] & 1"])
def test_rows_of_sums_need_no_array(low: str, where: str, tmp_path: Path) -> None:
    """A black box that adds up several components of its row has them in an array of its own."""
    region = region_of(ROWS.replace("LOW", low).replace("WHERE", where), tmp_path)
    result = compile_region(region, Options())
    assert result.passed
    assert not {remark.code for remark in result.program.remarks} & FAILURES
    assert "double sum_here[1][3];" in result.text
    assert "sum[" not in result.text
    assert check(region, result, sizes=(1, 2, 7, 33)) == []


def test_a_part_of_a_row_stays(tmp_path: Path) -> None:
    """What is printed as it was written has its place in the whole dimension, from 0."""
    text = ROWS.replace("LOW", "1").replace("WHERE", "d").replace("int d = 0", "int d = 1")
    region = region_of(text, tmp_path)
    result = compile_region(region, Options())
    assert result.passed
    assert not {remark.code for remark in result.program.remarks} & FAILURES
    assert "sum_here" not in result.text
    assert check(region, result, sizes=(1, 2, 7, 33)) == []


@pytest.mark.parametrize("inside", ["int k = 0; k < 2", "int k = i & index[i]; k < i"])
def test_long_rows_stay_off_the_stack(inside: str, tmp_path: Path) -> None:
    text = ROWS.replace("LOW", "0").replace("WHERE", "d").replace("int k = i & index[i]; k < i", inside)
    result = compile_region(
        region_of(text.replace("[3]", "[50000]").replace("d < 3", "d < 50000"), tmp_path), Options()
    )
    assert result.passed
    assert "sum_here[1][50000]" not in result.text
    assert "sum_here[50000]" not in result.text
