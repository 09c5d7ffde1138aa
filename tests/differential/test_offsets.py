"""Pointers of a region that move as the data decide: the region is taken, and gives the same values."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyc.codegen import render_file
from polyc.errors import UserError
from polyc.frontend import read
from polyc.model.program import InputOptions, Options
from polyc.pipeline import compile_region
from tests.programs import run_alike

MAIN = """#include <stdio.h>
#include <stdlib.h>
typedef struct { double re, im; } pair;
static void f(int n, const double *x, double *a, pair *c, int *k, double *b)
{
#pragma scop
    BODY
#pragma endscop
}
int main(int argc, char **argv)
{
    static double x[400], a[400], b[400];
    static pair c[400];
    static int k[400];
    int n = atoi(argv[1]);
    for (int i = 0; i < 400; i++)
        x[i] = i * 7 % 11 - 4 + argc * 0.25, a[i] = i, k[i] = i * 5 % 9, c[i].re = i;
    f(n, x, a, c, k, b);
    for (int i = 0; i < 400; i++)
        printf("%g %g %g %g %d\\n", a[i], b[i], c[i].re, c[i].im, k[i]);
    return 0;
}
"""
BODIES = {
    "what is chosen is packed": (
        "double *p = a; for (int i = 0; i < n; i++) if (x[i] > 0) *p++ = x[i]; k[0] = p - a;"
        " for (int i = 0; i < n; i++) b[i] = 2 * a[i];"
    ),
    "rows whose numbers change": (
        "for (int i = 0; i < 9; i++) { double *row = a + k[i] * n; k[i] = 0;"
        " for (int j = 0; j < n; j++) row[j] += x[i + j]; }"
    ),
    "structs": (
        "pair *p = c + 2; for (int i = 0; i < n; i++) {"
        " if (x[i] > 1) p += 2; p->im = x[i]; (*p).re += 1; p[1].im = 2; }"
    ),
    "two ways": (
        "const double *p = x + 40, *q = &x[200]; for (int i = 0; i < n; i++) {"
        " if (x[i] > 1) { p--; q = p + 3; } else q += 2; b[i] = *p + q[1]; if (q - p > 90) q = p; }"
    ),
    "as far as another one": (
        "double *p = a, *end = a + n; for (int i = 0; i < n; i++)"
        " if (p < end) { p += x[i] > 0 ? 2 : 1; a[i] = x[i]; } k[3] = end - p;"
    ),
    "before it is used": "double *p = a + 3; for (int i = 0; i < n; i++) if (x[i] > 0) *++p = x[i]; else p[-1] = 0;",
    "in a head": (
        "for (int i = 0; i < n; i++) { double s = 0; for (const double *q = x + i; q < x + 60; q++) {"
        " if (*q > 3) q++; else s += *q; } b[i] = s; }"
    ),
    "distances without a sign": (
        "unsigned u = 3; double *p = a + 9; for (int i = 0; i < n; i++) { if (x[i] > 0) p += u; else p -= u;"
        " if (p < a) p = a + u * n; *p = i; }"
    ),
    "a loop that data decide": "double *p = a; while (*p < n) { if (x[p - a] > 2) p++; *p++ += 1; }",
}
REFUSED = {
    "two arrays": "const double *p = x; for (int i = 0; i < n; i++) { if (x[i] > 0) p = a; b[i] = *p; }",
    "its value is used": "double *p = a, *q; for (int i = 0; i < n; i++) if (x[i] > 0) { q = p++; *q = 1; }",
    "its address": "double *p = a, **q = &p; for (int i = 0; i < n; i++) if (x[i] > 0) *(*q)++ = 1;",
    "one beside it is used behind": (
        "double *p = a, *r = a; for (int i = 0; i < n; i++) if (x[i] > 0) *p++ = x[i]; r[0] = 1;\n"
        "#pragma endscop\n    b[1] = *r;\n#pragma scop\n    for (int i = 0; i < n; i++) b[i + 2] = 1;"
    ),
    "nowhere": "double *p = 0; for (int i = 0; i < n; i++) { if (x[i] > 0) p = a + i; if (p) *p = 1; }",
}


@pytest.mark.parametrize("name", BODIES)
def test_the_values_are_the_same(name: str, tmp_path: Path) -> None:
    text = MAIN.replace("BODY", BODIES[name])
    (tmp_path / "t.c").write_text(text)
    source = read(str(tmp_path / "t.c"), InputOptions())
    found = [compile_region(region, Options(threads="always")) for region in source.regions]
    assert [one.verified for one in found] == [True]
    run_alike(text, render_file(source, found), tmp_path, [("0",), ("5",), ("33",)])


@pytest.mark.parametrize("name", REFUSED)
def test_others_are_refused(name: str) -> None:
    with pytest.raises(UserError) as error:
        read("t.c", InputOptions(), text=MAIN.replace("BODY", REFUSED[name]))
    assert {one.code for one in error.value.diagnostics} & {"pointer-assignment", "unsupported-declaration"}
