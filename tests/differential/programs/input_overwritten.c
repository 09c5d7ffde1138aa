/* The consumer overwrites what the producer reads: the producer must not run again after it. */
#include "driver.h"

static void step(int n, int m, double a[n][m])
{
    double b[n][m];
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            b[i][j] = 0.5 * a[i][j];
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < m - 1; j++)
            a[i][j] = b[i - 1][j - 1] + b[i + 1][j + 1] - b[i][j];
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 1, 3, 34, 80) {
        int m = n + 60;
        double *a = new_double(n * m);
        step(n, m, (void *)a);
        dump_double("a", a, n * m);
        free(a);
    }
    return 0;
}
