void f(int n, int steps, double A[n][40][40])
{
#pragma scop
    for (int t = 1; t < steps; t++)
        for (int i = 0; i < 40; i++)
            for (int j = 0; j < 40; j++)
                A[t][i][j] = A[t - 1][i][j] * A[t - 1][0][0] + t;
#pragma endscop
}
