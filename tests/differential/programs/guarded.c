/* Conditions on parameters around whole nests, and on loop variables inside them. */
#include "driver.h"

static void guarded(int n, int m, int mode, double a[n][m], double b[n][m])
{
#pragma scop
    if (mode > 0 && n > 2) {
        for (int i = 0; i < n; i++)
            for (int j = 0; j < m; j++)
                b[i][j] = a[i][j] + 1.0;
    } else {
        for (int i = 0; i < n; i++)
            for (int j = 0; j < m; j++)
                b[i][j] = -a[i][j];
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            if (!(i == j) && (i > 2 || j <= m - 3))
                a[i][j] = b[i][j] * 2.0;
            if (i + j == n)
                a[i][j] += 1.0;
        }
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 1, 2, 3, 34, 65)
        FOR_SIZES(mode, -1, 0, 1, 100) {
            int m = n + 2;
            double *a = new_double(n * m), *b = new_double(n * m);
            guarded(n, m, mode, (void *)a, (void *)b);
            dump_double("a", a, n * m);
            dump_double("b", b, n * m);
            free(a), free(b);
        }
    return 0;
}
