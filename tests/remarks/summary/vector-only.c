void f(int t, int n, double (*a)[n])
{
#pragma scop
    for (int s = 1; s < t; s++)
        for (int i = 0; i < n; i++)
            a[s][i] = a[s - 1][n - 1 - i];
#pragma endscop
}

void g(int n, double a[n][n])
{
#pragma scop
    for (int i = 1; i < n; i++)
        for (int j = 1; j < n; j++)
            a[i][j] = a[i - 1][j] + a[i][j - 1];
#pragma endscop
}
