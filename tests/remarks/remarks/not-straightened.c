/* polyc compile --target c */
void f(int n, double a[n][n])
{
#pragma scop
    for (int i = 1; i < n; i++)
        for (int j = 1; j < n - 1; j++)
            a[j][i] = a[j + 1][i - 1] + a[j - 1][i];
#pragma endscop
}
