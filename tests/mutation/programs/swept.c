/* Sweeps over rows and columns from the last to the first, of which each element waits for the one after it. */
void swept(int n, double A[n][n], const double b[n][n])
{
#pragma scop
    for (int y = n - 2; y > 0; y--)
        for (int x = n - 2; x >= 1; x--) {
            double m = b[y][x];
            m = m + A[y + 1][x + 1] * 0.5;
            m = m + A[y][x + 1] * 0.25;
            A[y][x] = m;
        }
#pragma endscop
}
