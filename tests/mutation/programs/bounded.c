/* Rows of 40 elements, of which sizes that nobody knows are used. */
void bounded(int n, int m, double a[][40], double b[][40], double out[][40])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            out[i][j] = a[i][j] - (b[i][j] - (a[i][j] - 1));
}
