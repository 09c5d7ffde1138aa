/* Loops of which one runs in a part of the other's iterations, and values of loop variables. */
void branches(int n, int m, double a[n][n], double b[n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            a[i][j] = i - 2.0 * j;
            if (i + j < m)
                b[i][j] = a[i][j] * (i + 1.0);
        }
#pragma endscop
}
