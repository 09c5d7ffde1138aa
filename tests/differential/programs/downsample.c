/* A pyramid step: smooth, take every second pixel, and go back up with i/2 subscripts. */
#include "driver.h"

static void pyramid(int n, double in[2 * n][2 * n], double small[n][n], double up[2 * n][2 * n])
{
    double s[2 * n][2 * n];
#pragma scop
    for (int i = 0; i < 2 * n; i++)
        for (int j = 0; j < 2 * n - 1; j++)
            s[i][j] = 0.5 * (in[i][j] + in[i][j + 1]);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n - 1; j++)
            small[i][j] = 0.5 * (s[2 * i][2 * j] + s[2 * i + 1][2 * j + 1]);
    for (int i = 0; i < 2 * n; i++)
        for (int j = 0; j < 2 * n - 2; j++)
            up[i][j] = small[i / 2][j / 2] - in[i][j];
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 1, 2, 3, 17, 40, 77) {
        double *in = new_double(4 * n * n), *small = new_double(n * n), *up = new_double(4 * n * n);
        pyramid(n, (void *)in, (void *)small, (void *)up);
        dump_double("small", small, n * n);
        dump_double("up", up, 4 * n * n);
        free(in), free(small), free(up);
    }
    return 0;
}
