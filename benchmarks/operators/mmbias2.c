/* matmul + bias, (32, 2) x (768, 2) transposed */
#ifdef HALF
#define real _Float16
#else
#define real float
#endif
#ifdef SMALL
#define N 20
#define K 2
#define M 50
#else
#define N 32
#define K 2
#define M 768
#endif

void mmbias2(real A[N][K], real Bm[M][K], real bias[M], real out[N][M])
{
    static real t[N][M];
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
