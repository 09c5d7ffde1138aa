"""C that was Fortran: rows that begin at 1, counters and temporaries that are static, scalars behind pointers."""

from __future__ import annotations

from pathlib import Path

from tests.programs import compiled_file, run_alike

TEXT = """#include <stdio.h>
#include <stdlib.h>
int product(int *m, int *n, int *k, double *alpha, double *a, int *lda, double *b, int *ldb, double *beta, double *c,
            int *ldc)
{
    int a_dim1, b_dim1, c_dim1, i__1, i__2;
    static int i, j, l;
    static double temp;
    a_dim1 = *lda; a -= 1 + a_dim1;
    b_dim1 = *ldb; b -= 1 + b_dim1;
    c_dim1 = *ldc; c -= 1 + c_dim1;
    i__1 = *n;
    for (j = 1; j <= i__1; ++j) {
        if (*beta == 0.) {
            i__2 = *m;
            for (i = 1; i <= i__2; ++i)
                c[i + j * c_dim1] = 0.;
        } else if (*beta != 1.) {
            i__2 = *m;
            for (i = 1; i <= i__2; ++i)
                c[i + j * c_dim1] = *beta * c[i + j * c_dim1];
        }
        i__2 = *k;
        for (l = 1; l <= i__2; ++l) {
            temp = *alpha * b[l + j * b_dim1];
            for (i = 1; i <= *m; ++i)
                c[i + j * c_dim1] += temp * a[i + l * a_dim1];
        }
    }
    return 0;
}
static int visits(int n, double *a)
{
    static int j;
    static double last;
    double before = last;
    for (j = 1; j <= n; ++j) {
        last = a[j] * 2;
        a[j] += last;
    }
    return before < last;
}
static double deep(int n, double *a)
{
    static double t;
    double sum = 0;
    for (int i = 0; i < n; i++) {
        t = a[i] * 0.5;
        a[i] += t;
    }
    if (n > 2)
        sum = deep(n - 1, a);
    return sum + t;
}
void relax(int nx, int ny, int nz, double *u, double *v)
{
    int i, j, k;
    u -= 1 + nx + nx * ny;
    v -= 1 + nx + nx * ny;
    for (k = 1; k <= nz; ++k)
        for (j = 1; j <= ny; ++j)
            for (i = 1; i <= nx; ++i)
                v[i + (j + k * ny) * nx] = 0.5 * u[i + (j + k * ny) * nx];
    for (k = 2; k <= nz - 1; ++k)
        for (j = 2; j <= ny - 1; ++j)
            for (i = 2; i <= nx - 1; ++i)
                u[i + (j + k * ny) * nx] = v[i - 1 + (j + k * ny) * nx] + v[i + 1 + (j + k * ny) * nx]
                    + v[i + (j - 1 + k * ny) * nx] + v[i + (j + 1 + (k + 1) * ny) * nx];
}
void sparse(int m, int n, int k, double *a, double *b, double *c)
{
    int i, j, l;
    double temp;
    for (j = 1; j <= n; ++j)
        for (l = 1; l <= k; ++l)
            if (b[l + j * k] > 1.) {
                temp = 0.5 * b[l + j * k];
                for (i = 1; i <= m; ++i)
                    c[i + j * m] += temp * a[i + l * m];
            }
}
static double data[5][40000];
int main(int argc, char **argv)
{
    int m = atoi(argv[1]), n = atoi(argv[2]), k = atoi(argv[3]), more = atoi(argv[4]), told = 0;
    int lda = m + more, ldb = k + more, ldc = m + more;
    double alpha = 0.5, beta = atof(argv[5]), sum = 0;
    for (int q = 0; q < 5; q++)
        for (int i = 0; i < 40000; i++)
            data[q][i] = (i * (q + 3) % 29) * 0.25;
    product(&m, &n, &k, &alpha, data[0], &lda, data[1], &ldb, &beta, data[2], &ldc);
    product(&m, &n, &k, data[2] + 3, data[2] + 1, &lda, data[1], &ldb, &beta, data[2], &ldc);
    for (int q = 0; q < 3; q++)
        told = told * 2 + visits(n + q, data[1]);
    sum = deep(m < 20 ? m : 20, data[0]);
    relax(m, n, k < 8 ? k : 8, data[3], data[4]);
    sparse(m, n, k, data[0], data[1], data[4]);
    relax(m, n, k < 8 ? k : 8, data[3], data[3] + 2);
    for (int q = 0; q < 5; q++)
        for (int i = 0; i < 40000; i++)
            sum = sum * 0.999 + data[q][i];
    printf("%d %.17g\\n", told, sum);
    return 0;
}
"""


def test_rows_that_begin_at_one_and_static_temporaries(tmp_path: Path) -> None:
    compiled, printed = compiled_file(TEXT, tmp_path, target="openmp", threads="always")
    found = {one.program.scop.function: one for one in compiled}
    assert any("c_panel" in name for name in (b.name for b in found["product"].program.buffers.values()))
    assert found["relax"].program.scop.arrays["v"].origins == (1, 1)
    assert "sparse" in found, "a loop under a condition counts with a variable that is declared before all loops"
    sizes = (("17", "19", "23"), ("1", "1", "1"), ("2", "9", "0"), ("6", "7", "5"), ("70", "66", "40"))
    runs = [(*some, more, beta) for some in sizes for more in ("0", "1", "5") for beta in ("0", "1", "1.5")]
    run_alike(TEXT, printed, tmp_path, runs)
