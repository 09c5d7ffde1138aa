/* A producer that a nest for the inside and four for the border write, and reads of all of it. */
#include "driver.h"

static void pad(int n, int m, int in[n][m], int out[n][m])
{
    int p[n + 2][m + 2];
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            p[i + 1][j + 1] = in[i][j];
    for (int j = 0; j < m; j++) {
        p[0][j + 1] = in[0][j];
        p[n + 1][j + 1] = in[n - 1][j];
    }
    for (int i = 0; i < n + 2; i++) {
        p[i][0] = p[i][1];
        p[i][m + 1] = p[i][m];
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            out[i][j] = p[i][j] + p[i][j + 2] + p[i + 2][j] + p[i + 2][j + 2] - 4 * p[i + 1][j + 1];
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 1, 2, 34, 70) {
        int m = n + 65;
        int *in = new_int(n * m), *out = new_int(n * m);
        pad(n, m, (void *)in, (void *)out);
        dump_int("out", out, n * m);
        free(in), free(out);
    }
    return 0;
}
