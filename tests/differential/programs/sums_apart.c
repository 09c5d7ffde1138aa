/* Rows that are computed by themselves, and what goes from one to the next: sums, extrema with their places, columns. */
#include "driver.h"

static int near(int n, int m, double a[n][m], double b[n][m], double *restrict least)
{
    int at = -1;
#pragma scop
    for (int i = 0; i < n; i++) {
        double s = 0;
        for (int j = 0; j < m; j++)
            s += (a[i][j] - b[0][j]) * (a[i][j] - b[0][j]);
        if (s < *least) {
            *least = s;
            at = i;
        }
    }
#pragma endscop
    return at;
}

static float scaled(int n, int m, double a[n][m], double b[n][m], float *restrict part, int *restrict large)
{
    float total = 1.5f;
    double last = 0;
#pragma scop
    for (int i = 0; i < n; i++) {
        float s = 0;
        for (int j = 0; j < m; j++)
            s += a[i][j];
        for (int j = 0; j < m; j++)
            b[i][j] = a[i][j] * s;
        total += s * s + i;
        last = last * 0.5 + b[i][m - 1];
        if (s > 3)
            (*large)++;
        part[0] -= s;
    }
#pragma endscop
    return total + (float)last;
}

static void columns(int n, int m, double a[n][m], double b[n][m], double *restrict sums, double *restrict w)
{
#pragma scop
    for (int t = 0; t < 2; t++) {
        for (int i = 0; i < n; i++) {
            double s = 0;
            for (int j = 0; j < m; j++)
                s += a[i][j] * w[j];
            for (int j = 0; j < m; j++)
                b[i][j] = a[i][j] - s * w[j];
            for (int j = 0; j < m; j++)
                sums[j] += s * b[i][j];
        }
        for (int j = 0; j < m; j++)
            w[j] = sums[j] * 0.125;
    }
#pragma endscop
}

static double pixels(int n, int m, double a[n][m], double b[n][m])
{
    double energy = 0;
#pragma scop
    for (int i = 1; i < n - 1; i++)
        for (int j = i; j < m - 1; j++) {
            double s = 0;
            for (int k = -1; k <= 1; k++)
                s += a[i + k][j - k];
            b[i][j] = s;
            if (i + j > 4)
                energy += s * s;
            s = b[i][j] * 2;
            for (int k = 0; k < 2; k++)
                b[i][j] += s * k;
            energy -= s;
        }
#pragma endscop
    return energy;
}

int main(void)
{
    FOR_SIZES(n, 1, 2, 3, 9, 40) {
        int m = n + 5, large = 2;
        double *a = new_double(n * m), *b = new_double(n * m), *w = new_double(m), *sums = new_double(m), least = 50;
        float part = 0.25f;
        int at = near(n, m, (void *)a, (void *)b, &least);
        printf("%d %.17g\n", at, least);
        float total = scaled(n, m, (void *)a, (void *)b, &part, &large);
        printf("%.9g %.9g %d\n", total, part, large);
        dump_double("b", b, n * m);
        columns(n, m, (void *)a, (void *)b, sums, w);
        dump_double("b", b, n * m), dump_double("sums", sums, m), dump_double("w", w, m);
        printf("%.17g\n", pixels(n, m, (void *)a, (void *)b));
        dump_double("b", b, n * m);
        free(a), free(b), free(w), free(sums);
    }
    return 0;
}
