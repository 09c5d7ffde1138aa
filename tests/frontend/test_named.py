"""Macros that give their operands names in a statement expression."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyc.frontend.text.named import with_plain_extrema
from tests.programs import compiled_file, run_alike

MINIMUM = "({ typeof(a) x = (a); typeof(b) y = (b); x < y ? x : y; })"


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        (MINIMUM, "((a) < (b) ? (a) : (b))"),
        (f"f({MINIMUM}, 1)", "f(((a) < (b) ? (a) : (b)), 1)"),
        (MINIMUM.replace("x < y", "(void)(&x == &y); x < y"), "((a) < (b) ? (a) : (b))"),
        (MINIMUM.replace("typeof", "const __typeof__"), "((a) < (b) ? (a) : (b))"),
        (MINIMUM.replace("(a)", "((a + 1))"), "((a + 1) < (b) ? (a + 1) : (b))"),
        (
            "__extension__ ({ __auto_type x = a[i] * 2; x < 0 ? -x : x; })",
            "((a[i] * 2) < 0 ? -(a[i] * 2) : (a[i] * 2))",
        ),
        (
            "({ typeof(s[i].f) f = (s[i].f); typeof(q->f) e = (q->f); f < e ? 2.0f * f : 1e-3 + e; })",
            "((s[i].f) < (q->f) ? 2.0f * (s[i].f) : 1e-3 + (q->f))",
        ),
        (
            f"({{ typeof({MINIMUM}) z = ({MINIMUM}); z > 0 ? z : 0; }})",
            "(((a) < (b) ? (a) : (b)) > 0 ? ((a) < (b) ? (a) : (b)) : 0)",
        ),
    ],
)
def test_it_is_an_expression(text: str, plain: str) -> None:
    found = with_plain_extrema(text)
    assert found.replace(" ", "") == plain.replace(" ", "")
    assert len(found) == len(text)


@pytest.mark.parametrize(
    "text",
    [
        MINIMUM.replace("(a)", "(a++)"),
        MINIMUM.replace("(a)", "(next())"),
        MINIMUM.replace("= (a)", "= (c)"),
        MINIMUM.replace("typeof(a)", "int"),
        MINIMUM.replace("x < y ?", "x = 1, x < y ?"),
        MINIMUM.replace("x < y ? x : y", "f(&x)"),
        "({ typeof(a) x = (a); b = x; })",
        "({ typeof(a) x = (a); a = b; b = x; })",
        "({ typeof(a) x = (a); for (;;) x; })",
        "({ f(typeof(a)); })",
        "({ __auto_type x = first[i] + second[i]; x * x * x * x; })",
    ],
)
def test_it_stays(text: str) -> None:
    assert with_plain_extrema(text) == text


def test_loops_with_it_are_compiled(tmp_path: Path) -> None:
    text = """#include <stdio.h>
#include <stdlib.h>
#define MIN(a, b) ({ typeof(a) a_ = (a); typeof(b) b_ = (b); a_ < b_ ? a_ : b_; })
#define MAX(x, y) ({ __typeof__(x) x1 = (x); __typeof__(y) x2 = (y); (void)(&x1 == &x2); x1 > x2 ? x1 : x2; })
void limit(int n, const float *restrict a, float *restrict b, float low, float high)
{
    int last = MIN(n, 5000);
    for (int i = 0; i < last; i++)
        b[i] = MAX(low, MIN(high, a[i] * 2)) + MIN(1, a[i]);
}
static float a[9000], b[9000];
int main(int argc, char **argv)
{
    int n = atoi(argv[1]);
    for (int i = 0; i < 9000; i++)
        a[i] = i * 7 % 23 * 0.25f;
    limit(n, a, b, 0.5f, 3.25f);
    double sum = 0;
    for (int i = 0; i < 9000; i++)
        sum += b[i] * (i % 5);
    printf("%.17g\\n", sum);
    return 0;
}
"""
    found, printed = compiled_file(text, tmp_path)
    assert "limit" in {one.program.scop.function for one in found}
    run_alike(text, printed, tmp_path, [("0",), ("60",), ("8000",)])
