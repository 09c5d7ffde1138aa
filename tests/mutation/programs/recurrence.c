/* Gauss and Seidel: a sweep that reads what it has just written, in wavefronts inside of skewed tiles. */
void recurrence(int steps, int n, double a[n][n])
{
#pragma scop
    for (int t = 0; t < steps; t++)
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                a[i][j] = 0.125 * (a[i - 1][j + 1] + a[i - 1][j] + a[i][j - 1] + a[i][j] + a[i][j + 1] + a[i + 1][j - 1]);
#pragma endscop
}
