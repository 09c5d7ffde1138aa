/* Figure 9: two consecutive matrix products, which overlapping tiles must not fuse. */
void products(int N, int M, int K, int L, float A[N][L], float B[L][K], float C[K][M], float D[N][M])
{
    float E[N][K];
#pragma scop
    for (int i = 0; i < N; i++)
        for (int k = 0; k < K; k++) {
            E[i][k] = 0;
            for (int l = 0; l < L; l++)
                E[i][k] += A[i][l] * B[l][k];
        }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++)
            for (int k = 0; k < K; k++)
                D[i][j] += E[i][k] * C[k][j];
#pragma endscop
}
