/* The producer is read transposed, turned round, and through i + j. */
#include "driver.h"

static void turn(int n, int m, double a[n][m], double out[m][n], double diag[n])
{
    double p[n][m];
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            p[i][j] = a[i][j] + i * j;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            out[i][j] = p[j][i] - p[n - 1 - j][m - 1 - i];
    for (int i = 0; i < n; i++)
        diag[i] = p[i][i] + p[n - 1 - i][i];
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 1, 2, 34, 70) {
        int m = n + 65;
        double *a = new_double(n * m), *out = new_double(n * m), *diag = new_double(n);
        turn(n, m, (void *)a, (void *)out, diag);
        dump_double("out", out, n * m);
        dump_double("diag", diag, n);
        free(a), free(out), free(diag);
    }
    return 0;
}
