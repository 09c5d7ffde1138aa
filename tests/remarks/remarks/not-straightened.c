/* polyc compile */
void f(int n, double a[n][n])
{
#pragma scop
    for (int i = 1; i < n; i++)
        for (int j = 1; j < n - 1; j++)
            a[i][j] = a[i - 1][j + 1] + a[i][j - 1];
#pragma endscop
}
