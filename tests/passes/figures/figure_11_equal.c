/* Figure 11, relation (22): two outputs read the same tiles of what op0 makes, and share their tile loops. */
void equal(int N, int M, float In[N][M], float X[N][M], float Y[N][M])
{
    float A[N][M];
#pragma scop
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++)
            A[i][j] = In[i][j] * 3.0f;
    for (int i = 0; i < N; i++)
        for (int j = 1; j < M - 1; j++)
            X[i][j] = A[i][j - 1] + A[i][j + 1];
    for (int i = 0; i < N; i++)
        for (int j = 1; j < M - 1; j++)
            Y[i][j] = A[i][j - 1] - A[i][j + 1];
#pragma endscop
}
