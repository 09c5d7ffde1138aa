/* matmul + bias, (640, 21128) x (21128, 768) */
#ifdef HALF
#define real _Float16
#else
#define real float
#endif
#ifdef SMALL
#define N 40
#define K 70
#define M 50
#else
#define N 640
#define K 21128
#define M 768
#endif

void mmbias3(real A[N][K], real Bm[K][M], real bias[M], real out[N][M])
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
