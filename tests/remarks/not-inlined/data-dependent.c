void f(int n, float A[8][n], float *T, int p[n], float C[n])
{
#pragma polyc live-out(C)
#pragma scop
    for (int k = 0; k < 8; k++)
        for (int i = 0; i < n; i++)
            T[k * n + i] = A[k][i] + 1.0f;
    for (int i = 0; i < n; i++)
        C[i] = T[p[i] * n + i];
#pragma endscop
}
