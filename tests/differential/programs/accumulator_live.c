/* The scalar is read after the region: its last value counts. */
#include "driver.h"

static void rows(int n, int m, int a[n][m], int out[n])
{
    int acc = 7;
#pragma scop
    for (int i = 0; i < n; i++) {
        acc = 0;
        for (int j = 0; j < m; j++)
            acc += a[i][j] * (j + 1);
        out[i] = acc;
    }
#pragma endscop
    printf("acc %d\n", acc);
}

int main(void)
{
    FOR_SIZES(n, 1, 2, 7, 100) {
        int m = n + 3;
        int *a = new_int(n * m), *out = new_int(n);
        rows(n, m, (void *)a, out);
        dump_int("out", out, n);
        free(a), free(out);
    }
    return 0;
}
