/* Tridiagonal systems of independent lines, over time: several lines at once where each element waits for the one
   before it, one by one where none does. */
#include "driver.h"

#define L 150

static void solve(int lines, int steps, double v[lines][L + 1], double rhs[lines][L + 1], double cp[lines][L + 1],
                  double dp[lines][L + 1], const double al[L + 1], const double be[L + 1])
{
    int i, n, b;
#pragma scop
    for (n = 0; n < steps; n++)
        for (b = 0; b < lines; b++) {
            for (i = 1; i < L; i++)
                rhs[b][i] = al[i] * v[b][i - 1] + (1 + be[i]) * v[b][i] + al[i] * v[b][i + 1];
            cp[b][1] = -al[1] / (3 - be[1]);
            dp[b][1] = rhs[b][1] / (3 - be[1]);
            for (i = 2; i < L; i++) {
                double m = 3 - be[i] + al[i] * cp[b][i - 1];
                cp[b][i] = -al[i] / m;
                dp[b][i] = (rhs[b][i] + al[i] * dp[b][i - 1]) / m;
            }
            v[b][L] = 2 * v[b][L - 1] - v[b][L - 2];
            v[b][L - 1] = dp[b][L - 1];
            for (i = L - 2; i >= 1; i--)
                v[b][i] = dp[b][i] - cp[b][i] * v[b][i + 1];
            v[b][0] = v[b][0] * 0.875;
        }
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 1, 7, 8, 19) {
        double *v = new_double(n * (L + 1)), *r = new_double(n * (L + 1)), *c = new_double(n * (L + 1));
        double *d = new_double(n * (L + 1)), *al = new_double(L + 1), *be = new_double(L + 1);
        solve(n, n % 5 + 1, (double (*)[L + 1])v, (double (*)[L + 1])r, (double (*)[L + 1])c, (double (*)[L + 1])d, al, be);
        dump_double("v", v, n * (L + 1));
        dump_double("c", c, n * (L + 1));
        free(v), free(r), free(c), free(d), free(al), free(be);
    }
    return 0;
}
