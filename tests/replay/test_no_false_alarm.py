"""Ordinary code that a run at small sizes once took for another program."""

from __future__ import annotations

import pytest

from polyc.frontend import read
from polyc.model.program import InputOptions, Options
from polyc.pipeline import compile_region

TEXTS = {
    "memory that is asked for under a comparison": """
void f(int n, int m, float s, const float *restrict a, const float *restrict w, float (*restrict c)[40])
{
    float t = 0;
#pragma scop
    for (int i = 1; i < n; i++) {
        if (s != -1.3) {
            t = a[7];
            for (int j = i - 1; j < m; j++)
                t += (a[m - i + 6] + 0.07) * w[j];
            for (int j = 2; j < m - 4; j++)
                c[i + 1][j] = (c[2][j - 2] + 0.07) * t * 0.25;
        }
    }
#pragma endscop
}
""",
    "a function that is defined behind its call": """
long twice(long x);
void f(long n, long *restrict a)
{
    for (long j = 0; j < n; j++)
        a[j] = twice(j);
}
long twice(long x)
{
    return x * 2;
}
""",
    "a float beside a double that it is compared with": """
#include <math.h>
void f(int n, const float *x, float *restrict o)
{
    for (int i = 0; i < n; i++) {
        float r = x[i];
        if (fabs(x[i]) > r)
            r = fabs(x[i]);
        if (r > .5 * x[i + 1])
            r = .5 * x[i + 1];
        o[i] = r;
        if (o[i] > .1)
            o[i] = .1;
    }
}
""",
    "rows that hold each other, by offsets": """
void one(const float *in, int n, int stride, float *out)
{
    for (int i = 0; i < n; i++)
        out[i * stride] = in[i * stride] * 2;
}
void all(const float *in, int n, int batch, int off, int groups, int goff, int stride, float *out)
{
    for (int b = 0; b < batch; b++)
        for (int g = 0; g < groups; g++)
            one(in + b * off + g * goff, n, stride, out + b * off + g * goff);
}
""",
    "a place with more parentheses than it needs": """
void f(double **u, int n, int k)
{
    for (int i = 0; i < n; i++)
        u[(2 * k + 1)][i] = u[(2 * k + 1)][i] + 1;
}
""",
    "a pointer in parentheses, as macros leave it": """
#define PUT(S, V) ((S)->data[(S)->next] = (V), (S)->next = (S)->next + 1 == (S)->size ? 0 : (S)->next + 1)
struct ring { int size, next; double data[1]; };
void f(int n, const double *restrict x, double *restrict y, struct ring *restrict s)
{
    for (int i = 0; i < n; i++)
        y[i] = x[i] * x[i];
    for (int i = 0; i < n; i++)
        PUT(s, x[i]);
}
""",
    "a counter whose bound is read through a pointer": """
unsigned f(float *m, unsigned *len)
{
    unsigned j;
    for (j = 0; j < *len; j++)
        m[j] = 0;
    return j;
}
""",
    "a flat array of the function that somebody has the address of": """
void fill(float *to, int n);
void f(int channels, int n, float *pcm)
{
    float extra[4096];
    fill(extra, n);
    for (int c = 0; c < channels; c++)
        for (int i = 0; i < n; i++)
            pcm[i * channels + c] = extra[i * channels + c];
}
""",
    "rows without a sign below a condition on data": """
void f(unsigned rows, unsigned cols, const double *p, const double *px, double *out)
{
    for (unsigned r = 0; r < rows; r++)
        if (px[r] != 0)
            for (unsigned c = 0; c < cols; c++)
                out[r] += p[r * cols + c];
}
""",
}


def test_a_function_in_the_old_style_is_not_run() -> None:
    text = """
static double half(x, y)
double x, y;
{
    return x * y * 0.5;
}
void f(int n, double *restrict a, const double *restrict b)
{
    for (int i = 0; i < n; i++)
        a[i] = b[i] + half(b[i], a[i]);
}
"""
    (region,) = read("t.c", InputOptions(detect=True), text=text).regions
    assert compile_region(region, Options()).verified


@pytest.mark.parametrize("name", TEXTS)
def test_the_text_is_not_refused(name: str) -> None:
    regions = read("t.c", InputOptions(detect=True), text=TEXTS[name]).regions
    assert regions
    for region in regions:
        compiled = compile_region(region, Options())
        assert compiled.certificate is not None
        assert (compiled.certificate.text, compiled.certificate.run) == ("shown", "agrees")
        assert not [remark.message for remark in compiled.program.remarks if remark.code == "verification-failed"]
