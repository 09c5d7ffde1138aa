/*
 * covariance: the m x m covariance matrix of the columns of data (n
 * observations of m quantities).  data is centred on the way.
 */
#include "harness.h"

#define M SIZE(28, 80, 240, 1200, 2600)
#define N SIZE(32, 100, 260, 1400, 3000)

static void kernel_covariance(int m, int n, DATA_TYPE float_n, DATA_TYPE data[n][m],
                              DATA_TYPE cov[m][m], DATA_TYPE mean[m])
{
#pragma scop
    for (int j = 0; j < m; j++) {
        mean[j] = 0.0;
        for (int i = 0; i < n; i++)
            mean[j] += data[i][j];
        mean[j] /= float_n;
    }

    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            data[i][j] -= mean[j];

    for (int i = 0; i < m; i++)
        for (int j = i; j < m; j++) {
            cov[i][j] = 0.0;
            for (int k = 0; k < n; k++)
                cov[i][j] += data[k][i] * data[k][j];
            cov[i][j] /= (float_n - REAL(1.0));
            cov[j][i] = cov[i][j];
        }
#pragma endscop
}

int main(void)
{
    DATA_TYPE (*data)[M] = bench_alloc(N, sizeof *data);
    DATA_TYPE (*cov)[M] = bench_alloc(M, sizeof *cov);
    DATA_TYPE *mean = bench_alloc(M, sizeof *mean);

    bench_fill_data(data, N * M, 1, -2.0, 3.0);

    bench_start();
    kernel_covariance(M, N, N, data, cov, mean);
    bench_stop();

    bench_dump_data("data", data, N, M);
    bench_dump_data("cov", cov, M, M);
    bench_dump_data("mean", mean, 1, M);
    bench_free(data);
    bench_free(cov);
    bench_free(mean);
    return 0;
}
