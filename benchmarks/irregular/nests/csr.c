/*
 * A step of Richardson's second-order iteration for A x = b, A sparse by rows (CSR): the product with A, and the
 * updates of vectors that follow it.
 *
 *   r = b - A x,   z = D^-1 r,   p = beta p + z,   x_next = x + alpha p
 */
#include "harness.h"

#include <stdlib.h>

#define ROWS SIZE(100, 1000, 20000, 1000000, 4000000)
#define FEWEST 3
#define MOST 11
#define REACH SIZE(20, 100, 1000, 5000, 5000)

void csr(int n, const int row[n + 1], const int *col, const double *value, const double b[n], const double inverse[n],
         const double x[n], double p[n], double next[n], double alpha, double beta)
{
    double *y = malloc(sizeof(double[n])), *r = malloc(sizeof(double[n])), *z = malloc(sizeof(double[n]));

#pragma polyc live-out(p, next)
#pragma scop
    for (int i = 0; i < n; i++)
        y[i] = 0.0;
    for (int i = 0; i < n; i++)
        for (int k = row[i]; k < row[i + 1]; k++)
            y[i] += value[k] * x[col[k]];
    for (int i = 0; i < n; i++)
        r[i] = b[i] - y[i];
    for (int i = 0; i < n; i++)
        z[i] = inverse[i] * r[i];
    for (int i = 0; i < n; i++)
        p[i] = beta * p[i] + z[i];
    for (int i = 0; i < n; i++)
        next[i] = x[i] + alpha * p[i];
#pragma endscop
    free(y);
    free(r);
    free(z);
}

#include "rows.h"

int main(void)
{
    int *row = bench_alloc(ROWS + 1, sizeof(int));
    int elements = rows_index(row, ROWS, FEWEST, MOST);
    int *col = bench_alloc((size_t)elements, sizeof(int));
    double *value = bench_alloc((size_t)elements, sizeof(double));
    double *b = bench_alloc(ROWS, sizeof(double)), *inverse = bench_alloc(ROWS, sizeof(double));
    double *x = bench_alloc(ROWS, sizeof(double)), *p = bench_alloc(ROWS, sizeof(double));
    double *next = bench_alloc(ROWS, sizeof(double));

    rows_columns(col, row, ROWS, REACH);
    bench_fill_double(value, (size_t)elements, 1, -0.1, 0.1);
    bench_fill_double(b, ROWS, 2, -1.0, 1.0);
    bench_fill_double(inverse, ROWS, 3, 0.5, 1.0);
    bench_fill_double(x, ROWS, 4, -1.0, 1.0);
    bench_fill_double(p, ROWS, 5, -1.0, 1.0);
    bench_start();
    csr(ROWS, row, col, value, b, inverse, x, p, next, 0.6, 0.3);
    bench_stop();
    bench_dump_double("p", p, 1, ROWS);
    bench_dump_double("next", next, 1, ROWS);
    bench_free(next);
    bench_free(p);
    bench_free(x);
    bench_free(inverse);
    bench_free(b);
    bench_free(value);
    bench_free(col);
    bench_free(row);
    return 0;
}
