void planes_of_triangles(int n, double A[n][3][n], double x[n], double y[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < i; k++)
                y[i] += A[i][j][k] * x[k];
#pragma endscop
}
