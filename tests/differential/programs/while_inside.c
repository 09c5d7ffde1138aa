/* A while loop of unknown length in each point: Mandelbrot, and its blur. */
#include "driver.h"

static void mandelbrot(int n, int m, int count[n][m], int out[n][m])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            double cr = 3.0 * j / m - 2.0, ci = 2.0 * i / n - 1.0, zr = 0, zi = 0;
            int k = 0;
            while (k < 50 && zr * zr + zi * zi < 4.0) {
                double t = zr * zr - zi * zi + cr;
                zi = 2 * zr * zi + ci;
                zr = t;
                k++;
            }
            count[i][j] = k;
        }
    for (int i = 1; i < n; i++)
        for (int j = 1; j < m; j++)
            out[i][j] = count[i][j] + count[i - 1][j] + count[i][j - 1];
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 1, 2, 34, 50) {
        int m = n + 90;
        int *count = new_int(n * m), *out = new_int(n * m);
        mandelbrot(n, m, (void *)count, (void *)out);
        dump_int("count", count, n * m);
        dump_int("out", out, n * m);
        free(count), free(out);
    }
    return 0;
}
