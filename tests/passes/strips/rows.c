/* A filter along each row. */
void rows(int n, int m, float A[n][m], float B[n][m])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        float t = 0.0f;
        for (int j = 0; j < m; j++) {
            A[i][j] = 0.25f * B[i][j] + 0.5f * t;
            t = A[i][j];
        }
    }
#pragma endscop
}
