/* Jacobi with two arrays in a time loop, the copy written as a nest of its own. */
#include "driver.h"

static void jacobi(int steps, int n, double a[n][n], double b[n][n])
{
    int t, i, j;
#pragma scop
    for (t = 0; t < steps; t++) {
        for (i = 1; i < n - 1; i++)
            for (j = 1; j < n - 1; j++)
                b[i][j] = 0.25 * (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]);
        for (i = 1; i < n - 1; i++)
            for (j = 1; j < n - 1; j++)
                a[i][j] = b[i][j];
    }
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 1, 3, 10, 70)
        FOR_SIZES(steps, 0, 1, 5) {
            double *a = new_double(n * n), *b = new_double(n * n);
            jacobi(steps, n, (void *)a, (void *)b);
            dump_double("a", a, n * n);
            dump_double("b", b, n * n);
            free(a), free(b);
        }
    return 0;
}
