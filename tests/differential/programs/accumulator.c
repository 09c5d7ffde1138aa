/* A matrix product that gathers in a scalar, which has to be private to each (i, j). */
#include "driver.h"

static void product(int n, int m, int p, float a[n][p], float b[p][m], float c[n][m])
{
    float acc;
    int i, j, k;
#pragma scop
    for (i = 0; i < n; i++)
        for (j = 0; j < m; j++) {
            acc = 0.0f;
            for (k = 0; k < p; k++)
                acc += a[i][k] * b[k][j];
            c[i][j] = acc;
        }
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 1, 2, 7, 50) {
        int m = n + 3, p = 2 * n;
        float *a = new_float(n * p), *b = new_float(p * m), *c = new_float(n * m);
        product(n, m, p, (void *)a, (void *)b, (void *)c);
        dump_float("c", c, n * m);
        free(a), free(b), free(c);
    }
    return 0;
}
