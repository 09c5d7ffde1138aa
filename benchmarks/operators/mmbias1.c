/* matmul + bias, (32, 768) x (768, 2) */
#ifdef HALF
#define real _Float16
#else
#define real float
#endif
#ifdef SMALL
#define N 20
#define K 50
#define M 2
#else
#define N 32
#define K 768
#define M 2
#endif

void mmbias1(real A[N][K], real Bm[K][M], real bias[M], real out[N][M])
{
    static real t[N][M];
#pragma polyc live-out(out)
#pragma scop
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++) {
            t[i][j] = 0.0f;
            for (int k = 0; k < K; k++)
                t[i][j] += A[i][k] * Bm[k][j];
        }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++)
            out[i][j] = t[i][j] + bias[j];
#pragma endscop
}
