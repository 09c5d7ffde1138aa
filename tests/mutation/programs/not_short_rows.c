/* Short rows that keep their tiles: a triangle, and neighbours that share data; and a loop that carries a value. */
void not_short_rows(int n, float A[n][9], float B[n][9], float C[9][9], float D[n][9])
{
#pragma scop
    for (int i = 0; i < 9; i++)
        for (int j = 0; j <= i; j++)
            C[i][j] = C[i][j] + A[0][j];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 8; j++)
            B[i][j] = A[i][j] + A[i][j + 1];
    for (int i = 1; i < n; i++)
        for (int j = 0; j < 9; j++)
            D[i][j] = D[i - 1][j] + A[i][j];
#pragma endscop
}
