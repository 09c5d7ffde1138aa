"""Loops between pointers where something changes on the way, or goes another way than it seems: the same values."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from polyc.codegen import render_file, render_region
from polyc.errors import UserError
from polyc.frontend import read
from polyc.model.program import InputOptions, Options
from polyc.pipeline import compile_region
from polyc.reread.guards import guard_faults
from tests.programs import run_alike
from tests.turns import EVERYTHING

HEAD = "#include <stdio.h>\n#include <stdlib.h>\ntypedef struct { double re, im; } pair;\n"
MAIN = """
int main(int argc, char **argv)
{
    static double a[400], o[400];
    static int x[3] = {1, 2, 3};
    int n = atoi(argv[1]), d = atoi(argv[2]);
    for (int i = 0; i < 400; i++)
        a[i] = i % 11 * 0.5;
    f(n, a + 100, d, o + 100, x);
    for (int i = 0; i < 400; i++)
        printf("%g %g\\n", a[i], o[i]);
    return 0;
}
"""
LOOP = "for (double *q = p; q < end; q++) *q = *q * 2 + 1;"
BODIES = {
    "the end moves": ("double *end = p + n; end--;", LOOP, ""),
    "it moves by a size": ("double *end = p; end += n;", LOOP, ""),
    "it moves in each iteration": ("double *end = p + n; for (int t = 0; t < 3; t++) {", LOOP, "end -= n / 4; }"),
    "the size changes at the end of a loop": ("double *end; do { end = p + n; } while (n-- > 6);", LOOP, ""),
    "it is set in a head": ("double *end; for (end = p + n; n > 4;) {", LOOP, "n--; }"),
    "it is declared in a head": ("for (double *end = p + n; p < end;) {", LOOP, "p += 3; }"),
    "a row moves": ("double *row = p; row += n;", "for (int i = 0; i < n; i++) row[i] = p[i] + 1;", ""),
    "a row that a loop has moved": (
        "double *r = p; for (int i = 0; i < n; i++) *r++ = 2;",
        "for (double *q = p; q < r; q++) *q += 1;",
        "",
    ),
    "what the start is made of": (
        "int i = 1;",
        "double *q = p + i, *e = q + 5; while (q < e) { *q += i; q++; i = 3; }",
        "",
    ),
    "an element that it is made of": (
        "",
        "double *q = p + x[0], *e = q + 5; while (q < e) { *q += x[0]; q++; x[0] = 3; }",
        "",
    ),
    "down to it": ("double *q = p + n;", "while (q != p) { *q += 1; q += d; }", ""),
    "up to it": ("double *q = p, *e = p + n;", "while (q != e) { *q += 1; q -= d; }", ""),
    "a step without a sign": (
        "unsigned u = abs(d) * 2; double *q = p + n;",
        "while (q > p) { *q += 1; q -= u; }",
        "",
    ),
    "a difference without a sign": (
        "unsigned u = abs(d) * 8, v = abs(d) * 6; double *end = p + n;",
        "for (double *q = p + u; q >= p; q = q - (u - v)) *q += *end + 1;",
        "",
    ),
    "rows with a pointer beside them": (
        "int m = 4; double *end = p + n * m, *y = o;",
        "for (double *row = p; row < end; row += m) { double s = 0; const double *v = o + 200;"
        " for (double *q = row; q < row + m; q++) s += *q * (*v++ + 1); *y++ = s; }",
        "y[3] = 7; y[d] += 2;",
    ),
    "rows of no length": (
        "int m = n - 40; double *end = p + n * m, *y = o; int k = 0;",
        "for (double *row = p; row < end; row += m) { *y++ = *row; k++; }",
        "o[80] = k; y[3] = 7;",
    ),
    "rows of a length without a sign": (
        "unsigned m = 3; double *end = p + n * m, *y = o;",
        "for (double *row = p; row < end; row += m) { *y++ = row[1] + row[2]; row[0] = 1; }",
        "",
    ),
    "signs are compared": (
        "unsigned u = n;",
        "for (int t = -3; t < 4; t++) { double *q = p + t * t * -1, *e = p + u; if (q < e) o[t + 3] += 1; }",
        "",
    ),
    "an element ends the loop": (
        "",
        "for (int i = 0; i < n; i++) { double s = 0;"
        " for (double *q = p + i; q < p + n; q += 2) { if (*q > 4) break; s += *q; } o[i] = s; }",
        "",
    ),
    "it is read where an element ended the loop": (
        "double *q;",
        "for (int i = 0; i < n; i++) { for (q = p + i; q < p + n; q++) { if (*q > 4) break; o[i] += *q; }"
        " o[i + 50] = q - p; }",
        "",
    ),
    "iterations are passed over": (
        "double *y = o;",
        "for (double *q = p; q < p + n; q++) { if (*q > 4) continue; o[q - p] = *q; *y++ += 2; }",
        "y[3] = 7;",
    ),
    "it moves where iterations are passed over": (
        "",
        "for (double *q = p; q < p + n; q++) { if (*q > 4) { q++; continue; } o[q - p] = *q; }",
        "",
    ),
}


BOTH = [(name, marked) for k, name in enumerate(BODIES) for marked in ((True, False) if EVERYTHING else (k % 2 == 0,))]


@pytest.mark.parametrize(("name", "marked"), BOTH)
def test_the_values_are_the_same(name: str, marked: bool, tmp_path: Path) -> None:
    before, body, after = BODIES[name]
    loops = f"\n#pragma scop\n{body}\n#pragma endscop\n" if marked else body
    text = f"{HEAD}void f(int n, double *p, int d, double *o, int *x)\n{{\n{before}{loops}{after}\n}}\n{MAIN}"
    file = tmp_path / "t.c"
    file.write_text(text)
    try:
        source = read(str(file), InputOptions(detect=not marked))
    except UserError:
        return  # it says so
    found = [compile_region(region, Options(threads="always")) for region in source.regions]
    assert {one.verified for one in found} <= {True}
    run_alike(text, render_file(source, found), tmp_path, [("8", "-1"), ("12", "-2"), ("40", "-1")])


@pytest.mark.parametrize("address", ["&p->im", "&p[0].im", "&p[n / 2].re"])
def test_the_address_of_a_member_is_another_name(address: str) -> None:
    text = f"""{HEAD}void f(int n, pair *p)
{{
    double *d = {address};
#pragma scop
    for (int i = 1; i < n; i++)
        p[i].im = d[2 * i - 2] * 0.5 + 1;
#pragma endscop
}}
"""
    with pytest.raises(UserError, match="aliased-pointer"):
        read("t.c", InputOptions(), text=text)


def test_the_text_asks_what_a_pointer_is() -> None:
    text = f"{HEAD}void f(int n, double *p)\n{{\ndouble *end = p + n;\n#pragma scop\n{LOOP}\n#pragma endscop\n}}\n"
    (region,) = read("t.c", InputOptions(), text=text).regions
    result = compile_region(region, Options())
    assert "if (end == p + n" in result.text
    rendered = render_region(result.program, region, True)
    assert guard_faults(result.program.scop, rendered) == []
    (fault,) = guard_faults(result.program.scop, replace(rendered, needed=None, condition=None))
    assert fault.message == "the condition around the text does not ask what a pointer is"


def test_two_regions_have_a_pointer_of_one_name() -> None:
    loop = "#pragma scop\nfor (double *q = p; q < p + n; q++)\n    *q += 1;\n#pragma endscop\n"
    first, second = read("t.c", InputOptions(), text=f"{HEAD}void f(int n, double *p)\n{{\n{loop}{loop}}}\n").regions
    assert [len(one.scop.statements) for one in (first, second)] == [1, 1]
