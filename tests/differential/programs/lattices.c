/* Triangles that shrink in place, as lattices of option prices, and tables of dynamic programming along diagonals: later
   steps write fewer cells than the first one. */
#include "driver.h"

static void lattice(double *restrict v)
{
#pragma scop
    for (int n = 299; n >= 0; n--)
        for (int i = 0; i <= n; i++)
            v[i] = 0.5 * v[i + 1] + 0.49 * v[i];
#pragma endscop
}

static void american(double *restrict v, double *restrict s, double k)
{
#pragma scop
    for (int n = 299; n >= 0; n--)
        for (int i = 0; i <= n; i++) {
            s[i] = s[i] * 1.01;
            double hold = 0.99 * (0.55 * v[i + 1] + 0.45 * v[i]);
            double now = k - s[i];
            v[i] = hold > now ? hold : now;
        }
#pragma endscop
}

static void weights(int n, double w[n + 2][n + 1], double p[n + 1])
{
#pragma scop
    for (int l = 1; l <= n; l++)
        for (int i = 1; i <= n - l + 1; i++) {
            int j = i + l - 1;
            w[i][j] = w[i][j - 1] + p[j];
        }
#pragma endscop
}

int main(void)
{
    double *v = new_double(301), *s = new_double(301), *p = new_double(71), *w = new_double(72 * 71);
    lattice(v);
    dump_double("v", v, 301);
    american(v, s, 0.8);
    dump_double("v", v, 301);
    dump_double("s", s, 301);
    weights(70, (double (*)[71])w, p);
    dump_double("w", w, 72 * 71);
    free(v), free(s), free(p), free(w);
    return 0;
}
