/*
 * correlation: the m x m matrix of correlations between the columns of data
 * (n observations of m quantities).  data itself is centred and scaled on
 * the way.  A column that hardly varies counts as one of deviation one.
 */
#include "harness.h"
#include <math.h>

#define M SIZE(28, 80, 240, 1200, 2600)
#define N SIZE(32, 100, 260, 1400, 3000)

static void kernel_correlation(int m, int n, DATA_TYPE float_n, DATA_TYPE data[N][M],
                               DATA_TYPE corr[M][M], DATA_TYPE mean[M],
                               DATA_TYPE stddev[M])
{
    int i, j, k;
    DATA_TYPE eps = REAL(0.1);

#pragma scop
    for (j = 0; j < m; j++) {
        mean[j] = 0.0;
        for (i = 0; i < n; i++)
            mean[j] += data[i][j];
        mean[j] /= float_n;
    }

    for (j = 0; j < m; j++) {
        stddev[j] = 0.0;
        for (i = 0; i < n; i++)
            stddev[j] += (data[i][j] - mean[j]) * (data[i][j] - mean[j]);
        stddev[j] /= float_n;
        stddev[j] = SQRT(stddev[j]);
        stddev[j] = stddev[j] <= eps ? REAL(1.0) : stddev[j];
    }

    for (i = 0; i < n; i++)
        for (j = 0; j < m; j++) {
            data[i][j] -= mean[j];
            data[i][j] /= SQRT(float_n) * stddev[j];
        }

    for (i = 0; i < m - 1; i++) {
        corr[i][i] = 1.0;
        for (j = i + 1; j < m; j++) {
            corr[i][j] = 0.0;
            for (k = 0; k < n; k++)
                corr[i][j] += data[k][i] * data[k][j];
            corr[j][i] = corr[i][j];
        }
    }
    corr[m - 1][m - 1] = 1.0;
#pragma endscop
}

int main(void)
{
    DATA_TYPE (*data)[M] = bench_alloc(N, sizeof *data);
    DATA_TYPE (*corr)[M] = bench_alloc(M, sizeof *corr);
    DATA_TYPE *mean = bench_alloc(M, sizeof *mean);
    DATA_TYPE *stddev = bench_alloc(M, sizeof *stddev);

    bench_fill_data(data, N * M, 1, -2.0, 3.0);
    /* every eighth column falls under the epsilon test */
    for (int j = 0; j < M; j += 8)
        for (int i = 0; i < N; i++)
            data[i][j] *= 0.01;

    bench_start();
    kernel_correlation(M, N, N, data, corr, mean, stddev);
    bench_stop();

    bench_dump_data("data", data, N, M);
    bench_dump_data("corr", corr, M, M);
    bench_dump_data("mean", mean, 1, M);
    bench_dump_data("stddev", stddev, 1, M);
    bench_free(data);
    bench_free(corr);
    bench_free(mean);
    bench_free(stddev);
    return 0;
}
