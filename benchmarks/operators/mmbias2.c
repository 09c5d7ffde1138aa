/* matmul + bias, (32, 2) x (768, 2) transposed */
#ifdef SMALL
#define N 20
#define K 2
#define M 50
#else
#define N 32
#define K 2
#define M 768
#endif

void mmbias2(float A[N][K], float Bm[M][K], float bias[M], float out[N][M])
{
    static float t[N][M];
#pragma polyc live-out(out)
#pragma scop
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++) {
            t[i][j] = 0.0f;
            for (int k = 0; k < K; k++)
                t[i][j] += A[i][k] * Bm[j][k];
        }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++)
            out[i][j] = t[i][j] + bias[j];
#pragma endscop
}
