/* A subscript that the data decide, behind a condition that never holds: nobody asks whether it stays in its row, and
   nobody has to. */
static double b[4];
void idle(int n, int m, int k, double *a, int x[k], double c[n][n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < k; j++)
            b[0] = j != j + 1 ? c[i][0] : c[i][j < n ? j : n - 1] + a[i * (k + 4) + x[j]];
        c[i][i % 3] = 0.3 - c[i][i];
        if (c[i][0] > 0.5)
            for (int j = 0; j < 2; j++)
                if (j == j + 1)
                    c[i][i] += a[i * (k + 4) + j % 3];
    }
#pragma endscop
}
