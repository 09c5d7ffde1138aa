/* A sum of products whose results have values of their own afterwards. */
void afterwards(int n, float A[n][n], float B[n][48], float C[n][48])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 48; j++) {
            float s = 0.5f;
            for (int k = 0; k < n; k++)
                s += A[i][k] * B[k][j];
            float t = s > 1.0f ? 1.0f : s;
            float u = t * t;
            C[i][j] = s * u - t * C[i][j];
        }
#pragma endscop
}
