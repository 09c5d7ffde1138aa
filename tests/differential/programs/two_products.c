/* Two matrix products in a row: overlapping tiles would repeat the first one for each column of tiles. */
#include "driver.h"

static void products(int n, int m, double A[n][m], double B[m][n], double C[n][m], double D[n][m])
{
    double T[n][n];
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            T[i][j] = 0;
            for (int k = 0; k < m; k++)
                T[i][j] += A[i][k] * B[k][j];
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            D[i][j] = 0;
            for (int k = 0; k < n; k++)
                D[i][j] += T[i][k] * C[k][j];
        }
#pragma endscop
}

int main(void)
{
    FOR_SIZES(n, 1, 2, 34, 65) {
        int m = n + 4;
        double *A = new_double(n * m), *B = new_double(n * m), *C = new_double(n * m), *D = new_double(n * m);
        products(n, m, (void *)A, (void *)B, (void *)C, (void *)D);
        dump_double("D", D, n * m);
        free(A), free(B), free(C), free(D);
    }
    return 0;
}
