void f(int n, int m, const float *a, float *b)
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            b[i * m + j] = a[i * (m + 2) + j + 1];
#pragma endscop
}
