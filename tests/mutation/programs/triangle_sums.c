/* Sums of products over a triangle, with a factor that a panel holds: steps that only some rows of a tile have. */
void triangle_sums(int n, double alpha, double A[n][n], double B[n][n], double C[n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k <= i; k++)
                C[i][j] += alpha * A[i][k] * B[k][j];
#pragma endscop
}
