/* Loops over panels beside the user's own x0, x1, it, kt and A_panel: as parameters, loops, scalars and arrays. */
#include <stdio.h>
#include <stdlib.h>

static void sizes(int x0, int x1, double A[x0][x1], double B[x1][x0], double C[x0][x0])
{
#pragma scop
    for (int i = 0; i < x0; i++)
        for (int j = 0; j < x0; j++)
            for (int k = 0; k < x1; k++)
                C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}

static void scalars(int it, int kt, double x0, double x1, double A[it][kt], double B[kt][it], double C[it][it])
{
#pragma scop
    for (int i = 0; i < it; i++)
        for (int j = 0; j < it; j++) {
            C[i][j] *= x1;
            for (int k = 0; k < kt; k++)
                C[i][j] += x0 * A[i][k] * B[k][j];
        }
#pragma endscop
}

static void loops(int n, int m, double x02[n][m], double A_panel[m][n], double C[n][n])
{
#pragma scop
    for (int x1 = 0; x1 < n; x1++)
        for (int x0 = 0; x0 < n; x0++)
            for (int x2 = 0; x2 < m; x2++)
                C[x1][x0] += x02[x1][x2] * A_panel[x2][x0];
#pragma endscop
}

int main(void)
{
    for (int n = 1; n < 150; n += 37) {
        int m = n + 11;
        double(*A)[m] = malloc(sizeof(double[n][m])), (*B)[n] = malloc(sizeof(double[m][n]));
        double(*C)[n] = malloc(sizeof(double[n][n]));
        for (int i = 0; i < n; i++)
            for (int k = 0; k < m; k++)
                A[i][k] = 0.01 * i + 0.2 * k, B[k][i] = 0.03 * i - 0.1 * k;
        for (int i = 0; i < n; i++)
            for (int k = 0; k < n; k++)
                C[i][k] = i - 0.5 * k;
        sizes(n, m, A, B, C);
        scalars(n, m, 0.3, 0.7, A, B, C);
        loops(n, m, A, B, C);
        for (int i = 0; i < n; i += 5)
            for (int k = 0; k < n; k += 3)
                printf("%.17g\n", C[i][k]);
        free(A);
        free(B);
        free(C);
    }
    return 0;
}
