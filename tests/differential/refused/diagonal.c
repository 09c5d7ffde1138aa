/* A lookup in a row that a condition ties to the loop's own variable. */
void f(int n, short m, const int k[1], const int rows[n - 7][n - 24], double *out)
{
#pragma scop
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            if (j == i)
                out[0 * (m + 7) + j] = rows[i][k[0]];
#pragma endscop
}
