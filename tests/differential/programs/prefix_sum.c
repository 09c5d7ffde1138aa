/* A running sum along each row, then down the columns: an integral image, and box sums from it. */
#include "driver.h"

static void box(int n, int m, int in[n][m], int sum[n][m], int out[n][m])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        sum[i][0] = in[i][0];
        for (int j = 1; j < m; j++)
            sum[i][j] = sum[i][j - 1] + in[i][j];
    }
    for (int i = 1; i < n; i++)
        for (int j = 0; j < m; j++)
            sum[i][j] += sum[i - 1][j];
    for (int i = 2; i < n; i++)
        for (int j = 2; j < m; j++)
            out[i][j] = sum[i][j] - sum[i - 2][j] - sum[i][j - 2] + sum[i - 2][j - 2];
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 1, 2, 3, 40, 90) {
        int m = n + 50;
        int *in = new_int(n * m), *sum = new_int(n * m), *out = new_int(n * m);
        box(n, m, (void *)in, (void *)sum, (void *)out);
        dump_int("sum", sum, n * m);
        dump_int("out", out, n * m);
        free(in), free(sum), free(out);
    }
    return 0;
}
