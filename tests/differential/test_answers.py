"""Conditions on numbers and pointers that the loops do not change: parameters that are 0 or 1."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.programs import compiled_file, region_of, run_alike

TEXT = """#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#define ONE 1.0
struct options { double omega; int damp; };
void gemm(int m, int n, int k, double alpha, const double *a, const double *b, double beta, double *c)
{
    for (int j = 0; j < n; j++) {
        if (beta == 0.0) {
            for (int i = 0; i < m; i++) c[j*m + i] = 0.0;
        } else if (beta != 1.0) {
            for (int i = 0; i < m; i++) c[j*m + i] *= beta;
        }
        for (int l = 0; l < k; l++) {
            double t = alpha * b[j*k + l];
            for (int i = 0; i < m; i++) c[j*m + i] += t * a[l*m + i];
        }
    }
}
void scaled(int n, int m, const double *beta, double *c, const double *b)
{
    for (int j = 0; j < n; j++) {
        if (*beta < ONE) {
            for (int i = 0; i < m; i++) c[j*m + i] = b[j*m + i];
        } else {
            for (int i = 0; i < m; i++) c[j*m + i] = *beta * c[j*m + i];
        }
        for (int i = 0; i < m; i++) c[j*m + i] += b[i];
    }
}
void smooth(int n, const struct options *o, double u[n][n], double v[n][n])
{
    for (int t = 0; t < 2; t++) {
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++) {
                double r = 0.25 * (u[i-1][j] + u[i+1][j] + u[i][j-1] + u[i][j+1]);
                if (o->omega > 1.0) v[i][j] = u[i][j] + o->omega * (r - u[i][j]);
                else v[i][j] = r;
            }
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++) u[i][j] = v[i][j];
    }
}
void linear(int n, int m, int k, const double *x, const double *w, const double *bias, double *y)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            double s = 0;
            for (int l = 0; l < k; l++) s += x[i*k + l] * w[j*k + l];
            if (bias) s += bias[j];
            y[i*m + j] = s;
        }
}
void shifted(int n, int m, const double *x, const double *bias, const double *mask, double *y)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            double b = bias == NULL ? 0.5 : bias[j];
            y[i*m + j] = mask != NULL && mask[i] > 0.5 ? x[i*m + j] + b : b;
        }
}
static double p[6][10000];
void dots(int m, int n, int k, double alpha, const double *a, const double *b, double beta, double *c)
{
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++) {
            double s = 0;
            for (int l = 0; l < k; l++) s += a[i*k + l] * b[j*k + l];
            if (beta == 0.0) c[j*m + i] = alpha * s;
            else c[j*m + i] = alpha * s + beta * c[j*m + i];
        }
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]), m = atoi(argv[2]), k = atoi(argv[3]), given = argc > 5;
    double beta = atof(argv[4]), sum = 0;
    struct options o = { beta, given };
    for (int q = 0; q < 6; q++) {
        for (int i = 0; i < 10000; i++) p[q][i] = (i * (q + 3) % 29) * 0.25;
    }
    gemm(m, n, k, 0.5, p[0], p[1], beta, p[2]);
    gemm(4, 5, 6, 0.5, p[2], p[2] + 3, beta, p[2] + 1);
    dots(m, n, k, 0.5, p[0], p[1], beta, p[2]);
    scaled(n, m, &beta, p[3], p[1]);
    scaled(n, m, p[3] + 5, p[3], p[1]);
    smooth(n, &o, (void *)p[4], (void *)p[5]);
    linear(n, m, k, p[0], p[1], given ? p[2] : NULL, p[3]);
    linear(n, m, k, p[0], p[1], given ? p[3] + 2 : NULL, p[3]);
    shifted(n, m, p[0], given ? p[1] : NULL, given ? NULL : p[2], p[5]);
    for (int q = 0; q < 6; q++)
        for (int i = 0; i < 10000; i++) sum = sum * 0.999 + p[q][i];
    printf("%.17g\\n", sum);
    return 0;
}
"""


@pytest.mark.long
def test_both_answers_of_each_condition(tmp_path: Path) -> None:
    compiled, printed = compiled_file(TEXT, tmp_path, target="openmp", threads="always")
    dots = next(one for one in compiled if one.program.scop.function == "dots")
    assert "s_each" in dots.program.scop.arrays, "readers under several conditions keep the sum from a register tile"
    for told in ("if (beta == 0.0)", "if (*beta < 1.0)", "if (o->omega > 1.0)", "if (bias != 0)"):
        assert told in printed, told
    sizes = (("17", "19", "23"), ("1", "1", "1"), ("2", "9", "0"), ("66", "70", "40"))
    values = ("0", "1", "1.5", "-0.0", "nan")
    runs = [(*some, value, *given) for some in sizes for value in values for given in ((), ("given",))]
    run_alike(TEXT, printed, tmp_path, runs)


@pytest.mark.parametrize(
    ("condition", "name"),
    [
        ("x == 0.0", "x_eq_0_0"),
        ("-1.5f <= x", "minus_1_5f_le_x"),
        ("x != y", "x_eq_y"),
        ("p", "p_given"),
        ("!p", "p_given"),
        ("p == 0", "p_given"),
        ("x + 1 > y", ""),
        ("a[0] > x", ""),
        ("z > x", ""),
    ],
)
def test_parameters(condition: str, name: str, tmp_path: Path) -> None:
    """Only comparisons of what stays as it is, without arithmetic that compilers may round otherwise."""
    text = f"""void f(int n, float a[n], const float *p, double x, double y)
{{
    double z = 0;
#pragma scop
    for (int i = 0; i < n; i++) {{
        z = z + 1;
        if ({condition})
            a[i] = z;
    }}
#pragma endscop
}}
"""
    scop = region_of(text, tmp_path).scop
    assert [p.name for p in scop.parameters if p.is_answer] == [name] * bool(name)
