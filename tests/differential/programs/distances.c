/* Distances of all pairs, with the difference in a variable: the sums read it once, several times, or it stays. */
#include "driver.h"
#include <math.h>

static void squares(int n, int m, int d, const float *a, const float *b, float *out)
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            float s = 0;
            for (int k = 0; k < d; k++) {
                float t = a[i * d + k] - b[j * d + k];
                s += t * t;
            }
            out[i * m + j] = sqrtf(s);
        }
#pragma endscop
}

static void sums(int n, int d, double a[n][d], double b[n][d], double near[n][n], double most[n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double s = 0;
            for (int k = 0; k < d; k++) {
                double t = fabs(a[i][k] - b[j][k]);
                s += t;
            }
            near[i][j] = s;
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            most[i][j] = 0;
            for (int k = 0; k < d; k++) {
                double t = a[i][k] * b[j][k] - 0.5;
                most[i][j] += t * t * near[i][j];
            }
        }
#pragma endscop
}

/* The variable is read once more, in another statement or behind the loop; its type rounds. */
static double kept(int n, int d, double a[n][d], double b[n][d], double out[n][n])
{
    double t = 0, all = 0;
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            out[i][j] = 0;
            for (int k = 0; k < d; k++) {
                float u = a[i][k] - b[j][k];
                t = a[i][k] + b[j][k];
                out[i][j] += u * u;
                out[i][j] += t * 0.25;
            }
            all += t;
        }
#pragma endscop
    return all + t;
}

int main(void)
{
    FOR_SIZES(n, 1, 2, 17, 40) {
        int d = n == 2 ? 37 : 9, m = n + 3;
        float *x = new_float(n * d), *y = new_float(m * d), *out = new_float(n * m);
        double *a = new_double(n * d), *b = new_double(n * d), *near = new_double(n * n), *most = new_double(n * n);
        squares(n, m, d, x, y, out);
        dump_float("out", out, n * m);
        sums(n, d, (void *)a, (void *)b, (void *)near, (void *)most);
        dump_double("near", near, n * n);
        dump_double("most", most, n * n);
        printf("%.17g\n", kept(n, d, (void *)a, (void *)b, (void *)near));
        dump_double("near", near, n * n);
        free(x), free(y), free(out), free(a), free(b), free(near), free(most);
    }
    return 0;
}
