/* Gauss-Seidel in place: wavefronts only. */
#include "driver.h"

static void seidel(int steps, int n, int m, double a[n][m])
{
#pragma scop
    for (int t = 0; t < steps; t++)
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < m - 1; j++)
                a[i][j] = 0.2 * (a[i - 1][j] + a[i][j - 1] + a[i][j] + a[i][j + 1] + a[i + 1][j]);
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 1, 3, 12, 50)
        FOR_SIZES(steps, 0, 1, 6) {
            int m = n + 3;
            double *a = new_double(n * m);
            seidel(steps, n, m, (void *)a);
            dump_double("a", a, n * m);
            free(a);
        }
    return 0;
}
