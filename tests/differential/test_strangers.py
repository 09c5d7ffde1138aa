"""Shapes of ordinary programs that polyc was not built with: each computes what it computed, and gains what it can."""

from __future__ import annotations

from pathlib import Path

from tests.programs import compiled_file, run_alike

TEXT = """#include <stdio.h>
#include <stdlib.h>
struct picture { int w, h; float *data; };
void brighter(struct picture *s, const float *in)
{
    for (int y = 0; y < s->h; y++)
        for (int x = 0; x < s->w; x++) {
            int o = y * s->w + x;
            s->data[o] = in[o] + 9;
        }
}
void forward(int n, const double *al, const double *A, double *out)
{
    for (int j = 0; j < n; j++) {
        double sum = 0;
        for (int i = 0; i < n; i++)
            sum += al[i] * A[i * n + j];
        out[j] = sum;
    }
}
void blocks(int n, float (*in)[8][8], float (*m)[8], float (*out)[8][8])
{
    for (int b = 0; b < n; b++) {
        float tmp[8][8];
        for (int i = 0; i < 8; i++)
            for (int j = 0; j < 8; j++) {
                tmp[i][j] = 0;
                for (int k = 0; k < 8; k++)
                    tmp[i][j] += in[b][i][k] * m[j][k];
            }
        for (int i = 0; i < 8; i++)
            for (int j = 0; j < 8; j++) {
                out[b][i][j] = 0;
                for (int k = 0; k < 8; k++)
                    out[b][i][j] += m[i][k] * tmp[k][j];
            }
    }
}
static double a[3][40000];
static float f[3][40000];
int main(int argc, char **argv)
{
    int n = atoi(argv[1]);
    double sum = 0;
    for (int q = 0; q < 3; q++)
        for (int i = 0; i < 40000; i++)
            f[q][i] = a[q][i] = (i * (q + 3) % 29) * 0.25;
    struct picture s = { n, n / 2, f[0] };
    brighter(&s, f[1]);
    brighter(&s, f[0] + 1);
    forward(n, a[0], a[1], a[2]);
    forward(n, a[0], a[1], a[1] + 5);
    blocks(n, (void *)f[0], (void *)f[1], (void *)f[2]);
    for (int q = 0; q < 3; q++)
        for (int i = 0; i < 40000; i++)
            sum = sum * 0.999 + a[q][i] + f[q][i];
    printf("%.17g\\n", sum);
    return 0;
}
"""


def test_ordinary_shapes(tmp_path: Path) -> None:
    _, printed = compiled_file(TEXT, tmp_path, target="openmp")
    assert "in[(long)y * s->w + x]" in printed, "a name for a subscript may be made of members"
    assert "polyc_threads(1.0 * n * n > 3000)" in printed, "other loops than were written pay without threads, too"
    assert "omp parallel for if (n > 256 && 1.0 * n * n > 48000)" in printed, "one tile is for one thread"
    order = printed[printed.index("void blocks") :]
    assert order.index("for (int j = 0; j < 8; j++)") > order.index("for (int i = 0; i < 8; i++)"), "small blocks stay"
    run_alike(TEXT, printed, tmp_path, [("1",), ("7",), ("40",), ("150",)])
