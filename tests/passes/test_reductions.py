"""Reductions run in parallel only where the user allows another order of operations."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

from polyc.analysis.expressions.updates import only_combines
from polyc.frontend import read
from polyc.model.program import InputOptions, Options, Program
from polyc.model.tree import Band
from polyc.passes.loops import reductions
from polyc.pipeline import compile_region
from polyc.runtime.check import check
from tests.docs.pages import ROOT
from tests.programs import compiled, region_of

DOT = """
double dot(int n, double a[n], double b[n], double M[n][n])
{
    double s = 0, t = 1;
#pragma scop
    for (int i = 0; i < n; i++)
        s += a[i] * b[i];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            t = t + M[i][j];
#pragma endscop
    return s + t;
}
"""

PREFIX = """
void prefix(int n, double a[n], double b[n])
{
    double s = 0;
#pragma scop
    for (int i = 0; i < n; i++) {
        s += a[i];
        b[i] = s;
    }
#pragma endscop
}
"""

EXTREMA = """
#include <math.h>
double extrema(int n, double a[n], float b[n], int k[n], unsigned char c[n])
{
    double most = a[0], least = a[0];
    float g = b[0];
    int largest = k[0];
    unsigned char smallest = c[0];
#pragma scop
    for (int i = 1; i < n; i++)
        most = fmax(most, a[i]);
    for (int i = 1; i < n; i++)
        if (a[i] < least)
            least = a[i];
    for (int i = 1; i < n; i++)
        g = 2 * b[i] >= g ? 2 * b[i] : g;
    for (int i = 1; i < n; i++)
        largest = largest > k[i] + k[0] ? largest : k[i] + k[0];
    for (int i = 1; i < n; i++)
        smallest = c[i] < smallest ? c[i] : smallest;
#pragma endscop
    return most + least + g + largest + smallest;
}
"""
NO_EXTREMUM = """
#include <math.h>
double none(int n, double a[n], unsigned u[n], int k[n], double h[n])
{
    double r = 0, first = 0, x = 0;
    int s = 0, f = 0;
#pragma scop
    for (int i = 0; i < n; i++)
        r = fmaxf(r, a[i]);
    for (int i = 0; i < n; i++)
        s = u[i] > s ? u[i] : s;
    for (int i = 0; i < n; i++)
        f = a[i] > f ? a[i] : f;
    for (int i = 0; i < n; i++)
        first = a[i] > first ? first : h[i];
    for (int i = 0; i < n; i++)
        x = a[i] > x ? a[i] + 1 : x;
#pragma endscop
    return r + s + f + first + x;
}
"""
"""Rounded at each step; compared as unsigned; cut at each step; what is compared is not what is kept."""
CUT = """
int cut(int n, double a[n])
{
    int s = 0;
#pragma scop
    for (int i = 0; i < n; i++)
        s += a[i];
#pragma endscop
    return s;
}
"""


def test_order_is_kept_by_default(tmp_path: Path) -> None:
    text = compiled(DOT, tmp_path).text
    assert "reduction" not in text
    assert "omp" not in text


def test_parallel_and_vector_reductions(tmp_path: Path) -> None:
    result = compiled(DOT, tmp_path, reassociate=True)
    assert result.verified
    for name in "st":
        assert re.search(rf"#pragma omp parallel for if \(.* > \d+\) reduction\(\+: {name}\)", result.text)
    assert "#pragma omp simd reduction(+: t)" in result.text


def test_a_sum_that_is_read_on_the_way_is_no_reduction(tmp_path: Path) -> None:
    result = compiled(PREFIX, tmp_path, reassociate=True)
    assert result.verified
    assert "reduction" not in result.text


def test_reassociated_values_agree(tmp_path: Path) -> None:
    region = region_of(DOT, tmp_path)
    assert check(region, compile_region(region, Options(reassociate=True)), sizes=(1, 7, 40)) == []


def test_minima_and_maxima(tmp_path: Path) -> None:
    result = compiled(EXTREMA, tmp_path, reassociate=True)
    assert result.verified
    for clause in ("max: most", "min: least", "max: g", "max: largest", "min: smallest"):
        assert re.search(rf"#pragma omp parallel for if \(.* > \d+\) reduction\({clause}\)", result.text)
    assert "least = a[i] < least ? a[i] : least;" in result.text
    region = region_of(EXTREMA, tmp_path)
    assert check(region, compile_region(region, Options(reassociate=True)), sizes=(1, 7, 40)) == []


def test_the_largest_of_magnitudes_is_the_same_in_any_order(tmp_path: Path) -> None:
    result = compiled(MAGNITUDES, tmp_path)
    assert result.verified
    for clause in ("max: err", "min: near", "max: steep", "max: far", "max: length"):
        assert re.search(rf"#pragma omp parallel for (if \(.* > \d+\) )?reduction\({clause}\)", result.text), clause
    region = region_of(MAGNITUDES, tmp_path)
    assert check(region, compile_region(region, Options(threads="always")), sizes=(1, 7, 40)) == []


def test_zeros_with_signs_and_what_is_no_number_keep_their_order(tmp_path: Path) -> None:
    assert "reduction" not in compiled(NO_MAGNITUDES, tmp_path).text


def test_magnitudes_of_rows_in_vectors(tmp_path: Path) -> None:
    text = MAGNITUDES.replace("fabs(a[i] - c[i])", "fabs(a[i] - c[0])")
    rows = text.replace("for (int i = 0; i < n; i++) {", "for (int j = 0; j < n; j++) for (int i = 0; i < n; i++) {")
    assert "#pragma omp simd reduction(max: err)" in compiled(rows, tmp_path).text


def test_minima_and_maxima_of_floats_keep_their_order_by_default(tmp_path: Path) -> None:
    clauses = re.findall(r"reduction\((.*)\)", compiled(EXTREMA, tmp_path).text)
    assert sorted(clauses) == ["max: largest", "min: smallest"]


MAGNITUDES = """
#include <math.h>
double magnitudes(int n, double a[n], float b[n], double c[n], double *out)
{
    double err = 0, near = INFINITY, far = 1e-3, length;
    float steep = 0.0f;
#pragma scop
    length = 0;
    for (int i = 0; i < n; i++) {
        double d = fabs(a[i] - c[i]);
        if (d > err)
            err = d;
    }
    for (int i = 0; i < n; i++)
        near = fmin(near, a[i] * a[i] + c[i] * c[i]);
    for (int i = 1; i < n; i++) {
        float g = b[i] - b[i - 1];
        steep = fmaxf(steep, g * g);
    }
    for (int i = 0; i < n; i++)
        far = far > sqrt(fabs(a[i]) + 1) ? far : sqrt(fabs(a[i]) + 1);
    for (int i = 0; i < n; i++)
        length = fmax(length, (double)fabsf(b[i]));
#pragma endscop
    return err + near + steep + far + length;
}
"""
NO_MAGNITUDES = """
#include <math.h>
double signs(int n, double a[n], double b[n], double first, double *out)
{
    double x = 0, y = a[0], z = first, u = -0.0, v = 0, w = NAN, q = 0;
#pragma scop
    for (int i = 0; i < n; i++)
        x = fmax(x, a[i]);
    for (int i = 0; i < n; i++)
        y = fmax(y, fabs(a[i]));
    for (int i = 0; i < n; i++)
        z = fmax(z, fabs(a[i]));
    for (int i = 0; i < n; i++)
        u = fmax(u, fabs(a[i]));
    for (int i = 0; i < n; i++)
        v = fmax(v, a[i] * b[i]);
    for (int i = 0; i < n; i++)
        w = fmin(w, fabs(a[i]));
    for (int i = 0; i < n; i++) {
        double d = fabs(a[i]);
        d = d - 1;
        q = fmax(q, d);
    }
#pragma endscop
    return x + y + z + u + v + w + q;
}
"""
"""Zeros with signs, numbers that may be none, in the values or to begin with."""

COUNTS = """
int counts(int n, const double *a, const int *b, unsigned *u, long *out)
{
    int many = 0, steps = 0;
    long total = 0;
    double sum = 0;
#pragma scop
    for (int i = 0; i < n; i++)
        if (a[i] * 2 < 1)
            many++;
    for (int i = 0; i < n; i++)
        steps += a[i] > 0.5 ? 2 : b[i] == 3;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 8; j++)
            total -= b[i] * j;
    for (int i = 0; i < n; i++)
        *u += b[i];
    for (int i = 0; i < n; i++)
        sum += a[i];
#pragma endscop
    *out = total + (sum > 3);
    return many + steps;
}
"""


def test_whole_numbers_are_summed_in_parallel(tmp_path: Path) -> None:
    result = compiled(COUNTS, tmp_path)
    assert result.verified
    assert sorted(re.findall(r"reduction\((.*?)\)", result.text)) == ["+: many", "+: steps", "+: total"]
    assert "simd reduction" not in result.text
    region = region_of(COUNTS, tmp_path)
    assert check(region, compile_region(region, Options()), sizes=(1, 7, 40)) == []


WITHIN = """
int within(int n, const double *a, int *restrict label, int *restrict hits)
{
    int changed = 0, tries = 0, last = 0;
#pragma scop
    for (int i = 0; i < n; i++) {
        int best = a[i] > 4;
        if (label[i] != best) {
            label[i] = best;
            changed++;
        } else
            changed += 2;
        int k = 0;
        while (k < label[i] + 2) {
            k++;
            tries += k;
        }
        if (best > 0) {
            last = i;
            hits[i] = tries;
        }
    }
#pragma endscop
    return changed + tries + last;
}
"""


def test_counts_beside_other_statements(tmp_path: Path) -> None:
    """`tries` is read, and `last` is set: both keep their order."""
    result = compiled(WITHIN, tmp_path)
    assert result.verified
    assert "reduction" not in result.text
    source = WITHIN.replace("hits[i] = tries;", "hits[i] = 1;").replace("last = i;", "")
    result = compiled(source, tmp_path)
    assert result.verified
    assert sorted(re.findall(r"reduction\((.*?)\)", result.text)) == ["+: changed", "+: tries"]
    region = region_of(source, tmp_path)
    assert check(region, compile_region(region, Options()), sizes=(1, 7, 40)) == []


NOT_WHOLE = """
int kept(int n, const double *a, int *b)
{
    int cut = 0, seen = 0;
#pragma scop
    for (int i = 0; i < n; i++)
        cut += a[i];
    for (int i = 0; i < n; i++)
        if (b[i] > seen)
            seen += b[i];
#pragma endscop
    return cut + seen;
}
"""


def test_what_only_looks_like_a_sum_of_whole_numbers(tmp_path: Path) -> None:
    assert "reduction" not in compiled(NOT_WHOLE, tmp_path).text


TRUTHS = """
#include <stdbool.h>
int truths(int n, const int *a, bool c[16])
{
    bool sum = 0, turned = 0, parity = 0, any = 0, all = 1, product = 1;
#pragma scop
    for (int i = 0; i < n; i++)
        sum += a[i];
    for (int i = 0; i < n; i++)
        if (a[i])
            turned--;
    for (int i = 0; i < n; i++)
        parity = parity ^ a[i];
    for (int i = 0; i < n; i++)
        c[a[i] & 15] -= 1;
    for (int i = 0; i < n; i++) {
        any |= a[i];
        all &= a[i];
        product *= a[i];
    }
#pragma endscop
    return sum + turned + parity + any + all + product;
}
"""


def test_truth_values_are_set_or_turned_over_in_their_order(tmp_path: Path) -> None:
    """1, 2 and -1 make 1, and 2 and -1 alone make 0: sums of truth values have no parts."""
    result = compiled(TRUTHS, tmp_path)
    assert result.verified
    assert sorted(re.findall(r"reduction\((.*?)\)", result.text)) == ["&: all", "*: product", "|: any"]
    assert "atomic" not in result.text
    scop = region_of(TRUTHS, tmp_path).scop
    for statement in scop.statements.values():
        for name in ("sum", "turned", "parity", "c"):
            assert not any(only_combines(statement, op, name, scop.arrays, True) for op in "+^")


def test_what_only_looks_like_an_extremum(tmp_path: Path) -> None:
    result = compiled(NO_EXTREMUM, tmp_path, reassociate=True)
    assert result.verified
    assert "reduction" not in result.text


def test_whole_numbers_from_fractions_keep_their_order(tmp_path: Path) -> None:
    """Each addition cuts to a whole number: parts of it have another sum."""
    result = compiled(CUT, tmp_path, reassociate=True)
    assert result.verified
    assert "reduction" not in result.text


def test_a_place_for_each_of_several_iterations_is_no_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check of races asks for that by itself: the pass may forget it."""
    harness = str(ROOT / "benchmarks" / "ordinary" / "harness")
    inputs = InputOptions(include_dirs=(harness,))
    (region,) = read(str(ROOT / "benchmarks" / "ordinary" / "blur.c"), inputs).regions
    assert "sum_of[" in compile_region(region, Options()).text
    marked = reductions._marked

    def without_places(program: Program, band: Band) -> Band | None:
        buffers = {key: buffer for key, buffer in program.buffers.items() if buffer.places is None}
        return marked(dataclasses.replace(program, buffers=buffers), band)

    monkeypatch.setattr(reductions, "_marked", without_places)
    found = compile_region(region, Options())
    assert found.verified
    assert "reduction(" not in found.text


STEPS = """
long steps(int n, int length[n], double x[n])
{
    long total = 0;
#pragma scop
    for (int i = 0; i < n; i++) {
        int left = i, count = 0;
        while (left > 0) {
            left /= 3;
            count++;
        }
        length[i] = count;
        total += count;
    }
#pragma endscop
    return total;
}
"""


def test_a_count_that_each_iteration_has_for_itself_is_no_reduction(tmp_path: Path) -> None:
    """But what the iterations add up beside it is one."""
    found = compiled(STEPS, tmp_path, threads="always")
    assert found.verified
    assert "#pragma omp parallel for reduction(+: total)\n" in found.text
    region = region_of(STEPS, tmp_path)
    assert check(region, compile_region(region, Options(threads="always")), sizes=(1, 2, 50, 300)) == []
