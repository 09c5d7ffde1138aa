/* A time loop over A[t % 2]: the planes take turns. */
#include "driver.h"

static void heat(int steps, int n, double a[2][n])
{
#pragma scop
    for (int t = 0; t < steps; t++)
        for (int i = 1; i < n - 1; i++)
            a[(t + 1) % 2][i] = 0.25 * a[t % 2][i - 1] + 0.5 * a[t % 2][i] + 0.25 * a[t % 2][i + 1];
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 1, 3, 40, 300)
        FOR_SIZES(steps, 0, 1, 2, 9) {
            double *a = new_double(2 * n);
            heat(steps, n, (void *)a);
            dump_double("a", a, 2 * n);
            free(a);
        }
    return 0;
}
