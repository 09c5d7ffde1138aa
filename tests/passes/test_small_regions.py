"""Parallel loops that are too small for threads: always, never, or as a run finds out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from polyc.codegen import render_file
from polyc.frontend import read
from polyc.model.program import InputOptions, Options
from polyc.pipeline import compile_region
from polyc.runtime.csource import with_all_threads
from tests.programs import compiled

NEST = """
void f(int n, int m, int t, double A[ROWS][COLUMNS], const double B[ROWS][COLUMNS])
{
#pragma scop
    AROUND
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            A[i][j] = A[i][j] * 0.5 + B[i][j];
#pragma endscop
}
"""
CASES = {
    "unknown": ("n", "m", "", ["if (polyc_threads(1.0 * n * m > 44000)) {", "#pragma omp parallel for"]),
    "one unknown": ("n", "100", "", ["if (polyc_threads(n > 440)) {", "#pragma omp parallel for"]),
    "around steps": (
        "n",
        "m",
        "for (int s = 0; s < t; s++)",
        ["#pragma omp parallel for if (1.0 * t * n * m > 12000)"],
    ),
    "small": ("20", "30", "", []),
    "large": ("200", "300", "", ["#pragma omp parallel for"]),
}


@pytest.mark.parametrize("name", CASES)
def test_threads_start_where_they_save_time(name: str, tmp_path: Path) -> None:
    rows, columns, around, wanted = CASES[name]
    text = NEST.replace("ROWS", rows).replace("COLUMNS", columns).replace("AROUND", around)
    found = compiled(text, tmp_path, time_tile=("none", ()))
    assert found.verified
    asked = ("#pragma omp parallel", "if (polyc_threads(")
    assert [line.strip() for line in found.text.splitlines() if line.strip().startswith(asked)] == wanted
    told = [remark.code for remark in found.program.remarks]
    assert ("small-region" in told) == (not wanted)
    always = compiled(text, tmp_path, time_tile=("none", ()), threads="always")
    assert "#pragma omp parallel for\n" in always.text


REFLECTED = """
void f(int n, int m, double A[m][n], const double v[m], double s[n])
{
#pragma scop
    for (int k = 0; k < n; k++)
        for (int j = k + 1; j < n; j++) {
            double t = 0;
            for (int i = k + 1; i < m; i++)
                t += COLUMN * A[i][j];
            for (int i = k + 1; i < m; i++)
                A[i][j] -= t * COLUMN;
        }
#pragma endscop
}
"""


@pytest.mark.parametrize("column", ["A[i][k]", "v[i]"])
def test_a_column_that_another_core_wrote_takes_long(column: str, tmp_path: Path) -> None:
    """Threads have to have more iterations in which a line is used than it takes until the line is there."""
    text = compiled(REFLECTED.replace("COLUMN", column), tmp_path).text
    (line,) = (line for line in text.splitlines() if "#pragma omp parallel" in line)
    counts = [int(count) for count in re.findall(r"n - 1 > (\d+)", line)]
    assert (max(counts, default=0) > 600) == (column == "A[i][k]")


STEPS = """
void f(int n, int t, double A[n][n], double B[n][n])
{
#pragma scop
    for (int s = 0; s < t; s++) {
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                A[i][j] = B[i - 1][j] + B[i + 1][j];
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                B[i][j] = A[i][j];
    }
#pragma endscop
}
"""


def test_in_each_step_what_it_has_to_do_counts(tmp_path: Path) -> None:
    found = compiled(STEPS, tmp_path, time_tile=("none", ()))
    assert found.verified
    assert "#pragma omp parallel for if (1.0 * (n - 2) * (n - 2) > 44000)" in found.text


def test_a_check_by_running_starts_all_threads() -> None:
    text = (
        "  #pragma omp parallel for if (1.0 * n * (m - 2L) > 12000) schedule(dynamic, 8)\n"
        "#pragma omp parallel for if (polyc_max(n, (m)) > 120) reduction(+: s)\n"
        "#pragma omp parallel for if (n > 120)\nfor\n#define polyc_threads(worth) (worth)\nif (polyc_threads(n > 9))\n"
    )
    wanted = (
        "  #pragma omp parallel for schedule(dynamic, 8)\n#pragma omp parallel for reduction(+: s)\n"
        "#pragma omp parallel for\nfor\n#define polyc_threads(worth) 1\nif (polyc_threads(n > 9))\n"
    )
    assert with_all_threads(text) == wanted
    tiles = "#define polyc_tiles(written, tiled) \\\n  __extension__({ 1; \\\n    (tiled) > 1; })\n"
    assert with_all_threads(tiles) == "#define polyc_tiles(written, tiled) 1\n"


def test_a_row_that_a_variable_chooses_is_one_row(tmp_path: Path) -> None:
    """All rows that `now` may mean, there is no bound to their number, would take threads for longer than they cost."""
    text = """
short a[2][1282];
void f(int now)
{
#pragma scop
    for (int x = 0; x < 1282; x++)
        a[now][x] = 0;
#pragma endscop
}
"""
    result = compiled(text, tmp_path)
    assert "omp parallel" not in result.text


LEAST = {
    "several bounds": (
        "for (int i = m; i < (n < t ? n : t); i++) a[i] = b[i] * 0.5;",
        "polyc_min((long)t - m, (long)n - m) > 44000",
    ),
    "a macro": ("for (int i = 0; i < n; i++) do { a[i] = b[i]; if (k[i]) break; b[i] = 0; } while (0);", "n > 35000"),
    "a loop that data end": (
        "for (int i = 0; i < n; i++) { double s = 0; for (int j = 0; j < k[i]; j++) s += b[j]; a[i] = s; }",
        "n > 350",
    ),
    "a function with a loop": ("for (int i = 0; i < n; i++) a[i] = price(b[i]);", "n > 37"),
    "sums of cells": ("for (int i = 0; i < n; i++) h[k[i]]++;", "n > 24000"),
}


@pytest.mark.parametrize("name", LEAST)
def test_something_is_asked_of_each_loop(name: str, tmp_path: Path) -> None:
    loop, wanted = LEAST[name]
    text = f"""
double price(double v)
{{
    for (int s = 0; v < 1e9; s++) v = v * 1.01 + s;
    return v;
}}
int h[12];
#pragma polyc pure(price)
void f(int n, int m, int t, double *a, double *b, const int *k)
{{
#pragma scop
    {loop}
#pragma endscop
}}
"""
    found = compiled(text, tmp_path)
    assert found.verified
    assert "#pragma omp parallel for" in found.text
    assert f"polyc_threads({wanted})" in found.text


def test_one_tile_is_for_one_thread(tmp_path: Path) -> None:
    """`n * m > 1000` says nothing of how many tiles there are along n alone."""
    text = """
void f(int n, int m, float a[n][256], float p[n], const float q[n], const float x[256])
{
#pragma scop
    for (int c = 0; c < n; c++) {
        for (int i = 0; i < m; i++) {
            p[c] = p[c] * q[c] + 1;
            a[c][i] = x[i] * p[c];
        }
        p[c] = p[c] / (1 + p[c]);
    }
#pragma endscop
}
"""
    found = compiled(text, tmp_path, tile_sizes=(128,))
    assert found.verified
    (line,) = [line for line in found.text.splitlines() if "parallel for" in line]
    assert line.startswith("#pragma omp parallel for if (n > 128 && 1.0 * n * m > ")


def test_a_loop_of_one_iteration_is_not_shared(tmp_path: Path) -> None:
    text = """
void f(int t, float h[16][192], float w[192][192], float z[16][192])
{
#pragma scop
    for (int s = 0; s < t; s++)
        for (int b = 0; b < 16; b++)
            for (int j = 0; j < 192; j++)
                z[b][j] = z[b][j] * 0.5f + w[j][b] * h[b][j];
#pragma endscop
}
"""
    found = compiled(text, tmp_path, tile_sizes=(32, 32, 192), time_tile=("none", ()))
    assert found.verified
    lines = found.text.splitlines()
    shared = [lines[k + 2] for k, line in enumerate(lines) if "omp parallel for" in line]
    assert not any("+= 32" in line for line in shared)


SCALARS = """
void f(int n, const float *restrict a, float *restrict b)
{
#pragma scop
    for (int i = 0; i < n; i++) {
        float t = a[i], u = t * 2;
        u = u * t + 1; u = u * u + t * t * t - u; t = u * u; u = (t - u * 3) * (t + 1) / (u * u + 2);
        b[i] = u;
    }
#pragma endscop
}
"""


def test_statements_of_scalars_have_vectors(tmp_path: Path) -> None:
    """The largest statement touches no array."""
    assert "if (polyc_threads(n > 11000) && polyc_several())" in compiled(SCALARS, tmp_path).text


STAGES = """
void f(int n, int len, float *restrict x)
{
#pragma scop
    for (int i = 0; i < n; i += 2 * len)
        for (int k = 0; k < len; k++)
            x[i + k] += x[i + len + k];
#pragma endscop
}
"""


def test_loops_in_steps_of_a_size_share_several_turns(tmp_path: Path) -> None:
    text = compiled(STAGES, tmp_path).text
    assert "+ 1L > 1 && 1.0 * " in text


PRODUCERS = """
void f(const double x[5000], double y[64])
{
#pragma scop
    for (int l = 0; l < 64; l++) {
        y[l] = 0;
        for (int i = 0; i + l < 5000; i++)
            y[l] += x[i] * x[i + l];
        y[l] /= 5000 - l;
    }
#pragma endscop
}
"""


def test_what_tiles_compute_of_other_statements_counts(tmp_path: Path) -> None:
    assert "#pragma omp parallel for" in compiled(PRODUCERS, tmp_path).text


MACROS = """
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
double floor(double);
void f(int n, double norm, const double v[n], int out[n])
{
#pragma scop
    for (int i = 0; i < n; i += STEP)
        out[i] = (int)VALUE;
#pragma endscop
}
"""


def asked_by(text: str, folder: Path) -> int:
    """The iterations, of one loop, from which on threads are started."""
    return max(map(int, re.findall(r"(?:polyc_threads|parallel for if ?)\(.*> (\d+)\)", compiled(text, folder).text)))


def test_what_macros_repeat_is_computed_once(tmp_path: Path) -> None:
    text = MACROS.replace("STEP", "1")
    once = asked_by(text.replace("VALUE", "fmax(0, fmin(127, floor(norm * v[i])))"), tmp_path)
    assert 0.5 < asked_by(text.replace("VALUE", "MAX(0, MIN(127, floor(norm * v[i])))"), tmp_path) / once < 2


def test_steps_of_a_loop_are_counted(tmp_path: Path) -> None:
    text = MACROS.replace("VALUE", "floor(norm * v[i])")
    one, four = (asked_by(text.replace("STEP", step), tmp_path) for step in "14")
    assert 3.5 < four / one < 4.5


LOOPING = """
#include <complex.h>
static float complex sum(const float *v, int n)
{
    float complex s = 0;
    while (n > 0)
        s += v[--n];
    return s;
}
void f(int n, const float complex z[n], float complex y[n], const float v[restrict n + 70], float out[restrict n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        VALUE;
#pragma endscop
}
"""


def test_a_function_loops_as_often_as_it_is_told(tmp_path: Path) -> None:
    few, many = (asked_by(LOOPING.replace("VALUE", f"y[i] = sum(&v[i], {n})"), tmp_path) for n in (3, 64))
    assert few > 10 * many


def test_parts_of_a_complex_number_are_there(tmp_path: Path) -> None:
    """`conjf` is no call: it changes a sign."""
    called, turned = (
        asked_by(LOOPING.replace("VALUE", f"y[i] = {f}(z[i]) * 2.f"), tmp_path) for f in ("csinf", "conjf")
    )
    assert turned > 3 * called


def test_narrow_bands_are_no_whole_loop(tmp_path: Path) -> None:
    """Ten iterations of `n` have no threads, whatever `n` is."""
    text = """
void f(int n, int m, int a, int b, const float x[m], const float y[restrict n + m], float out[restrict n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        if ((i >= a - 2 && i <= a + 2) || (i >= b - 2 && i <= b + 2)) {
            float s = 0;
            for (int j = 0; j < m; j++)
                s += x[j] * y[i + j];
            out[i] = s;
        }
#pragma endscop
}
"""
    found = compiled(text, tmp_path)
    assert found.verified
    assert "omp parallel" not in found.text


def test_a_window_that_moves_along_is_no_whole_loop(tmp_path: Path) -> None:
    """Its bounds say how long it is: 2 * w + 1, and not n."""
    text = """
void f(int n, int w, float *restrict out, const float *restrict x)
{
#pragma scop
    for (int i = 0; i < n; i++) {
        float s = 0;
        for (int k = i - w < 0 ? 0 : i - w; k <= (i + w > n - 1 ? n - 1 : i + w); k++)
            s += x[k] * x[k];
        out[i] = s;
    }
#pragma endscop
}
"""
    found = compiled(text, tmp_path)
    assert found.verified
    assert "1.0 * n * polyc_min(n, 2L * w + 1) > " in found.text


ADDED = """
void f(double r[1000][3], const double A[1000][3][3])
{
#pragma scop
    for (int i = 1; i < 1000; i++) {
        double v[3];
        for (int a = 0; a < 3; a++)
            for (int k = 0; k < 3; k++)
                r[i][a] -= A[i][a][k] * r[i - 1][k];
        for (int a = 0; a < 3; a++) {
            v[a] = 0;
            for (int k = 0; k < 3; k++)
                v[a] += A[i][k][a] * r[i][k];
        }
        for (int a = 0; a < 3; a++)
            r[i][a] = v[a];
    }
#pragma endscop
}
"""


def test_a_producer_in_the_tiles_of_its_reader_is_asked_about_too(tmp_path: Path) -> None:
    """Nine additions in each of 999 steps: the loops around an extension node have no value for what it adds."""
    found = compiled(ADDED, tmp_path)
    assert "fused" in {remark.code for remark in found.program.remarks}
    assert "omp parallel" not in found.text


CASES_OF_SIZES = """
void lift(unsigned height, int even, int *restrict tmp)
{
    unsigned i, c;
    unsigned sn = (height + (even ? 1 : 0)) >> 1;
    if (even)
        for (i = 0; i + 1 < sn; i++)
            for (c = 0; c < 8; c++)
                tmp[(1 + i * 2) * 8 + c] -= (tmp[i * 2 * 8 + c] + tmp[(i + 1) * 2 * 8 + c]) >> 1;
}
"""
PARTED = """
void fetch(const int *restrict array, int *restrict tmp, unsigned height, unsigned stride, unsigned cols)
{
    for (unsigned k = 0; k < height; ++k) {
        unsigned c;
        for (c = 0; c < cols; c++)
            tmp[8 * k + c] = array[c + k * stride];
        for (; c < 8; c++)
            tmp[8 * k + c] = 0;
    }
}
"""


def test_sizes_in_several_cases_are_no_narrow_bands(tmp_path: Path) -> None:
    """`even` is less than 0 or more; the loop has one range in both."""
    text = printed(CASES_OF_SIZES, tmp_path)
    assert re.search(r"polyc_threads\(\(long\)sn - 1 > [0-9]+\)", text)


def test_nests_that_were_parted_for_threads_run_as_written_where_there_is_little_to_do(tmp_path: Path) -> None:
    text = printed(PARTED, tmp_path)
    assert "#pragma omp parallel for firstprivate(" in text
    assert "polyc_threads(1.0 * (long)height * (8 - (long)cols) > " in text


def test_skewed_tiles_by_which_one_thread_gains_nothing(tmp_path: Path) -> None:
    """Each pixel hands on what it lost to the next one and to the row below, all of which is in a cache."""
    text = """
void diffuse(float *im, int w, int h)
{
    for (int y = 0; y < h - 1; y++)
        for (int x = 1; x < w - 1; x++) {
            float old = im[y * w + x], now = old > 0.5f ? 1.0f : 0.0f, lost = old - now;
            im[y * w + x] = now;
            im[y * w + x + 1] += lost * 7 / 16;
            im[(y + 1) * w + x - 1] += lost * 3 / 16;
            im[(y + 1) * w + x] += lost * 5 / 16;
            im[(y + 1) * w + x + 1] += lost * 1 / 16;
        }
}
"""
    found = printed(text, tmp_path)
    assert "in skewed tiles" in found
    assert "x - 3 * y" in found  # one thread runs rows beside each other, at the speed of the loops as written


def printed(text: str, folder: Path) -> str:
    file = folder / "t.c"
    file.write_text(text)
    source = read(str(file), InputOptions(detect=True))
    return render_file(source, [compile_region(region, Options()) for region in source.regions])


PAIRS = """
void f(int n, const int seq[n], int best[n + 1][n + 1])
{
#pragma scop
    for (int i = n - 1; i >= 0; i--)
        for (int j = i + 4; j < n; j++) {
            int m = best[i + 1][j] > best[i][j - 1] ? best[i + 1][j] : best[i][j - 1];
            if (seq[i] + seq[j] == 3)
                m = m > best[i + 1][j - 1] + 1 ? m : best[i + 1][j - 1] + 1;
            for (int k = i + 1; k < j - 1; k++)
                m = m > best[i][k] + best[k + 1][j] ? m : best[i][k] + best[k + 1][j];
            best[i][j] = m;
        }
#pragma endscop
}
"""


def test_a_reduction_that_starts_again_and_again_has_no_threads(tmp_path: Path) -> None:
    """A parallel region is a function of its own, which is slower even where its loop runs on one thread."""
    found = compiled(PAIRS, tmp_path)
    assert found.verified
    assert "#pragma omp parallel" not in found.text
    assert "reduction(max: m)" in compiled(PAIRS, tmp_path, threads="always").text


AWAY = """
#include <stdlib.h>
void f(int n, int m, int *restrict out)
{
#pragma scop
    for (int e = 0; e < n; e++) {
        int steps = abs(e - m), sum = 0;
        for (int k = 1; k <= steps; k++)
            sum += k % 3;
        out[e] = sum;
    }
#pragma endscop
}
"""


def test_a_loop_whose_bounds_have_no_hull(tmp_path: Path) -> None:
    """1 <= k <= |e - m| is no convex set, and what is one around it has no end."""
    found = compiled(AWAY, tmp_path)
    assert found.verified
    assert "omp parallel for" in found.text
    assert "(void)abs" not in found.text


CENSUS = """
void f(int h, int w, const unsigned char *restrict in, unsigned long *restrict out)
{
#pragma scop
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            unsigned long bits = 0;
            if (y >= 3 && y < h - 3 && x >= 4 && x < w - 4)
                for (int k = -3; k <= 3; k++)
                    for (int l = -4; l <= 4; l++) {
                        if (k == 0 && l == 0)
                            continue;
                        bits = (bits << 1) | (in[(y + k) * w + x + l] < in[y * w + x]);
                    }
            out[y * w + x] = bits;
        }
#pragma endscop
}
"""


def test_windows_inside_of_the_borders_alone_are_as_they_were_for_one_thread(tmp_path: Path) -> None:
    """No compiler makes vectors of a loop with others below a branch."""
    text = compiled(CENSUS, tmp_path).text
    assert "polyc_simd" not in text
    assert "polyc_several()" in text
