/* polyc compile --target cuda --reassociate */
void rows(int n, double a[n][n], double s[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            s[i] += a[i][j];
#pragma endscop
}
