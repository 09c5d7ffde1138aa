/* A rank-one update, its transposed product and its product: one matrix, three walks. */
#include "driver.h"

static void gemver(int n, float A[n][n], float u[n], float v[n], float x[n], float y[n], float w[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            A[i][j] += u[i] * v[j];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            x[i] += 1.5f * A[j][i] * y[j];
    for (int i = 0; i < n; i++)
        w[i] = x[i];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            w[i] += A[i][j] * x[j];
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 1, 2, 34, 90) {
        float *A = new_float(n * n), *u = new_float(n), *v = new_float(n), *x = new_float(n), *y = new_float(n),
              *w = new_float(n);
        gemver(n, (void *)A, u, v, x, y, w);
        dump_float("A", A, n * n);
        dump_float("x", x, n);
        dump_float("w", w, n);
        free(A), free(u), free(v), free(x), free(y), free(w);
    }
    return 0;
}
