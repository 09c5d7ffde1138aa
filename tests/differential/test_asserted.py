"""Assertions, and branches that end the program: conditions of the sizes, without which the original loops run."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyc.codegen import render_file
from polyc.errors import UserError
from polyc.frontend import read
from polyc.model.program import InputOptions, Options
from polyc.pipeline import compile_region
from tests.programs import region_of, run_alike

TEXT = """#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
typedef struct { int w, h, c; float *data; } image;
static float get_pixel(image m, int x, int y, int c)
{
    assert(x < m.w && y < m.h && c < m.c);
    return m.data[c*m.h*m.w + y*m.w + x];
}
static float get_pixel_extend(image m, int x, int y, int c)
{
    if (x < 0 || x >= m.w || y < 0 || y >= m.h) return 0;
    return get_pixel(m, x, y, c);
}
static void set_pixel(image m, int x, int y, int c, float val)
{
    if (x < 0 || y < 0 || c < 0 || x >= m.w || y >= m.h || c >= m.c) return;
    assert(x < m.w && y < m.h && c < m.c);
    m.data[c*m.h*m.w + y*m.w + x] = val;
}
void gray(image a, image b)
{
    int i, j;
    for (j = 0; j < a.h; ++j)
        for (i = 0; i < a.w; ++i)
            set_pixel(b, i, j, 0, .3f*get_pixel(a, i, j, 0) + .6f*get_pixel(a, i, j, 1) + .1f*get_pixel(a, i, j, 2));
}
void moved(image a, image b, int dx)
{
    for (int j = 0; j < a.h; ++j)
        for (int i = 0; i < a.w; ++i)
            set_pixel(b, i, j, 0, get_pixel_extend(a, i + dx, j + dx, 0));
}
void scale(int n, int m, float *a, float s)
{
    for (int i = 0; i < n; i++) {
        assert(i < m);
        a[i] *= s;
    }
}
void copy(int n, const float *b, float *a, int m)
{
    for (int i = 0; i < n; i++) {
        if (i >= m) {
            printf("%d of %d\\n", i, m);
            exit(3);
        } else
            a[i] = b[i] * 2;
    }
}
static int at(int i, int n)
{
    assert(i >= 0);
    assert(i < n);
    return n - 1 - i;
}
void turn(int n, int m, const float *b, float *a)
{
    for (int i = 0; i < n; i++)
        a[i] = b[at(i, m)];
}
static float pool[40000];
int main(int count, char **words)
{
    int n = atoi(words[1]), m = atoi(words[2]), way = atoi(words[3]);
    for (int i = 0; i < 40000; i++) pool[i] = i * 7 % 31;
    image a = {n, 30, 3, pool}, b = {m, 20 + m % 20, way == 5 ? 0 : 1, pool + (way == 6 ? 40 : 20000)};
    if (way == 0) scale(n, m, pool, 3);
    if (way == 1) copy(n, pool + 100, pool + (n > 50 ? 90 : 200), m);
    if (way == 2) turn(n, m, pool + 100, pool + 200);
    if (way >= 3) gray(a, b);
    if (way == 4) moved(a, b, m - n);
    double sum = 0;
    for (int i = 0; i < 40000; i++) sum += pool[i] * (i % 97 + 1);
    printf("%.17g\\n", sum);
    return 0;
}
"""
INPUTS = [(n, m, str(way)) for n, m in (("40", "40"), ("60", "61"), ("33", "32"), ("0", "7")) for way in range(7)]


@pytest.mark.parametrize("standard", ["gnu11", "c99"])
def test_the_program_ends_where_it_did(standard: str, tmp_path: Path) -> None:
    file = tmp_path / "t.c"
    file.write_text(TEXT)
    source = read(str(file), InputOptions(detect=True, flags=(f"-std={standard}",)))
    regions = [compile_region(region, Options(threads="always", tile_sizes=None)) for region in source.regions]
    found = {region.program.scop.function for region in regions}
    assert found >= {"gray", "moved", "scale", "copy", "turn"}
    for region in regions:
        assert region.certificate is not None
        assert (region.certificate.tree, region.certificate.text) == ("shown", "shown")
        assert "assert" not in region.in_file.partition("as it was written")[0]
    run_alike(TEXT, render_file(source, regions), tmp_path, INPUTS)


STEPS = """#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static void f(int n, int m, int s, const int *k, double *a)
{
#pragma scop
    for (int i = START; i < n; i += s) {
        assert(CONDITION);
        a[k[i]] += i;
    }
#pragma endscop
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]), m = atoi(argv[2]), k[100];
    double a[100], sum = 0;
    for (int i = 0; i < 100; i++)
        a[i] = i, k[i] = i * 7 % 100;
    CALLS
    for (int i = 0; i < 100; i++)
        sum += a[i] * (i % 97 + 1);
    printf("%d %.17g\\n", argc, sum);
    return 0;
}
"""


@pytest.mark.parametrize(
    ("start", "condition", "calls"),
    [
        ("0", "i <= m", "f(n, m, argc, k, a);"),
        ("0", "i < m + 1", "f(n, m, 3, k, a); f(n, m, 4, k, a);"),
        ("0", "m >= i", "f(n, m, argc, k, a);"),
        ("argc", "m + argc > i - 1 && 5 + i >= argc", "f(n, m, argc, k, a);"),
        ("0", "i + s <= m + s && !(i < 0)", "f(n, m, 3, k, a);"),
        ("argc", "m < 96 || argc - i <= 0", "f(n, m, argc, k, a);"),
    ],
)
def test_steps_of_which_nobody_knows_the_value(start: str, condition: str, calls: str, tmp_path: Path) -> None:
    """The last value decides, or what is asserted of larger ones."""
    text = STEPS.replace("START", start).replace("CONDITION", condition).replace("CALLS", calls)
    text = text.replace("int s, const int *k", "int s, int argc, const int *k").replace(", k, a)", ", argc, k, a)")
    (tmp_path / "t.c").write_text(text)
    source = read(str(tmp_path / "t.c"), InputOptions())
    regions = [compile_region(region, Options(threads="always")) for region in source.regions]
    assert all(region.verified for region in regions)
    inputs = [("100", "99"), ("100", "96"), ("100", "95"), ("100", "5"), ("0", "-7"), ("50", "48"), ("50", "47")]
    run_alike(text, render_file(source, regions), tmp_path, inputs)


def test_what_data_decide_is_refused(tmp_path: Path) -> None:
    text = """#include <assert.h>
void f(int n, double *a)
{
#pragma scop
    for (int i = 0; i < n; i++) {
        assert(a[i] > 0);
        a[i] = 1 / a[i];
    }
#pragma endscop
}
"""
    with pytest.raises(UserError, match="nobody knows before the loops run whether what is asserted holds") as error:
        region_of(text, tmp_path)
    (problem,) = error.value.diagnostics
    assert problem.code == "asserted"
    assert problem.span is not None
    assert (problem.span.line, "NDEBUG" in problem.hint) == (6, True)


def test_what_data_decide_stays_in_a_loop_that_nobody_marked(tmp_path: Path) -> None:
    file = tmp_path / "t.c"
    file.write_text("""#include <stdlib.h>
void f(int n, double *a, const int *list)
{
    for (int i = 0; i < n; i++) {
        if (list[i] >= n)
            abort();
        a[list[i]] = 1;
    }
}
""")
    assert not read(str(file), InputOptions(detect=True)).regions


def test_nothing_is_left_of_what_is_asserted_in_a_statement_that_is_kept_whole(tmp_path: Path) -> None:
    """Compilers warn of `0;`."""
    text = """#include <assert.h>
void f(int n, int m, const int *restrict k, double *restrict a)
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = k[i]; j < k[i + 1]; j++) {
            assert(n < m);
            a[i] += j;
        }
#pragma endscop
}
"""
    result = compile_region(region_of(text, tmp_path), Options())
    assert result.verified
    assert "0;" not in [line.strip() for line in result.text.split("\n")]


ENDS_BESIDE_POINTERS = """#include <stdio.h>
#include <stdlib.h>
struct view { double *at; int w; };
static double seen[40];
static void last(void)
{
    double sum = 0;
    for (int i = 0; i < 40; i++)
        sum += seen[i] * (i % 7 + 1);
    printf("%.17g\\n", sum);
}
static void f(int n, int m, const struct view *v, const double *x)
{
#pragma scop
    for (int i = 0; i < n; i++) {
        double *row = v->at + i * v->w;
        for (int j = 0; j < 4; j++) {
            if (i > m)
                abort();
            row[j] = v->at[(i * v->w) + j] + 2 * x[j];
        }
        if (x[i] > 8)
            exit(3);
    }
#pragma endscop
}
int main(int argc, char **argv)
{
    double x[10];
    for (int i = 0; i < 10; i++)
        x[i] = i + argc - 3;
    struct view v = {seen, 4};
    atexit(last);
    f(atoi(argv[1]), atoi(argv[2]), &v, x);
    return 0;
}
"""


def test_what_ends_the_program_moves_no_pointer(tmp_path: Path) -> None:
    (tmp_path / "t.c").write_text(ENDS_BESIDE_POINTERS)
    source = read(str(tmp_path / "t.c"), InputOptions())
    regions = [compile_region(region, Options(threads="always")) for region in source.regions]
    assert all(region.verified for region in regions)
    run_alike(ENDS_BESIDE_POINTERS, render_file(source, regions), tmp_path, [("9", "9"), ("10", "10"), ("5", "3")])
