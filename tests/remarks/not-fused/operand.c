void products(float A[256][256], float B[256][256], float C[256][256], float D[256][256], float E[256][256])
{
    float t[256][256];
#pragma scop
    for (int i = 0; i < 256; i++)
        for (int k = 0; k < 256; k++)
            t[i][k] = A[i][k] + B[i][k] * C[i][k];
    for (int i = 0; i < 256; i++)
        for (int j = 0; j < 256; j++) {
            D[i][j] = 0;
            for (int k = 0; k < 256; k++)
                D[i][j] += t[i][k] * B[k][j];
        }
    for (int i = 0; i < 256; i++)
        for (int j = 0; j < 256; j++) {
            E[i][j] = 0;
            for (int k = 0; k < 256; k++)
                E[i][j] += t[i][k] * C[k][j];
        }
#pragma endscop
}
