"""Names of the user's for choices in subscripts stay in the text, where they are known."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from polyc.model import ctree as c
from polyc.model.program import Options
from polyc.pipeline import compile_region
from polyc.runtime.check import check
from tests.programs import region_of
from tests.reread.test_text_is_program import messages, printed, rewritten

ROWS = """
void f(int n, int m, unsigned char in[n][m], unsigned char out[2 * n][m])
{
#pragma scop
    for (int y = 0; y < 2 * n; y++) {
        int near = y / 2, far = (y & 1) ? (near + 1 < n ? near + 1 : near) : (near > 0 ? near - 1 : 0);
        for (int x = 0; x < m; x++)
            out[y][x] = (unsigned char)((3 * in[near][x] + in[far][x]) >> 2);
    }
#pragma endscop
}
"""
SWEEPS = """
double sqrt(double);
void f(double t[20][30], double s[20][30])
{
#pragma scop
    for (int dir = 0; dir < 4; dir++)
        for (int jj = 0; jj < 20; jj++)
            for (int ii = 0; ii < 30; ii++) {
                int j = dir & 2 ? 19 - jj : jj, i = dir & 1 ? 29 - ii : ii;
                double a, v;
                if (i == 0)
                    a = t[j][1];
                else
                    a = t[j][i - 1];
                v = sqrt(a) + s[j][i] + j;
                if (v < t[j][i])
                    t[j][i] = v;
            }
#pragma endscop
}
"""
UNNAMED = """
void f(int n, int m, float a[n][m], float b[n][m])
{
#pragma scop
    for (int y = 0; y < n; y++)
        for (int x = 0; x < m; x++)
            b[y][x] = a[y == 0 ? n - 1 : y - 1][x];
#pragma endscop
}
"""
INNERMOST = """
void f(int n, float a[n], float b[n])
{
#pragma scop
    for (int x = 0; x < n; x++)
        b[x] = a[x == 0 ? n - 1 : x - 1];
#pragma endscop
}
"""
MASKED = """
void f(unsigned char a[256], unsigned char b[8][64])
{
#pragma scop
    for (int i = 0; i < 8; i++)
        for (int x = 0; x < 64; x++)
            b[i][x] = a[(x * 8 / 15 + i) & (16 - 1)];
#pragma endscop
}
"""


@pytest.mark.parametrize(
    ("text", "lines", "absent"),
    [
        (
            ROWS,
            [
                "const int far = y & 1 ? y / 2 + 1 < n ? y / 2 + 1 : y / 2 : y / 2 > 0 ? y / 2 - 1 : 0;",
                "+ in[far][x]) >> 2);",
            ],
            "far2",
        ),
        (
            SWEEPS,
            [
                "const int j = dir & 2 ? 19 - jj : jj;",
                "const int i = dir & 1 ? 29 - ii : ii;",
                "if (i == 0)",
                "a = t[j][i - 1];",
                "v = sqrt(a) + s[j][i] + j;",
                "if (v < t[j][i])",
                "t[j][i] = v;",
            ],
            "j2",
        ),
        (UNNAMED, ["const int y2 = y == 0 ? n - 1 : y - 1;", "b[y][x] = a[y2][x];"], "y3"),
        (INNERMOST, ["b[x] = a[x == 0 ? n - 1 : x - 1];"], "const"),
        (MASKED, ["b[i][x] = a[(x * 8 / 15 + i) & 15];"], "const"),
    ],
)
def test_choices_have_names(text: str, lines: list[str], absent: str, tmp_path: Path) -> None:
    region = region_of(text, tmp_path)
    found = compile_region(region, Options(tile_sizes=None))
    assert found.verified
    assert not [r for r in found.program.remarks if r.code.startswith("text-")]
    for line in lines:
        assert line in found.text, found.text
    assert absent not in found.text
    assert check(region, found, sizes=(1, 2, 7)) == []


@pytest.mark.parametrize("text", [ROWS, SWEEPS])
def test_another_value_is_refused(text: str, tmp_path: Path) -> None:
    """The name of a choice with its branches exchanged."""
    found = printed(text, tmp_path, tile_sizes=None)

    def exchanged(node: c.Node) -> c.Node | None:
        match node:
            case c.Decl(type="const long", init=c.Ternary(then=then, otherwise=otherwise) as init):
                return replace(node, init=replace(init, then=otherwise, otherwise=then))
        return None

    assert messages(found) == []
    assert any("is another one" in message for message in messages(found, rewritten(found, exchanged)))


ENDS = """
void f(int n, int m, float d[n][m], int e[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        int far = i < 4 ? 0 : i - 4;
        for (int k = 0; k < m; k++)
            d[i][k] = d[i][k] + far * k;
        e[i] = far;
    }
#pragma endscop
}
"""


def test_a_value_in_no_subscript_is_computed_once(tmp_path: Path) -> None:
    region = region_of(ENDS, tmp_path)
    found = compile_region(region, Options(tile_sizes=None))
    assert found.verified
    assert found.text.count("i < 4 ? 0 :") == 2  # the other one is the user's text
    assert check(region, found, sizes=(1, 5)) == []


STEPS = """
void f(int n, int m, int by, double *restrict c, float *restrict a)
{
#pragma scop
    for (int i = 0; i < 5; i += by)
        for (int j = 0; j < n / m; j++)
            if (a[j] > 0.9)
                for (int w = 0; w < 3; w++)
                    c[j + w] = a[i < 1 ? 0 : i - 1];
#pragma endscop
}
"""


CODES = """
static inline int code(char c) { return c == 'A' ? 0 : c == 'C' ? 1 : c == 'G' ? 2 : 3; }
static int wrapped(int i) { return i < 0 ? i + 64 : i >= 64 ? i - 64 : i; }
void f(char a[100], int at[100], int s[4][64], int t[100], unsigned short w[100])
{
#pragma scop
    for (int i = 1; i < 100; i++)
        t[i] += t[i - 1] + s[code(a[i])][wrapped(at[i] + 1)] + s[0][wrapped(w[i])];
#pragma endscop
}
"""


def test_a_choice_of_steps_that_a_size_has(tmp_path: Path) -> None:
    """`i` is a product with `by`: the check of the text knows no number for it, and reads the name as what it stands
    for."""
    assert messages(printed(STEPS, tmp_path)) == []


def test_calls_in_subscripts_that_data_decide_stay(tmp_path: Path) -> None:
    found = printed(CODES, tmp_path)
    assert "s[code(a[i])][wrapped(at[i] + 1)]" in found[2].text, found[2].text
    assert messages(found) == []

    def other(node: c.Node) -> c.Node | None:
        match node:
            case c.Call(function="wrapped", arguments=(c.Binary(left=left),)):
                return replace(node, arguments=(left,))
        return None

    assert any("is another one" in message for message in messages(found, rewritten(found, other)))
