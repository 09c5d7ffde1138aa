/* Two sums that have nothing in common but the array, the one by columns first. */
void f(int n, int m, float A[n][m], float x[n], float y[m], float s[m], float t[n])
{
#pragma scop
    for (int j = 0; j < m; j++)
        for (int i = 0; i < n; i++)
            s[j] += A[i][j] * x[i];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            t[i] += A[i][j] * y[j];
#pragma endscop
}
