/* Neighbours that come back at the other end of their rows and columns. */
void periodic(int n, const double a[n][n], double b[n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            b[i][j] = a[(i + 1) % n][j] + a[(i + n - 1) % n][j] + a[i][(j + 1) % n] + a[i][(j + n - 1) % n];
#pragma endscop
}
