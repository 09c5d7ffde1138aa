"""Elements that the data choose: the loops find out which, and run as they were written where memory overlaps."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from polyc.codegen import render_file
from polyc.frontend import read
from polyc.model import ctree as c
from polyc.model.program import InputOptions, Options
from polyc.pipeline import compile_region
from tests.programs import run_alike

TEXT = """#include <math.h>
#include <stdio.h>
#include <stdlib.h>
void rows(int n, const int *row, const int *col, const double *v, const double *x, double *y)
{
    int i, j;
    for (i = 0; i < n; i++) {
        double sum = 0;
        for (j = row[i]; j < row[i + 1]; j++) {
            int k = col[j];
            sum += v[j] * x[k];
        }
        y[i] = sum;
    }
}
void near(int n, int m, const size_t *list, const float *at, float *force, const int *on)
{
    size_t who;
    for (int i = 0; i < n; i++) {
        float sum = 0;
        if (on[i])
            for (int j = 0; j < m; j++) {
                who = list[i * m + j];
                if (at[3 * who] > 4)
                    sum += at[3 * who + 1] - at[3 * i];
                else
                    sum -= at[3 * who + 2];
            }
        force[i] = sum;
    }
}
void picked(int n, const int *order, const double *in, double *restrict out, const double *weights)
{
    for (int i = n - 1; i >= 0; i--)
        out[i] = order[i] < 0 ? 0 : in[order[i]] * weights[order[i] & 7];
}
void turned(int n, const int *order, const int (*box)[4], double *out)
{
    for (int i = 0; i < n; i++)
        out[i] = box[order[i]][1] + box[order[n - 1 - i]][2];
}
void stretched(int n, const double *in, double *out, const int *step)
{
    for (int i = 0; i < n; i++) {
        int at = step[i];
        at = at * 2 + 1;
        out[i] = in[at] + in[at + 1];
    }
}
void warped(int n, const float *at, const double *in, double *out)
{
    for (int i = 0; i < n; i++) {
        float place = at[i] / 3 - 0.5f;
        int k = (int)floorf(place);
        k = k < 0 ? 0 : k > n - 1 ? n - 1 : k;
        out[i] = in[k] * (place - k);
    }
}
void ranked(int n, const int *row, const int *col, const int *degree, double *x, double *y)
{
    double lost = 0;
    for (int i = 0; i < n; i++)
        if (degree[i] == 0)
            lost += x[i];
    for (int i = 0; i < n; i++) {
        double sum = lost;
        for (int j = row[i]; j < row[i + 1]; j++)
            sum += x[col[j]] / (degree[col[j]] + 1);
        y[i] = sum;
    }
}
void crossed(int n, int m, const double *at, const double *x, double *out)
{
    for (int p = 0; p < n; p++) {
        int odd = 0;
        for (int i = 0, j = m - 1; i < m; j = i++)
            if (x[i] > at[p] + x[j] / 2)
                odd = !odd;
        out[p] += odd;
    }
}
struct plan { int n, m; double *from; };
void emitted(const struct plan *plan, const int *seen, double *out)
{
    for (int i = 0; i < plan->n; i++)
        out[i] = 2 * plan->from[i * plan->m + seen[i]];
}
struct table { unsigned rows, cols; double *v; };
void largest(struct table t, double *out)
{
    unsigned i, j;
    for (j = 0; j < t.cols; j++) {
        out[j] = t.v[j];
        for (i = 0; i < t.rows; i++)
            if (t.v[(int)(i * t.cols) + j] > out[j])
                out[j] = t.v[(int)(i * t.cols) + j];
    }
}
"""
MAIN = """
#define N 60
static double pool[40 * N];
static int numbers[6 * N];
static size_t list[8 * N];
static float points[12 * N];
int main(void)
{
    for (int way = 0; way < 9; way++) {
        for (int k = 0; k < 40 * N; k++) pool[k] = k * 7 % 31;
        for (int k = 0; k < 12 * N; k++) points[k] = k * 5 % 11;
        for (int k = 0; k <= N; k++) numbers[k] = 3 * k / 2;
        for (int k = N + 1; k < 6 * N; k++) numbers[k] = k * 13 % N;
        for (int k = 0; k < 8 * N; k++) list[k] = k * 11 % N;
        double *x = pool + 5 * N;
        double *y = pool + (way == 1 ? 5 * N + N / 2 : way == 2 ? 6 * N - 1 : way == 3 ? 4 * N + 1 : 9 * N);
        rows(way == 4 ? 0 : N, numbers, numbers + N + 1, pool, x, y);
        near(N, 4, list, points, points + (way == 5 ? 3 * N - 1 : way == 6 ? 0 : way == 7 ? 3 * N : 9 * N), numbers);
        ranked(way == 4 ? 0 : N, numbers, numbers + N + 1, numbers + 3 * N, x, way == 8 ? x + 1 : y);
        crossed(N, way == 3 ? 0 : N / 2, pool, x, way == 7 ? x + N / 2 - 1 : way == 5 ? x + 1 : y);
        picked(N, numbers + 2 * N, x, y + (way == 8 ? 3 : 2 * N), pool + 30 * N);
        turned(N, numbers + 2 * N, (const int (*)[4])(numbers + N), way == 2 ? (double *)(numbers + 3 * N + 10) : y);
        stretched(N, x, way == 3 ? x + 2 * N : y, numbers + 2 * N);
        warped(N, points, x, way == 4 ? x + 2 : y);
        struct plan plan = {N, 2, x};
        emitted(&plan, numbers + 2 * N, way == 5 ? x + N : way == 6 ? x + 3 * N : y);
        struct table table = {5, N / 2, x};
        largest(table, way == 6 ? x + 2 * N : way == 7 ? x - 9 : y);
        double sum = 0;
        for (int k = 0; k < 40 * N; k++) sum += pool[k] * (k % 97 + 1);
        for (int k = 0; k < 12 * N; k++) sum += points[k] * (k % 89 + 1);
        for (int k = 0; k < 6 * N; k++) sum += numbers[k] * (k % 83 + 1.);
        printf("%.17g\\n", sum);
    }
    return 0;
}
"""
FUNCTIONS = re.findall(r"^void (\w+)", TEXT, re.MULTILINE)


def test_overlaps_run_as_they_were(tmp_path: Path) -> None:
    file = tmp_path / "t.c"
    file.write_text(TEXT + MAIN)
    source = read(str(file), InputOptions(detect=True))
    regions = [compile_region(region, Options(threads="always", tile_sizes=None)) for region in source.regions]
    found = {region.program.scop.function for region in regions if region.program.scop.search is not None}
    # The output of one is restrict, and clamps say where another one reads.
    assert found == set(FUNCTIONS) - {"picked", "warped"}
    for region in regions:
        assert region.certificate is not None
        assert (region.certificate.tree, region.certificate.text) == ("shown", "shown")
    run_alike(TEXT + MAIN, render_file(source, regions), tmp_path)


def test_one_thread_searches_nothing(tmp_path: Path) -> None:
    """A search costs what it reads: it runs where several threads share it, and enough is done."""
    file = tmp_path / "t.c"
    file.write_text(TEXT)
    regions = [compile_region(region, Options()) for region in read(str(file), InputOptions(detect=True)).regions]
    texts = [one.in_file for one in regions if one.program.scop.search is not None]
    assert len(texts) == len(FUNCTIONS) - 2
    for text in texts:
        asked = re.search(r"int polyc_is_apart = ([^;]*);", text)
        assert asked is not None
        assert asked[1].count("polyc_threads(") == len(re.findall(r"polyc_(?:several|many)\(\)", asked[1])) == 1


ENDS = """#include <stdio.h>
void flat(int n, int d, const int *id, const double *table, double *out)
{
    for (int i = 0; i < n; i++)
        for (int t = 0; t < d; t++)
            out[i * d + t] = table[id[i] * d + t] * 2;
}
void backwards(int n, int d, const int *id, const double *table, double *out)
{
    for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int y = d - 1; y >= 0; y--)
            for (int x = 0; x <= d; ++x)
                sum += table[id[i] - y * (d + 1) + x + 9 * d];
        out[i] = sum;
    }
}
void packed(unsigned long n, int d, const int *id, const double *table, double *out)
{
    for (unsigned long i = 0; i < n; i++) {
        double sum = id[i] + d;
        for (unsigned long j = 0; n > i && j <= i; j++)
            sum += table[i * (i + 1) / 2 + j];
        out[i] = sum;
    }
}
void some(int n, int d, const int *id, const double *table, double *out)
{
    for (int i = 0; i < n; i++) {
        out[i] = table[id[i]];
        for (int j = 0; j < d - 1; j++)
            if (i >= j + 1)
                out[i] += table[i + j + 3];
    }
}
void steps(int n, int d, const int *id, const double *table, double *out)
{
    for (int i = 0; i < n; i++)
        for (int t = 0; t < d; t += 2)
            out[i] += table[id[i] + t] + table[id[i] + (t & 1)];
}
"""
ENDS_MAIN = """
static double pool[900];
static int id[30];
int main(void)
{
    for (int way = 0; way < 30; way++)
        for (int d = 0; d < 6; d++) {
            for (int k = 0; k < 900; k++) pool[k] = k * 7 % 31;
            for (int k = 0; k < 30; k++) id[k] = k * 11 % 13;
            flat(12, d, id, pool + 100, pool + 90 + 3 * way);
            backwards(12, d, id, pool + 200, pool + 205 + 2 * way);
            packed(12, d, id, pool + 400, pool + 390 + 4 * way);
            steps(12, d, id, pool + 600, pool + 586 + way);
            some(12, d, id, pool + 700, pool + 687 + way);
            double sum = 0;
            for (int k = 0; k < 900; k++) sum += pool[k] * (k % 97 + 1);
            printf("%.17g\\n", sum);
        }
    return 0;
}
"""


def test_first_and_last_iterations(tmp_path: Path) -> None:
    """What is linear in a counter is touched first and last in its first and last iterations, and nothing is run for
    the others."""
    file = tmp_path / "t.c"
    file.write_text(ENDS + ENDS_MAIN)
    source = read(str(file), InputOptions(detect=True))
    regions = [compile_region(region, Options(threads="always", tile_sizes=None)) for region in source.regions]
    searches = {
        region.program.scop.function: region.program.scop.search for region in regions if region.program.scop.search
    }
    assert set(searches) == {"flat", "backwards", "packed", "some", "steps"}
    depths = {name: sum(isinstance(n, c.For) for s in one.loops for n in c.walk(s)) for name, one in searches.items()}
    assert depths == {"flat": 1, "backwards": 1, "packed": 2, "some": 1, "steps": 2}
    assert all(region.certificate is not None and region.certificate.text == "shown" for region in regions)
    run_alike(ENDS + ENDS_MAIN, render_file(source, regions), tmp_path)


GROUPS = """#include <stdio.h>
void groups(int n, int ng, const unsigned char *a, const short *key, long *sum, int *most, int *first)
{
    for (int g = 0; g < ng; g++) {
        sum[g] = 0;
        most[g] = -1;
        first[g] = 2 * g;
    }
    for (int i = 0; i < n; i++) {
        int v = a[i] * 3;
        if (a[i] == 0)
            continue;
        sum[key[i]] += v;
        if (v > most[key[i]])
            most[key[i]] = v;
    }
}
"""
GROUPS_MAIN = """
int main(void)
{
    static unsigned char a[300];
    static short key[300];
    static long sum[64];
    static int most[64], first[64];
    for (int i = 0; i < 300; i++) {
        a[i] = i * 37 % 11;
        key[i] = i * i % 40;
    }
    groups(300, 40, a, key, sum, most, first);
    for (int g = 0; g < 40; g++)
        printf("%ld %d %d\\n", sum[g], most[g], first[g]);
    groups(300, 40, a, key, sum, most, most + 20);
    for (int g = 0; g < 40; g++)
        printf("%ld %d\\n", sum[g], most[g]);
    return 0;
}
"""


SAME = """#include <stdio.h>
void same(int n, int m, double *c, double *out, const int *at)
{
    for (int i = 0; i < m; i++)
        c[at[i]] += 1;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            out[i * n + j] = c[i * 16 + j] + (j > 2 ? c[j * 16 + j] : c[3 * i + j]);
}
"""
SAME_MAIN = """
int main(void)
{
    static double c[400], out[400];
    static int at[40];
    for (int i = 0; i < 40; i++)
        at[i] = i * i % 97;
    same(15, 40, c, out, at);
    for (int i = 0; i < 225; i++)
        printf("%g\\n", out[i]);
    same(15, 40, c, c + 1, at);
    for (int i = 0; i < 225; i++)
        printf("%g\\n", c[i]);
    return 0;
}
"""


@pytest.mark.parametrize(
    "text",
    [GROUPS + GROUPS_MAIN, SAME + SAME_MAIN],
    ids=["what a condition has touched, below it", "two references that begin at one element"],
)
def test_elements_that_are_touched_again(text: str, tmp_path: Path) -> None:
    """The search has them once, or twice."""
    file = tmp_path / "t.c"
    file.write_text(text)
    source = read(str(file), InputOptions(detect=True))
    regions = [compile_region(region, Options(threads="always", tile_sizes=None)) for region in source.regions]
    assert any(region.program.scop.search is not None for region in regions)
    assert not {remark.code for region in regions for remark in region.program.remarks} & {"verification-failed"}
    run_alike(text, render_file(source, regions), tmp_path)
