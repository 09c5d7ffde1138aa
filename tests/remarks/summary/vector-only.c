void f(int t, int n, double (*a)[n])
{
#pragma scop
    for (int s = 1; s < t; s++)
        for (int i = 0; i < n; i++)
            a[s][i] = a[s - 1][n - 1 - i];
#pragma endscop
}
