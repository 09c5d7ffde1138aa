/* Arrays of pointers to rows. */
#include "driver.h"

static void rows(int n, int m, double **a, double **b)
{
    int i, j;
#pragma scop
    for (i = 0; i < n; i++)
        for (j = 0; j < m; j++)
            b[i][j] = a[i][j] * 2.0;
    for (i = 1; i < n; i++)
        for (j = 0; j < m - 1; j++)
            a[i][j] = b[i - 1][j] + b[i][j + 1];
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 1, 2, 34, 60) {
        int m = n + 5;
        double *flat[2] = {new_double(n * m), new_double(n * m)};
        double **a = driver_alloc(n, sizeof *a), **b = driver_alloc(n, sizeof *b);
        for (int i = 0; i < n; i++)
            a[i] = flat[0] + i * m, b[i] = flat[1] + i * m;
        rows(n, m, a, b);
        dump_double("a", flat[0], n * m);
        dump_double("b", flat[1], n * m);
        free(a), free(b), free(flat[0]), free(flat[1]);
    }
    return 0;
}
