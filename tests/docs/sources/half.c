void add(int n, _Float16 C[n][n], _Float16 A[n][n], float alpha)
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            C[i][j] = C[i][j] + A[i][j] * alpha;
#pragma endscop
}
