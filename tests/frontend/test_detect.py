"""Regions that nobody marked: what is found, what is left alone, and what is asked before it runs."""

from __future__ import annotations

import ctypes
import subprocess
from itertools import pairwise
from pathlib import Path

import islpy as isl
import pytest

from polyc.cli.run import no_gain
from polyc.codegen import render_file
from polyc.errors import UserError
from polyc.explain.facts.statements import text_of
from polyc.frontend import read
from polyc.model.program import InputOptions, Options
from polyc.model.scop import Source
from polyc.pipeline import compile_region


def found_in(text: str, folder: Path, **inputs: bool) -> Source:
    file = folder / "t.c"
    file.write_text(text)
    return read(str(file), InputOptions(detect=True, **inputs))


def lines(source: Source) -> list[tuple[int, int]]:
    """First and last line of each region."""
    return [(region.scop.span.line, region.scop.end_line) for region in source.regions]


def reasons(source: Source) -> list[str]:
    return [one.message.partition("stays as it is: ")[2] for one in source.left]


LOOP = "for (int i = 0; i < n; i++) a[i] = b[i] + 1;"


def test_neighbours_are_one_region(tmp_path: Path) -> None:
    text = f"void f(int n, double *restrict a, double *restrict b)\n{{\n {LOOP}\n {LOOP}\n}}\n"
    source = found_in(text, tmp_path)
    assert lines(source) == [(3, 4)]
    assert source.left == ()
    assert source.text[source.regions[0].start : source.regions[0].end] == f" {LOOP}\n {LOOP}\n"


@pytest.mark.parametrize(
    ("between", "reason"),
    [
        ("g();", None),
        ("return;", None),
        ("n = n / 2;", None),
        ('__asm__("");', "its function uses '__asm__'"),
        ("for (int k = 0; k < n; k++) g();", "'g' is called, which may have side effects"),
        ("while (a[0] < 3) for (int k = 0; k < n; k++) a[0] += g2(k);", "'g2' is called, which may have side effects"),
        ("if (a[0]) goto out; out: ;", None),
        ("__typeof__(a[0]) t = 1;", "its function uses a type that is found out"),
        ("#pragma omp parallel for\n for (int k = 0; k < n; k++) a[k] = 1;", "its function has pragmas of its own"),
        ("#pragma GCC diagnostic push\n for (int k = 0; k < n; k++) a[k] = 1;", "it has a pragma of its own"),
    ],
)
def test_what_stands_between_ends_a_region(between: str, reason: str | None, tmp_path: Path) -> None:
    head = "void g(void); int g2(int);\nvoid f(int n, double *restrict a, double *restrict b)\n{\n"
    source = found_in(f"{head} {LOOP}\n {between}\n {LOOP}\n}}\n", tmp_path)
    told = reasons(source)
    if reason is None:
        assert len(source.regions) == 2
        assert told == []
        return
    assert told
    assert told[0].startswith(reason)
    assert len(source.regions) == (0 if "function" in reason and "called" not in reason else 2)


@pytest.mark.parametrize(
    ("loop", "count"),
    [
        ("for (int i = 0; i < 999; i++) { a[i] = b[i] + 1; b[i] = 2; }", 999),
        ("for (int i = 0; i < 20; i++) { b[i] = 0; for (int j = 0; j < 30; j++) b[i] += a[j]; }", 600),
        ("for (int i = 0; i < 20; i++) { a[i] = 0; } for (int i = 0; i < 30; i++) b[i] = 1;", 50),
    ],
)
def test_iterations_are_counted_not_statements(loop: str, count: int, tmp_path: Path) -> None:
    text = f"void f(double *restrict a, double *restrict b)\n{{\n {loop}\n}}\n"
    assert f"it has {count} iterations only: nothing would be gained" in reasons(found_in(text, tmp_path))


def test_a_table_does_not_make_a_function_large(tmp_path: Path) -> None:
    table = "static const int t[][2] = {" + "{1, 2}, " * 15_000 + "};"
    head = "void f(int n, double *restrict a, double *restrict b)\n{\n"
    assert len(table) > 100_000
    assert lines(found_in(f"{head} {table}\n {LOOP}\n}}\n", tmp_path)) == [(4, 4)]
    statements = "n = n + 1;" * 15_000
    assert reasons(found_in(f"{head} {statements}\n {LOOP}\n}}\n", tmp_path)) == [
        "its function is too large to be searched"
    ]


@pytest.mark.parametrize(
    ("loop", "cut"),
    [
        (f"int x = 0; {LOOP} g2(x);", ("int x = 0;", "g2(x);")),
        (f"g(); {LOOP}", ("g();", "\n")),
        (f"G {LOOP}", ("G", "\n")),
        (f"{LOOP} /* G */ g(); // and more", ("\n", "/* G */ g(); // and more")),
        (f"if (n > 1) {{ {LOOP} }} else g();", ("if (n > 1) {", "} else g();")),
        (f"{LOOP} G", ("\n", "G")),
        (f"OF(for (;;) g();) {LOOP}", ("OF(for (;;) g();)", "\n")),
        ("for (int i = 0; i < n; i++) SET(a, i);", ("\n", "\n")),
        ("for (int i = 0; i < n; i++) SET(a, i); ;", ("\n", "\n")),
        ("if (n > 1) for (int i = 0; i < n; i++) SET(a, i);", ("\n", "\n")),
        ("G for (int i = 0; i < n; i++) SET(a, i);", ("G", "\n")),
    ],
)
def test_a_part_of_a_line(loop: str, cut: tuple[str, str], tmp_path: Path) -> None:
    head = (
        "void g(void), g2(int);\n#define G g();\n#define OF(x) x\n#define SET(a, i) { a[i] = b[i] + 1; }\n"
        "void f(int n, double *restrict a, double *restrict b)\n{\n"
    )
    source = found_in(f"{head} {loop}\n}}\n", tmp_path)
    assert lines(source) == [(7, 7)]
    assert [one for one in reasons(source) if "';'" not in one and "'g'" not in one and "condition" not in one] == []
    (region,) = source.regions
    assert source.text[: region.start].endswith(cut[0])
    assert source.text[region.end :].startswith(cut[1].strip())


@pytest.mark.parametrize("loop", ["OPEN a[i] = 0; }", f"G {LOOP} G", "LOOP SET(a, 0) G", "SET(a, 0) LOOP; SET(a, 0) G"])
def test_lines_that_are_shared_stay(loop: str, tmp_path: Path) -> None:
    macros = (
        "void g(void);\n#define G g();\n#define SET(a, i) { a[i] = 1; }\n#define OPEN for (int i = 0; i < n; i++) {\n"
        "#define LOOP for (int i = 0; i < n; i++) SET(a, i)\n"
    )
    source = found_in(f"{macros}void f(int n, double *restrict a, double *restrict b)\n{{\n {loop}\n}}\n", tmp_path)
    assert lines(source) == []
    assert reasons(source)
    assert all("macros" in reason for reason in reasons(source))


@pytest.mark.parametrize(
    "text",
    [
        f"a[0] = 2; {LOOP}",
        f"{LOOP} {LOOP}",
        f"{LOOP} b[0] = 1;",
        f"int x = 0; {LOOP}",
        f"{LOOP} for (int i = 0; i < n; i++)\n a[i] = 2; {LOOP}",
        "for (int i = 0; i < n; i++) { a[i] = b[i]; } for (int j = 0; j < n; j++) a[j] = 1;",
    ],
)
def test_statements_on_one_line_are_one_region(text: str, tmp_path: Path) -> None:
    source = found_in(f"void f(int n, double *restrict a, double *restrict b)\n{{\n {text}\n}}\n", tmp_path)
    assert lines(source) == [(3, 3 + text.count("\n"))]
    assert reasons(source) == []


def test_a_whole_condition_is_decided(tmp_path: Path) -> None:
    text = (
        "void f(int n, double *restrict a)\n{\n    for (int i = 0; i < n; i++) {\n#ifdef X\n        a[i] = 1 {;\n"
        "#  if X > 2\n#  endif\n#elif !defined Y /* } */\n        a[i] = 2;\n#else\n        (((\n#endif\n    }\n}\n"
    )
    source = found_in(text, tmp_path)
    assert lines(source) == [(3, 13)]
    (region,) = source.regions
    assert [statement.text for statement in region.scop.statements.values()] == ["a[i] = 2;"]
    (note,) = [note for note in region.scop.notes if note.code == "decided-condition"]
    assert note.span is not None
    assert (note.span.line, note.span.column, note.span.length) == (4, 1, 3)


@pytest.mark.parametrize(
    "text",
    [
        "#ifdef X\n#error no\n#else\n a[i] = 2;\n#endif",
        "#if 1\n a[i] = 2;\n#else\n#error that's \\\n  not it\n#endif",
        '#if 1\n a[i] = 2;\n#else\n#define Y 2\n#include "none.h"\n#  if X\n#    undef Z\n#  endif\n#endif',
        "#ifdef X\n#  define Y 2\n#elif 1\n a[i] = 2;\n#endif",
        " a[i] = 2;\n#ifdef X\n#  error no\n#endif",
    ],
)
def test_directives_of_branches_that_are_not_chosen(text: str, tmp_path: Path) -> None:
    loop = f"for (int i = 0; i < n; i++) {{\n{text}\n }}"
    source = found_in(f"void f(int n, double *restrict a)\n{{\n {loop}\n}}\n", tmp_path)
    assert lines(source) == [(3, 3 + loop.count("\n"))]
    assert [statement.text for statement in source.regions[0].scop.statements.values()] == ["a[i] = 2;"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("for (int i = 0; i < n; i++) {\n#if 1\n#define X 1\n a[i] = X;\n#endif\n }", "'#define' stands in it"),
        ("for (int i = 0; i < n; i++) {\n#if 1\n#define X 1\n#endif\n a[i] = X;\n }", "'#define' stands in it"),
        ("for (int i = 0; i < n; i++) {\n#if 1\n a[i] = 1;\n#if 1\n#undef X\n#endif\n#endif\n }", "'#undef' stands"),
        ("for (int i = 0; i < n; i++) {\n#define X 1\n a[i] = X;\n }", "'#define' stands in it"),
        ("for (int i = 0; i < n; i++) {\n#undef X\n a[i] = 1;\n }", "'#undef' stands in it"),
        ("for (int i = 0; i < n; i++) {\n%:ifdef X\n%:endif\n a[i] = 1;\n }", "stands in it"),
        (
            "#ifdef X\n for (int i = 0; i < 2; i++)\n#else\n for (int i = 0; i < n; i++)\n#endif\n a[i] = 1;",
            "an '#endif' in it belongs to a condition that begins before it",
        ),
        ("for (int i = 0; i < n; i++)\n#ifndef X\n a[i] = 1;\n#else\n a[i] = 2;\n#endif", "a condition ('#if')"),
    ],
)
def test_directives_that_are_no_whole_condition_stay(text: str, reason: str, tmp_path: Path) -> None:
    source = found_in(f"void f(int n, double *restrict a)\n{{\n {text}\n}}\n", tmp_path)
    assert lines(source) == []
    assert [one for one in reasons(source) if reason in one], reasons(source)


def test_an_argument_of_a_macro_on_the_next_line_belongs_to_the_region(tmp_path: Path) -> None:
    text = (
        "#define MAX(a, b) ((a) > (b) ? (a) : (b))\n"
        "void f(int n, double *restrict a, const double *b)\n{\n"
        "    for (int i = 0; i < n; i++)\n        a[i] = MAX(b[i],\n                   0);\n    a[0] = 1;\n}\n"
    )
    source = found_in(text, tmp_path)
    assert lines(source) == [(4, 6)]


def test_statements_of_which_macros_have_a_part_are_told_as_they_are_modelled(tmp_path: Path) -> None:
    text = (
        "#define SET(a, b) { a[i] = b[i]; }\n#define SUM(x, y, z) x += y * \\\n z\n"
        "#define MAX(a, b) ((a) > (b) ? (a) : (b))\n"
        "void f(int n, double *restrict a, double *restrict b)\n{\n"
        "    for (int i = 0; i < n; i++) SET(a, b);\n    for (int i = 0; i < n; i++) SUM(b[i], a[i], 3);\n"
        "    for (int i = 0; i < n; i++) {\n        SUM(b[i],\n            a[i],\n            2);\n"
        "        a[i] = MAX(a[i], 0) / /* no */ 2;\n    }\n}\n"
    )
    source = found_in(text, tmp_path)
    (region,) = source.regions
    told = [text_of(statement) for statement in region.scop.statements.values()]
    assert told == ["a[i] = b[i];", "b[i] += a[i] * 3;", "b[i] += a[i] * 2;", "a[i] = MAX(a[i], 0) / 2;"]


def test_a_function_with_a_marked_region_is_not_searched(tmp_path: Path) -> None:
    text = (
        f"void f(int n, double *a, double *b)\n{{\n#pragma scop\n {LOOP}\n#pragma endscop\n {LOOP}\n}}\n"
        f"void g(int n, double *restrict a, double *b)\n{{\n {LOOP}\n}}\n"
    )
    assert [region.scop.function for region in found_in(text, tmp_path).regions] == ["f", "g"]


def test_a_file_with_lines_of_others_is_not_searched(tmp_path: Path) -> None:
    source = found_in(f'#line 7 "x.y"\nvoid f(int n, double *restrict a, double *b)\n{{\n {LOOP}\n}}\n', tmp_path)
    assert source.regions == ()
    assert "#line" in source.left[0].message


def test_what_is_read_afterwards_is_kept(tmp_path: Path) -> None:
    text = (
        "double f(int n, const double *b)\n{\n    double a[100], c[100], s = 0;\n    int i, k;\n"
        "    for (i = 0; i < 100; i++)\n        a[i] = b[i], c[i] = 2 * b[i];\n"
        "    for (k = 0; k < 100; k++)\n        s += c[k];\n    return s + i + a[n];\n}\n"
    )
    (region,) = found_in(text, tmp_path).regions if lines(found_in(text, tmp_path)) else [None]
    assert region is None  # too few iterations
    (region,) = found_in(text.replace("100", "10000"), tmp_path).regions
    assert sorted(region.scop.live_out) == ["a", "i", "s"]


@pytest.mark.parametrize(
    ("arguments", "body", "pairs"),
    [
        ("double *a, double *b", "a[i] = b[i];", 1),
        ("double *restrict a, double *b", "a[i] = b[i];", 0),
        ("double *a, double *b", "s[i] = a[i] + b[i];", 2),
        ("double *a, double *b, double *c", "a[i] = b[i] + c[i];", 2),
        ("double *a", "a[i] = count;", 1),
        ("struct v *v, double *a", "a[i] = v->n;", 1),
        ("double *a", "s[i] = t[i] + a[i];", 1),
        ("double *a", "a[i] = own[i];", 0),
        ("double *a", "heap[i] = a[i];", 0),
        ("double *a", "moved[i] = a[i];", 1),
        ("double *a", "told[i] = a[i];", 1),
    ],
)
def test_what_might_overlap_is_asked(arguments: str, body: str, pairs: int, tmp_path: Path) -> None:
    text = (
        "#include <stdlib.h>\ndouble s[9999], t[9999], *tell(double *);\nint count;\nstruct v { int n; };\n"
        f"void f(int n, {arguments})\n{{\n    double own[9999];\n    own[0] = n;\n"
        "    double *heap = (double *)malloc(8 * n), *moved = malloc(8), *told = malloc(8);\n"
        "    moved = tell(told);\n"
        f"    for (int i = 0; i < n; i++)\n        {body}\n}}\n"
    )
    (region,) = found_in(text, tmp_path).regions
    assert len(region.scop.apart) == pairs
    (region,) = found_in(text, tmp_path, alias=False).regions
    assert region.scop.apart == ()


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("for (int i = 0; i < n; i++)\n a[b[i]] = b[i + 1] = i;", "'b' decides it, which the region writes"),
        (
            "for (int i = 0; i < n; i++)\n for (int j = 0; j < n; j++)\n odd[i][1][j] = b[i];",
            "are pointers to pointers",
        ),
        ("for (int i = 0; i < n; i++)\n if (b[i])\n for (int j = 0; j < n; j++)\n rows[i][j] = 0;", "depends on data"),
        ("for (int i = 0; i < n; i++)\n a[i] = b[i] ? rows[i][0] : 1;", "depends on data"),
        ("for (int i = 0; i < n; i++)\n a[i] = b[i] ? rows[i][0] : rows[i + 1][0];", "depends on data"),
        ("for (int i = 0; i < n; i++)\n if (b[i]) a[i] = rows[i][0]; else a[i] = 1;", "depends on data"),
        ("for (int i = 0; i < n; i++)\n for (int j = 0; j < n; j++)\n rows[2 * i][j] = 0;", "not all rows of 'rows'"),
        ("for (seen = 0; seen < n; seen++)\n b[seen] = 1;", "the loop variable 'seen' can be changed"),
        ("for (int i = 0; i < 900; i++)\n M[0][i] = i;", "may leave its row"),
    ],
)
def test_what_cannot_be_asked_stays(body: str, reason: str, tmp_path: Path) -> None:
    arguments = "int n, double *a, int *b, double **rows, double *(*odd)[4]"
    text = f"int seen; double M[30][30];\nvoid f({arguments})\n{{\n {body}\n}}\n"
    source = found_in(text, tmp_path)
    assert 4 not in [first for first, _ in lines(source)]  # inner loops may be regions
    assert reason in reasons(source)[0]


@pytest.mark.parametrize(
    ("arguments", "row", "assumed"),
    [
        ("int n, int m", "m - 4", "n <= -2 + m"),
        ("int n, unsigned long m", "m - 4", "n <= -2 + m"),  # the length wraps for m < 4
        ("unsigned long n, unsigned long m", "m - 4", "2 <= n <= -2 + m"),
        ("int n, unsigned long m", "n * m", "n <= 2 + n_m"),
        ("int n, double m", "(unsigned long)m", None),
    ],
)
def test_rows_whose_lengths_are_differences(arguments: str, row: str, assumed: str | None, tmp_path: Path) -> None:
    """Whether subscripts stay in rows is asked, or the loops are left as they are where nobody can ask."""
    text = (
        f"void f({arguments}, double (*a)[{row}])\n{{\n    for (int i = 0; i < 200; i++)\n"
        f"        for (int j = 0; j < n - 2; j++)\n            a[i][j] = i + j;\n}}\n"
    )
    source = found_in(text, tmp_path)
    if assumed is None:
        assert source.regions == ()
        assert set(reasons(source)) == {"polyc cannot tell how long the rows of 'a' are [may-overlap]"}
        return
    (region,) = source.regions
    (note,) = [note.message for note in region.scop.notes if note.code == "assumed"]
    assert note == f"compiled for parameters with {assumed}; others run the original code"


OVERLAPPING = """
void smooth(int n, double *out, double *in)
{
    for (int i = 1; i < n - 1; i++)
        out[i] = (in[i - 1] + in[i] + in[i + 1]) / 3;
}
int bound = 200;
void fill(int *a)
{
    for (int i = 0; i < bound; i++)
        a[i] = 40;
}
"""


@pytest.mark.parametrize(("count", "regions"), [(8, 1), (120, 2)])
def test_many_arrays_are_sorted_and_too_many_cut_in_two(count: int, regions: int, tmp_path: Path) -> None:
    names = [f"x{k}" for k in range(count)]
    loops = "\n".join(f" for (int i = 0; i < n; i++)\n {x}[i] = {y}[i] + 1;" for x, y in pairwise(names))
    arguments = ", ".join(f"double *{name}" for name in names)
    source = found_in(f"void f(int n, {arguments})\n{{\n{loops}\n}}\n", tmp_path)
    assert len(source.regions) == regions
    assert all(region.scop.sorts_memories for region in source.regions)
    assert source.left == ()


def test_memory_that_overlaps_gets_the_loops_as_they_were(tmp_path: Path) -> None:
    source = found_in(OVERLAPPING, tmp_path)
    assert len(source.regions) == 2
    options = Options(threads="always")
    text = render_file(source, [compile_region(region, options) for region in source.regions])
    assert "polyc_apart" in text
    results = []
    for name, code in (("plain", OVERLAPPING), ("polyc", text)):
        file = tmp_path / f"{name}.c"
        file.write_text(code)
        library = tmp_path / f"{name}.so"
        subprocess.run(["gcc", "-O2", "-fopenmp", "-shared", "-fPIC", str(file), "-o", str(library)], check=True)
        built = ctypes.CDLL(str(library))
        memory = (ctypes.c_double * 500)(*[k * k % 97 for k in range(500)])
        for shift in (0, 1, 7, 250):
            built.smooth(250, ctypes.byref(memory, 8 * shift), memory)
        place = ctypes.c_int.in_dll(built, "bound")
        built.fill(ctypes.byref(place))
        results.append((list(memory), place.value))
    assert results[0] == results[1]


def test_what_gains_nothing_stays(tmp_path: Path) -> None:
    file = tmp_path / "t.c"
    file.write_text(
        "double last(int n, const double *a)\n{\n    double s = 0;\n    for (int i = 0; i < n; i++)\n"
        "        s = s * 0.5 + a[i];\n    return s;\n}\n"
    )
    source = read(str(file), InputOptions(detect=True), judge=lambda region: no_gain(compile_region(region, Options())))
    assert source.regions == ()
    assert reasons(source)[0].startswith("nothing would be gained")


SHARED = """#define SCALE 3
static int twice(int x) { return 2 * x; }
void mix(int n, double *restrict a, double *restrict b)
{
    a[0] = 7; for (int i = 1; i < n; i++) a[i] = b[i] + SCALE; for (int i = 1; i < n; i++) b[i] = a[i - 1] * a[i];
    for (int i = 0; i < n; i++) {
#ifdef HALVES
        a[i] = a[i] / 2 {;
#elif SCALE > 2 /* } */
        a[i] = a[i] * 2 + b[i];
#endif
    }
    int k = twice(n); for (int i = 0; i < n; i++) b[i] += k;
#ifdef HALVES
    for (int i = 0; i < n / 2; i++)
#else
    for (int i = 0; i < n; i++)
#endif
        b[i] -= a[i];
}
"""


def test_what_shares_lines_computes_the_same(tmp_path: Path) -> None:
    source = found_in(SHARED, tmp_path)
    assert [line for line, _ in lines(source)] == [5]
    compiled = [compile_region(region, Options()) for region in source.regions]
    texts = {"before": source.text, "after": render_file(source, compiled)}
    seen = []
    for name, text in texts.items():
        file, library = tmp_path / f"{name}.c", tmp_path / f"{name}.so"
        file.write_text(text)
        subprocess.run(["gcc", "-O2", "-fopenmp", "-shared", "-fPIC", str(file), "-o", str(library)], check=True)
        arrays = [(ctypes.c_double * 3000)(*[(k * step) % 97 for k in range(3000)]) for step in (3, 5)]
        ctypes.CDLL(str(library)).mix(3000, *arrays)
        seen.append([list(array) for array in arrays])
    assert seen[0] == seen[1]


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ('"ACGT"[i % 4]', 'polyc does not follow elements of a string without a name: "ACGT"'),
        ("table()[i % 4]", "polyc cannot tell what the result of 'table' refers to"),
    ],
)
def test_what_has_no_name_is_told(value: str, reason: str, tmp_path: Path) -> None:
    text = "__attribute__((const)) const char *table(void);\n#pragma polyc pure(table)\n"
    text += f"void f(int n, char *restrict a)\n{{\n    for (int i = 0; i < n; i++)\n        a[i] = {value};\n}}\n"
    assert any(reason in one for one in reasons(found_in(text, tmp_path)))


def test_an_array_of_a_function_that_has_more_lines_than_its_caller(tmp_path: Path) -> None:
    helper = "static void turn(double *t)\n{\n    double x[4];\n" + "".join(
        f"    for (int i = 0; i < 4; i++)\n        {body}\n" for body in ("x[i] = t[3 - i];", "t[i] = x[i];")
    )
    source = found_in(
        f"{helper}}}\nvoid f(double *a, int n) {{ for (int i = 0; i < n; i++) turn(a + 4 * i); }}\n", tmp_path
    )
    assert lines(source) == [(9, 9)]


def test_a_struct_with_named_values_whose_pointers_are_given_memory(tmp_path: Path) -> None:
    text = (
        "#include <stdlib.h>\nstruct two { int n; float *x, *y; };\nfloat f(void)\n{\n"
        "    struct two p = { .n = 20000 };\n"
        "    p.x = calloc(p.n, sizeof(float));\n    p.y = calloc(p.n, sizeof(float));\n#pragma scop\n"
        "    for (int i = 0; i < p.n; i++)\n        p.x[i] = 2 * p.y[i];\n#pragma endscop\n    return p.x[3];\n}\n"
    )
    (region,) = found_in(text, tmp_path).regions
    assert set(region.scop.statements) == {"S0"}


def test_the_reason_of_a_loop_that_is_kept_whole(tmp_path: Path) -> None:
    """And not what is assumed of the sizes for the loop behind it."""
    file = tmp_path / "t.c"
    file.write_text("""#include <stddef.h>
void f(size_t n, char *restrict a, char *restrict b)
{
    for (size_t i = n - 1; i < n; i--)
        a[i] = b[i] + 1;
    for (unsigned i = 0; i != n; ++i)
        a[i] = b[i] * 3;
}
""")
    source = read(str(file), InputOptions(detect=True))
    assert [one.message.partition("as it is: ")[2] for one in source.left] == [
        "the loop's condition does not end it: it is kept whole as one statement"
    ]


def test_a_counter_that_two_regions_share_is_mentioned_by_the_last(tmp_path: Path) -> None:
    """Both have counters of their own in its place, so that compilers would warn of it."""
    text = """
void kernel(int n, double *b, double (*c)[n], double *z)
{
    static double a[29];
    int i, j;
    for (i = 0; i < n; i++) {
        a[(i * i + 3) % 7] = a[i + 2] * 0.25;
        z[0] += z[i * i];
        for (j = 0; j < n; j++)
            a[i + 2 + j * 3] = b[i + 1];
    }
    for (i = 0; i < n; i++) {
        z[0] += z[i * i];
        for (j = 0; j < n; j++)
            c[i][j] = 0.3;
    }
}
"""
    source = found_in(text, tmp_path)
    assert ["j" in region.scop.orphans for region in source.regions] == [False, True]


@pytest.mark.parametrize(
    ("promise", "wrong"),
    [
        ({"params": (("n", 2000),)}, {"params": (("nn", 2000),)}),
        ({"assume": ("n >= 100",)}, {"assume": ("k >= 100",)}),
        ({"live_out": ("a",)}, {"live_out": ("d",)}),
    ],
)
def test_promises_about_what_is_found(promise: dict[str, object], wrong: dict[str, object], tmp_path: Path) -> None:
    """Their names are looked up once the regions are found."""
    file = tmp_path / "t.c"
    file.write_text(f"void f(int n, double *restrict a, double *restrict b)\n{{\n {LOOP}\n}}\n")
    assert lines(read(str(file), InputOptions(detect=True, **promise))) == [(3, 3)]  # type: ignore[arg-type]
    with pytest.raises(UserError):
        read(str(file), InputOptions(detect=True, **wrong))  # type: ignore[arg-type]


def test_guards_do_not_tell_apart_which_loops_have_iterations(tmp_path: Path) -> None:
    """Each bound of five loops would be asked for but where one of the other loops never runs: twenty cases."""
    nests = "".join(
        f"""
    for (i = ist; i <= iend; i++)
        for (j = jst; j <= jend; j++)
            for (k = 1; k <= nz - 2; k++)
                for (m = 0; m < 5; m++)
                    u[i][j][k][m] += 2 * u[i + {di}][j - 1][k + {dk}][m];"""
        for di, dk in ((0, 1), (1, 1), (1, 0))
    )
    head = "double u[13][13][13][5];\nint ist, iend, jst, jend, nz;\nvoid f(void)\n{\n    int i, j, k, m;"
    (region,) = found_in(f"{head}{nests}\n}}\n", tmp_path).regions
    wanted = isl.Set("[jst, jend, nz] -> { : 1 <= jst and jend <= 12 and nz <= 13 }")
    assert region.scop.assumed.intersect_params(region.scop.context).is_equal(wanted.intersect(region.scop.context))
