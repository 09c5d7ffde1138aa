void upper_triangle(int n, double A[n][n], double x[n], double y[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = i; j < n; j++)
            y[i] += A[i][j] * x[j];
#pragma endscop
}
