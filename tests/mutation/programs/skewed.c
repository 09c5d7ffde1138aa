/* Sweeps in two dimensions, in skewed tiles: both are tiled, and the array is updated from far to one side. */
void skewed(int steps, int n, double a[n][n], double b[n][n])
{
#pragma scop
    for (int t = 0; t < steps; t++) {
        for (int i = 2; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                b[i][j] = 0.25 * (a[i - 2][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]);
        for (int i = 2; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                a[i][j] = 0.5 * (b[i][j] + b[i - 1][j]);
    }
#pragma endscop
}
