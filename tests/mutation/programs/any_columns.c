/* A product whose rows have 45 elements: none but the first begins at a multiple of 16 bytes. */
void any_columns(int n, float A[n][n], float B[n][45], float C[n][45])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 45; j++) {
            C[i][j] = 0.0f;
            for (int k = 0; k < n; k++)
                C[i][j] += A[i][k] * B[k][j];
        }
#pragma endscop
}
