/* Forward and backward substitution: triangles, and a loop that goes down. */
#include "driver.h"

static void solve(int n, double L[n][n], double b[n], double y[n], double x[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        y[i] = b[i];
        for (int j = 0; j < i; j++)
            y[i] -= L[i][j] * y[j];
        y[i] = y[i] / L[i][i];
    }
    for (int i = n - 1; i >= 0; i--) {
        x[i] = y[i];
        for (int j = i + 1; j < n; j++)
            x[i] -= L[j][i] * x[j];
        x[i] = x[i] / L[i][i];
    }
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 1, 2, 20, 70) {
        double *L = new_double(n * n), *b = new_double(n), *y = new_double(n), *x = new_double(n);
        for (int i = 0; i < n * n; i++)
            L[i] = i % (n + 1) == 0 ? 2.0 + n : L[i];
        solve(n, (void *)L, b, y, x);
        dump_double("y", y, n);
        dump_double("x", x, n);
        free(L), free(b), free(y), free(x);
    }
    return 0;
}
