/* A product for tensor cores, with a sum whose length is no multiple of a fragment's, and a triangle beside it. */
void tensor(int n, float A[n][n], float B[n][n], float C[n][n], float D[n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            C[i][j] = 0.0f;
            for (int k = 0; k < n; k++)
                C[i][j] += A[i][k] * B[k][j];
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < i; k++)
                D[i][j] += C[i][k] * B[k][j];
#pragma endscop
}
