/*
 * durbin: solves the Yule-Walker system T y = -r, where T is the symmetric
 * Toeplitz matrix with ones on the diagonal and r[0], r[1], ... beside it.
 */
#include "harness.h"

#define N SIZE(40, 120, 400, 2000, 4000)

static void kernel_durbin(int n, DATA_TYPE r[n], DATA_TYPE y[n])
{
    DATA_TYPE z[N];
    DATA_TYPE alpha, beta, sum;
    int i, k;

#pragma scop
    y[0] = -r[0];
    beta = 1.0;
    alpha = -r[0];

    for (k = 1; k < n; k++) {
        beta = (1 - alpha * alpha) * beta;
        sum = 0.0;
        for (i = 0; i < k; i++)
            sum += r[k - i - 1] * y[i];
        alpha = -(r[k] + sum) / beta;

        for (i = 0; i < k; i++)
            z[i] = y[i] + alpha * y[k - i - 1];
        for (i = 0; i < k; i++)
            y[i] = z[i];
        y[k] = alpha;
    }
#pragma endscop
}

int main(void)
{
    DATA_TYPE *r = bench_alloc(N, sizeof *r);
    DATA_TYPE *y = bench_alloc(N, sizeof *y);

    /* small enough that T is diagonally dominant */
    bench_fill_data(r, N, 1, -0.5 / N, 0.5 / N);

    bench_start();
    kernel_durbin(N, r, y);
    bench_stop();

    bench_dump_data("y", y, 1, N);
    bench_free(r);
    bench_free(y);
    return 0;
}
