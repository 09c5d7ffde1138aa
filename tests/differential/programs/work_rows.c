/* Rows and scalars that each iteration fills anew, and that somebody reads afterwards: arguments and globals. */
#include "driver.h"

double kept;
int digits;

static void filtered(int n, int m, double a[n][m], double b[n][m], double *restrict w)
{
#pragma scop
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < m; j++)
            w[j] = a[i][j] * 2;
        for (int j = 1; j < m - 1; j++)
            b[i][j] = w[j - 1] + w[j + 1];
    }
#pragma endscop
}

static void solved(int n, int m, double u[n][m], double r[n][m], double *restrict cp)
{
#pragma scop
    for (int j = 0; j < m; j++) {
        cp[0] = 0.25;
        u[0][j] = r[0][j] * 0.5;
        for (int i = 1; i < n; i++) {
            double d = 1.0 / (2.0 - cp[i - 1]);
            cp[i] = 0.5 * d;
            u[i][j] = (r[i][j] + u[i - 1][j]) * d;
        }
        for (int i = n - 2; i >= 0; i--)
            u[i][j] -= cp[i] * u[i + 1][j];
    }
#pragma endscop
}

static void scaled(int n, int m, double a[n][m], double b[n][m])
{
#pragma scop
    for (int i = n - 1; i >= 0; i -= 2)
        for (int j = 0; j < m; j++) {
            kept = a[i][j] * 3;
            digits = (int)kept;
            b[i][j] = kept - digits;
        }
#pragma endscop
}

static void growing(int n, int m, double a[n][m], double b[n][m], double *restrict w)
{
#pragma scop
    for (int t = 0; t < 3; t++) {
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < m && j <= i; j++)
                w[j] = a[i][j] + t;
            for (int j = 0; j < m && j <= i; j++)
                b[i][j] += w[j] * w[0];
        }
        for (int j = 0; j < m && j < n; j++)
            a[0][j] = w[j] * 0.5;
    }
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 1, 2, 3, 9, 40) {
        int m = 2 * n + 3;
        double *a = new_double(n * m), *b = new_double(n * m), *w = new_double(m + n);
        filtered(n, m, (void *)a, (void *)b, w);
        dump_double("filtered", b, n * m), dump_double("w", w, m + n);
        solved(n, m, (void *)a, (void *)b, w);
        dump_double("solved", a, n * m), dump_double("w", w, m + n);
        scaled(n, m, (void *)a, (void *)b);
        dump_double("scaled", b, n * m), printf("%.17g %d\n", kept, digits);
        growing(n, m, (void *)a, (void *)b, w);
        dump_double("growing", b, n * m), dump_double("w", w, m + n);
        free(a), free(b), free(w);
    }
    return 0;
}
