/* Loops that are bodies of others, or branches, without braces around them. */
#include <math.h>
#include <stdio.h>

#define N 2048

static float re[N], im[N], wr[N], wi[N];
static double a[N], b[N];

static void transform(int n, float *x, float *y, const float *cosines, const float *sines)
{
    for (int len = 1; len < n; len <<= 1)
        for (int i = 0; i < n; i += 2 * len)
            for (int j = 0; j < len; j++) {
                float u = x[i + j], v = y[i + j];
                float p = x[i + j + len] * cosines[j] - y[i + j + len] * sines[j];
                float q = x[i + j + len] * sines[j] + y[i + j + len] * cosines[j];
                x[i + j] = u + p, y[i + j] = v + q;
                x[i + j + len] = u - p, y[i + j + len] = v - q;
            }
}

static int branches(int n, double *x, double *y, double limit)
{
    int times = 0;
    if (x[3] > limit)
        for (int i = 0; i < n; i++)
            x[i] = 0.5 * y[i];
    else if (x[4] > limit) for (int i = 0; i < n; i++) x[i] += y[i]; else
        for (int i = 0; i < n; i++)
            x[i] -= y[i];
    while (fabs(y[5]) > limit)
        for (int i = 0, k = times++; i < n; i++)
            y[i] = 0.75 * y[i] + (i + k) % 3;
    for (double t = 0; t < limit; t += 0.25)
        for (int i = 1; i < n; i++)
            x[i] += t * y[i - 1];
    return times;
}

int main(void)
{
    for (int i = 0; i < N; i++) {
        re[i] = i * 7 % 23;
        im[i] = i * 5 % 19;
        wr[i] = 1.0f / (1 + i);
        wi[i] = 1.0f - wr[i];
        a[i] = i % 17;
        b[i] = 90 + i % 13;
    }
    transform(N, re, im, wr, wi);
    transform(16, im, im + 8, wr, wi);
    for (int k = 0; k < 4; k++) {
        int times = branches(N - k, a, b, 13.5 - k);
        printf("%d %g %g %g %g\n", times, a[k], b[k], a[N - 7], b[N - 9]);
    }
    for (int i = 0; i < N; i += 171)
        printf("%.9g %.9g\n", re[i], im[i]);
    return 0;
}
