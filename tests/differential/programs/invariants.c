/* Values that some loops do not change: norms and means of rows, the weights of a window, the cosines of a transform. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define PI 3.14159265358979323846

static void cosine(int n, int m, int d, const float a[n][d], const float b[m][d], float s[n][m])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            float dot = 0, aa = 0, bb = 0;
            for (int k = 0; k < d; k++) {
                dot += a[i][k] * b[j][k];
                aa += a[i][k] * a[i][k];
                bb += b[j][k] * b[j][k];
            }
            s[i][j] = dot / (sqrtf(aa) * sqrtf(bb) + 1e-6f);
        }
#pragma endscop
}

static void pearson(int n, int d, const double x[n][d], double r[n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double mi = 0, mj = 0, ii = 0, jj = 0, ij = 0;
            for (int k = 0; k < d; k++) {
                mi += x[i][k];
                mj += x[j][k];
            }
            mi /= d;
            mj /= d;
            for (int k = 0; k < d; k++) {
                double p = x[i][k] - mi, q = x[j][k] - mj;
                ij += p * q;
                ii += p * p;
                jj += q * q;
            }
            r[i][j] = ij / sqrt(ii * jj + 1e-9);
        }
#pragma endscop
}

static void window(int h, int w, int r, float sigma, const float in[h][w], float out[h][w])
{
#pragma scop
    for (int y = r; y < h - r; y++)
        for (int x = r; x < w - r; x++) {
            float s = 0, weights = 0;
            for (int v = -r; v <= r; v++)
                for (int u = -r; u <= r; u++) {
                    float g = expf(-(u * u + v * v) / (2 * sigma * sigma));
                    s += g * in[y + v][x + u];
                    weights += g;
                }
            out[y][x] = s / weights;
        }
#pragma endscop
}

static void transform(int h, int w, const float in[h][w], float out[h][w])
{
#pragma scop
    for (int y = 0; y + 8 <= h; y += 8)
        for (int x = 0; x + 8 <= w; x += 8)
            for (int u = 0; u < 8; u++)
                for (int v = 0; v < 8; v++) {
                    float sum = 0;
                    for (int i = 0; i < 8; i++)
                        for (int j = 0; j < 8; j++)
                            sum += in[y + i][x + j] * cos((2 * i + 1) * u * PI / 16) * cos((2 * j + 1) * v * PI / 16);
                    out[y + u][x + v] = 0.25f * sum;
                }
#pragma endscop
}

static void field(int n, int m, double t, double u[n][m])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            u[i][j] = sin(PI * i / n) * cos(PI * j / m) * exp(-t * i) + (j > 2 ? log(j) : 0);
#pragma endscop
}

/* What only looks as if it did not change. */
static void steps(int n, double x[n], double y[n][n])
{
#pragma scop
    for (int t = 0; t < 3; t++)
        for (int i = 0; i < n; i++) {
            double s = 0, e = exp(0.01 * x[i]);
            for (int k = 0; k < n; k++)
                s += x[k];
            for (int j = 0; j < n; j++)
                y[i][j] = s * e + j * t;
            x[i] = s * 0.001;
        }
#pragma endscop
}

int main(void)
{
    static float a[40][64], b[40][64], c[40][64];
    static double x[40][40], y[40][40];
    double sum = 0;
    for (int round = 0; round < 6; round++) {
        int n = (int[]){0, 1, 7, 16, 33, 40}[round], m = (int[]){5, 1, 12, 24, 40, 9}[round];
        for (int i = 0; i < 40; i++)
            for (int j = 0; j < 64; j++) {
                a[i][j] = (i * 7 + j * 3) % 11 * 0.25f;
                b[i][j] = (i * 5 + j * 2) % 13 * 0.5f - 1;
                c[i][j] = 0;
                x[i][j % 40] = (i * 3 + j) % 17 * 0.125;
                y[i][j % 40] = 0;
            }
        cosine(n, m, 20, (void *)a, (void *)b, (void *)c);
        pearson(n, m, (void *)x, (void *)y);
        for (int i = 0; i < 1600; i++)
            sum = sum * 0.999 + ((float *)c)[i] + ((double *)y)[i];
        window(n, 40, round, 1.5f, (void *)a, (void *)c);
        transform(n, m, (void *)b, (void *)a);
        field(n, m, 0.1, (void *)x);
        steps(m, (void *)x, (void *)y);
        for (int i = 0; i < 1600; i++)
            sum = sum * 0.999 + ((float *)c)[i] + ((float *)a)[i] + ((double *)x)[i] * 0.1 + ((double *)y)[i] * 1e-3;
        printf("%.17g\n", sum);
    }
    return 0;
}
