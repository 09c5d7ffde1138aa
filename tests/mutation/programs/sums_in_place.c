/* Sums of products of what later rows hold: tiles have to run in their order. */
void sums_in_place(int n, double A[n][n], double B[n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = i + 1; k < n; k++)
                B[i][j] += A[k][i] * B[k][j];
#pragma endscop
}
