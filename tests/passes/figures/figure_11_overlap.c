/* Figure 11 without (21) or (22): two outputs of different shape read overlapping parts. Each
   computes op0 for itself, where the model finds that cheaper than to store it. */
void overlap(int N, float In[N][N], float X[N][N], float Y[N][N])
{
    float A[N][N];
#pragma scop
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            A[i][j] = In[i][j] * 3.0f;
    for (int i = 1; i < N - 1; i++)
        for (int j = 0; j < N; j++)
            X[i][j] = A[i - 1][j] + A[i + 1][j];
    for (int i = 0; i < N; i++)
        for (int j = 2; j < N - 2; j++)
            Y[i][j] = A[i][j - 2] + A[i][j + 2];
#pragma endscop
}
