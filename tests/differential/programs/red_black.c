/* Every second element, in the ways that people write it: by a condition, by where the loop starts, by continue. */
#include "driver.h"

static void condition(int sweeps, int n, double u[n][n])
{
#pragma scop
    for (int t = 0; t < sweeps; t++)
        for (int c = 0; c < 2; c++)
            for (int y = 1; y < n - 1; y++)
                for (int x = 1; x < n - 1; x++)
                    if ((y + x) % 2 == c)
                        u[y][x] = 0.25 * (u[y - 1][x] + u[y + 1][x] + u[y][x - 1] + u[y][x + 1]);
#pragma endscop
}

static void start(int sweeps, int n, int m, const double *restrict f, double *restrict u)
{
#pragma scop
    for (int t = 0; t < sweeps; t++)
        for (int color = 0; color < 2; color++)
            for (int y = 1; y < n - 1; y++)
                for (int x = 1 + (y + color) % 2; x < m - 1; x += 2) {
                    int k = y * m + x;
                    u[k] = 0.25 * (u[k - m] + u[k + m] + u[k - 1] + u[k + 1] - f[k]);
                }
#pragma endscop
}

static void jump(int n, int color, const double f[n][n], double u[n][n])
{
#pragma scop
    for (int y = 1; y < n - 1; y++)
        for (int x = 1; x < n - 1; x++) {
            if ((x + y + color) & 1)
                continue;
            u[y][x] = 0.5 * u[y][x] + 0.125 * (u[y - 1][x] + u[y + 1][x] + u[y][x - 1] + u[y][x + 1]);
            if (x > y) {
                u[y][x] += f[x][y];
                continue;
            }
            u[y][x] -= f[y][x];
        }
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 1, 3, 4, 9, 40, 101) {
        int m = n + 5;
        double *u = new_double(n * m), *f = new_double(n * m);
        condition(n % 4, n, (void *)u);
        dump_double("condition", u, n * m);
        start(n % 5, n, m, f, u);
        dump_double("start", u, n * m);
        jump(n, 0, (void *)f, (void *)u);
        jump(n, n % 3, (void *)f, (void *)u);
        dump_double("jump", u, n * m);
        free(u), free(f);
    }
    return 0;
}
