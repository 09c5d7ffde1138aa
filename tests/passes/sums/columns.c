/* Sums of columns: a vector of them, and eight rows for each of its loads and stores. */
void f(int n, int m, float A[n][m], float x[n], float y[m])
{
#pragma scop
    for (int j = 0; j < m; j++)
        for (int i = 0; i < n; i++)
            y[j] += A[i][j] * x[i];
#pragma endscop
}
