/* LU factorisation with partial pivoting, rows swapped in place, and the solution of one system with it. */
#include "clock.h"

#include <math.h>

#ifdef SMALL
#define N 25
#else
#define N 700
#endif

static void solve(int n, double a[n][n], int pivot[n], double b[n])
{
    int i, j, k, p;
    double largest, swap;

#pragma scop
    for (k = 0; k < n; k++) {
        p = k;
        largest = fabs(a[k][k]);
        for (i = k + 1; i < n; i++)
            if (fabs(a[i][k]) > largest) {
                largest = fabs(a[i][k]);
                p = i;
            }
        pivot[k] = p;
        if (p != k)
            for (j = 0; j < n; j++) {
                swap = a[k][j];
                a[k][j] = a[p][j];
                a[p][j] = swap;
            }
        for (i = k + 1; i < n; i++) {
            a[i][k] /= a[k][k];
            for (j = k + 1; j < n; j++)
                a[i][j] -= a[i][k] * a[k][j];
        }
    }
    for (k = 0; k < n; k++) {
        swap = b[k];
        b[k] = b[pivot[k]];
        b[pivot[k]] = swap;
    }
    for (i = 0; i < n; i++)
        for (j = 0; j < i; j++)
            b[i] -= a[i][j] * b[j];
    for (i = n - 1; i >= 0; i--) {
        for (j = i + 1; j < n; j++)
            b[i] -= a[i][j] * b[j];
        b[i] /= a[i][i];
    }
#pragma endscop
}

int main(void)
{
    double (*a)[N] = memory(N, sizeof *a), *b = memory(N, sizeof *b), sum = 0.0;
    int *pivot = memory(N, sizeof *pivot);

    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++)
            a[i][j] = noise() - 0.5;
        b[i] = noise();
    }
    clock_start();
    solve(N, a, pivot, b);
    clock_stop();
    for (int i = 0; i < N; i++)
        sum += b[i] * (1 + i % 5) + pivot[i];
    printf("%.17g\n", sum);
    free(pivot);
    free(b);
    free(a);
    return 0;
}
