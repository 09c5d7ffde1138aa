void f(int n, int m, double a[n][m], double out[n][m])
{
    double t[n][m];
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            t[i][j] = 2 * a[i][j];
            if (a[i][j] > 0)
                t[i][j] = 1;
        }
    for (int i = 0; i < n; i++)
        for (int j = 1; j < m; j++)
            if (t[i][j] > t[i][j - 1])
                out[i][j] = t[i][j];
#pragma endscop
}
