"""Loops in the forms of C that are seldom written: each is compiled, or told of with its line."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest

from polyc.codegen import render_file
from polyc.errors import UserError
from polyc.frontend import read
from polyc.frontend.read import preprocessed
from polyc.frontend.text.chunks import cut
from polyc.frontend.text.places import Places
from polyc.model.program import InputOptions, Options
from polyc.model.scop import Source
from polyc.pipeline import compile_region

FORMS = """#include <stdio.h>
#include "part.c"
#define FOR(i, n) for (int i = 0; i < (n); i++)
#define EACH for (int k = 0; k < n; k++)
double *seldom(), (*pointed)();
int old(a, n, b) double *a; int n; double *b;
{
    int i;
    for (i = 0; i < n; i++)
        a[i] = b[i] * 2;
    return n;
}
void
older(n, m, a)
     double a[][20]; /* n and m are of type int */
{
    int i;
    for (i = 0; i < n; i++)
        a[i][3] = 2 * m;
}
void labels(int n, double *restrict a, double *restrict b)
{
    int times = 0;
again:
    for (int i = 0; i < n; i++)
        a[i] = b[i] * 2 + times;
    if (times++ < 2)
        goto again;
inner: more:
    for (int i = 0; i < n; i++)
        b[i] += a[i];
    if (times++ < 5)
        goto more;
    if (times++ < 7)
        goto inner;
}
void named(int n, double a[restrict][20], const double *restrict b)
{
    int i, j;
    outer: for (i = 0; i < n; i++) {
        before: inner : for (j = 0; j < 20; j++)
            a[i][j] += b[j];
    }
}
void cases(int way, int n, double *restrict a, double *restrict b)
{
    switch (way) {
    case 3:
        for (int i = 0; i < n; i++)
            a[i] = b[i] * 2;
        break;
    case 4: case 5: {
        for (int i = 0; i < n; i++)
            a[i] -= b[i] * 2;
    }
    case 6: for (int i = 0; i < n; i++)
            a[i] += b[i] / 2;
        break;
    default:
        for (int i = 0; i < n; i++)
            b[i] = a[i] * 2;
        for (int i = 1; i < n; i++)
            a[i] = b[i - 1];
    }
}
void macros(int n, double *restrict a, double *restrict b)
{
    FOR(i, n) a[i] += 2;
    FOR(i, n)
        EACH {
            a[i] += b[k];
        }
    for (int i = 0; i < n; i++) a[i] += 1; for (int i = 0; i < n; i++) b[i] += a[i];
}
void others(int n, double *restrict a, double *restrict b)
{
    int k = 0;
    while (k < n) {
        a[k] = b[k];
        k++;
    }
    do {
        a[k - 1] = 2;
        for (int i = 0; i < n; i++)
            b[i] += a[i];
    } while (--k > n - 3);
    if (k) for (int i = 0; i < n; i++) printf("%g ", a[i]);
}
double down(int n, double *a)
{
    double s = 0;
    while (n-- > 0)
        s += a[n];
    return s;
}
void one(int n, double *a) { for (int i = 0; i < n; i++) a[i] *= 2; }
"""
PART = "static void part(int n, double *a)\n{\n    for (int i = 0; i < n; i++)\n        a[i] = a[i] + 1;\n}\n"
MAIN = """
int main(void)
{
    static double a[50], b[50], rows[9][20];
    for (int way = 0; way < 8; way++) {
        FOR(i, 50) { a[i] = i * 7 % 13; b[i] = i * 5 % 11; }
        old(a, 40, b), older(9, way, rows), labels(45, a, b);
        named(9, rows, b), cases(way, 48, a, b), macros(50, a, b), others(20, a, b);
        one(3, a), part(4, b), printf("%g %g\\n", down(50, a), down(50, b) + rows[way][3]);
    }
    return 0;
}
"""


def found_in(text: str, folder: Path) -> Source:
    (folder / "part.c").write_text(PART)
    file = folder / "t.c"
    file.write_text(text)
    return read(str(file), InputOptions(detect=True))


def line(text: str, words: str) -> int:
    return text[: text.index(words)].count("\n") + 1


def test_each_loop_is_compiled_or_told_of(tmp_path: Path) -> None:
    source = found_in(FORMS, tmp_path)
    regions = [(r.scop.function, r.scop.span.line, r.scop.end_line) for r in source.regions]
    cases, macros = line(FORMS, "    case 3:"), line(FORMS, "    FOR(i, n) a[i]")
    assert regions == [
        ("old", 9, 10),
        ("older", 18, 19),
        ("labels", 25, 26),
        ("labels", 30, 31),
        ("named", line(FORMS, "    outer:"), line(FORMS, "    outer:") + 3),
        ("cases", cases + 1, cases + 2),
        ("cases", cases + 4, cases + 7),
        ("cases", cases + 8, cases + 9),
        ("cases", cases + 12, cases + 15),
        ("macros", macros, macros + 5),
        ("others", line(FORMS, "    do {") + 2, line(FORMS, "    do {") + 3),
        ("down", line(FORMS, "    while (n-- > 0)"), line(FORMS, "    while (n-- > 0)") + 1),
        ("one", line(FORMS, "void one("), line(FORMS, "void one(")),
    ]
    told = [(one.span.file.rpartition("/")[2], one.span.line) for one in source.left if one.span is not None]
    assert sorted(told) == [
        ("part.c", 3),
        *(("t.c", line(FORMS, words)) for words in ("    while (k < n) {", "    do {", "    if (k) for")),
    ]


def test_each_form_computes_the_same(tmp_path: Path) -> None:
    source = found_in(FORMS + MAIN, tmp_path)
    compiled = [compile_region(region, Options(threads="always")) for region in source.regions]
    shown = []
    for name, text in (("before", FORMS + MAIN), ("after", render_file(source, compiled))):
        (tmp_path / f"{name}.c").write_text(text)
        words = ["gcc", "-O2", "-fopenmp", "-ffp-contract=off", "-w", "-std=gnu17", f"{name}.c", "-o", name]
        subprocess.run(words, check=True, cwd=tmp_path)
        shown.append(subprocess.run([f"./{name}"], capture_output=True, check=True, cwd=tmp_path).stdout)
    assert shown[0] == shown[1]


def test_a_marked_region_in_an_old_definition(tmp_path: Path) -> None:
    text = "int f(n, a)\n int *a;\n{\n#pragma scop\n for (int i = 0; i < n; i++)\n  a[i] = n;\n#pragma endscop\n}\n"
    (tmp_path / "t.c").write_text(text)
    (region,) = read(str(tmp_path / "t.c"), InputOptions()).regions
    assert [p.name for p in region.scop.parameters] == ["n"]


def test_old_definitions_behind_many_macros(tmp_path: Path) -> None:
    """The preprocessor's text has a blank for each character of a macro."""
    macros = "".join(f"#define M{k} {'x' * 400}\n" for k in range(300))
    old = "int f(n, a)\n int *a;\n{ return a[n]; }\n"
    text = f"{macros}extern double g(int, double);\n#pragma mark (really)\n{macros}{old}"
    user, pre = preprocessed(str(tmp_path / "t.c"), InputOptions(), text)
    start = time.process_time()
    chunks = cut(pre.text, Places(user, pre))
    assert time.process_time() - start < 2
    assert [(one.function_name, one.is_function) for one in chunks.items] == [("g", False), ("f", True)]


def test_an_assignment_as_a_condition_keeps_its_parentheses(tmp_path: Path) -> None:
    """Without them, gcc asks for them."""
    text = """void f(int n, int *restrict a, const int *restrict b)
{
    int t;
#pragma scop
    for (int i = 0; i < n; i++)
        if ((t = b[i]))
            a[i] = t;
#pragma endscop
}
"""
    source = found_in(text, tmp_path)
    compiled = [compile_region(region, Options()) for region in source.regions]
    assert "if ((t = b[i]))" in render_file(source, compiled)


def test_macros_of_several_statements_are_blocks(tmp_path: Path) -> None:
    text = """#define ADD(a, b) do { a += b; a *= 2; } while (0)
void f(int n, double *restrict a, const double *restrict b)
{
#pragma scop
    for (int i = 0; i < n; i++)
        ADD(a[i], b[i]);
#pragma endscop
}
"""
    (region,) = found_in(text, tmp_path).regions
    assert [s.opaque for s in region.scop.statements.values()] == [False, False]
    assert not region.scop.notes


def test_a_variable_with_the_name_of_a_constant(tmp_path: Path) -> None:
    text = """enum { j = 5 };
void f(int n, double a[restrict n][n], double b[restrict n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            a[i][k] = b[k][i] + j;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            a[i][j] += b[j][i];
#pragma endscop
}
"""
    source = found_in(text, tmp_path)
    printed = render_file(source, [compile_region(region, Options()) for region in source.regions])
    assert "a[i][k] = b[k][i] + j;" in printed
    assert "left as it was written" not in printed


@pytest.mark.parametrize("attribute", ["cleanup(done)", "__cleanup__(done)", "unused, vector_size(16)"])
def test_attributes_that_give_declarations_another_meaning(attribute: str, tmp_path: Path) -> None:
    loop = f"for (int i = 0; i < n; i++) {{\n  __attribute__(({attribute})) double t = b[i];\n  a[i] = t;\n }}"
    head = "void done(double *);\nvoid f(int n, double *restrict a, const double *restrict b)\n{"
    source = found_in(f"{head}\n {loop}\n}}\n", tmp_path)
    assert not source.regions
    word = "vector_size" if "size" in attribute else "cleanup"
    assert [one.message for one in source.left] == [
        f"this loop of f() stays as it is: its function uses the attribute '{word}'"
    ]
    with pytest.raises(UserError, match=f"the attribute '{word}' gives a declaration another meaning"):
        found_in(f"{head}\n#pragma scop\n {loop}\n#pragma endscop\n}}\n", tmp_path)


def test_types_with_another_size_than_the_type_that_they_are_made_of(tmp_path: Path) -> None:
    text = """typedef unsigned byte __attribute__((mode(QI)));
void f(int n, int *restrict a)
{
    for (int i = 0; i < n; i++)
        for (byte j = 250; j >= 2; j++) /* up to 255 */
            a[i * 256 + j] += j;
}
"""
    source = found_in(text, tmp_path)
    assert [s.opaque for region in source.regions for s in region.scop.statements.values()] == [True]


def test_the_name_of_the_function_and_labels_with_addresses(tmp_path: Path) -> None:
    loop = "for (int i = 0; i < n; i++)"
    text = f"""#include <stdio.h>
#include <stdlib.h>
void f(int n, int m, char *restrict a)
{{
    {loop} {{
        if (i > m) {{
            fprintf(stderr, "%s", __func__);
            exit(1);
        }}
        a[i] = sizeof __func__;
    }}
}}
void g(int n, double *a, void **to)
{{
    *to = &&there;
    goto **to;
    {loop} a[i] = 1;
there:
    {loop} a[i] = 2;
}}
"""
    source = found_in(text, tmp_path)
    assert [one.message.partition("it is: ")[2] for one in source.left] == ["its function uses 'goto *'"]
    (region,) = source.regions
    printed = render_file(source, [compile_region(region, Options())])
    assert "a[i] = sizeof(__func__)" in printed


def test_loops_that_end_in_macros_and_loops_under_conditions(tmp_path: Path) -> None:
    text = """#define BODY a[i] += b[i];
#define BEGIN {
#define END }
#define SUM(x) b[i] += x;
void f(int n, double *restrict a, double *restrict b)
{
    for (int i = 0; i < n; i++) BODY
    for (int i = 0; i < n; i++)
    BEGIN
        a[i] *= 2;
    END
#if 1
    for (int i = 0; i < n; i++)
        a[i] -= 1;
#else
    for (int i = 0; i < n; i++)
        a[i] -= 2;
#endif
    for (int i = 0; i < n; i++)
#if 1
        b[i] = a[i];
#endif
    for (int i = 0; i < n; i++) SUM
      (a[i])
}
"""
    source = found_in(text, tmp_path)
    assert [(r.scop.span.line, r.scop.end_line) for r in source.regions] == [(7, 11), (13, 14)]
    assert [(one.span and one.span.line, one.message.partition("it is: ")[2]) for one in source.left] == [
        (19, "a condition ('#if') that begins in it does not end in it"),
        (23, "it begins or ends within a macro's arguments"),
    ]


def test_names_that_polyc_makes_are_no_macros(tmp_path: Path) -> None:
    text = """#define x0 7
#define it 3
#define jt(x) error
#define B_panel error
double A[200][200], B[200][200], C[200][200];
void f(int n)
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                C[i][j] += A[i][k] * B[k][j] * it;
#pragma endscop
}
"""
    source = found_in(text, tmp_path)
    printed = render_file(source, [compile_region(region, Options()) for region in source.regions])
    assert "B_panel2[" in printed
    (tmp_path / "out.c").write_text(printed)
    subprocess.run(
        ["gcc", "-fsyntax-only", "-Wall", "-Werror", "-Wno-unknown-pragmas", "out.c"], check=True, cwd=tmp_path
    )
