/*
 * covariance: the m x m covariance matrix of the columns of data (n
 * observations of m quantities).  data is centred on the way.
 */
#include "harness.h"

#define M SIZE(28, 80, 240, 1200, 2600)
#define N SIZE(32, 100, 260, 1400, 3000)

static void kernel_covariance(int m, int n, double float_n, double data[n][m],
                              double cov[m][m], double mean[m])
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
            cov[i][j] /= (float_n - 1.0);
            cov[j][i] = cov[i][j];
        }
#pragma endscop
}

int main(void)
{
    double (*data)[M] = bench_alloc(N, sizeof *data);
    double (*cov)[M] = bench_alloc(M, sizeof *cov);
    double *mean = bench_alloc(M, sizeof *mean);

    bench_fill_double(data, N * M, 1, -2.0, 3.0);

    bench_start();
    kernel_covariance(M, N, N, data, cov, mean);
    bench_stop();

    bench_dump_double("data", data, N, M);
    bench_dump_double("cov", cov, M, M);
    bench_dump_double("mean", mean, 1, M);
    bench_free(data);
    bench_free(cov);
    bench_free(mean);
    return 0;
}
