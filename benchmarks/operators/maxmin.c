/* max + min + cast over (32, 128, 768) */
#ifdef HALF
#define real _Float16
#else
#define real float
#endif
#ifdef SMALL
#define B 2
#define N 20
#define M 36
#else
#define B 32
#define N 128
#define M 768
#endif

void maxmin(real x[B][N][M], int out[B][N][M])
{
    static real t[B][N][M], u[B][N][M];
#pragma polyc live-out(out)
#pragma scop
    for (int b = 0; b < B; b++)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < M; j++)
                t[b][i][j] = x[b][i][j] > -100.0f ? x[b][i][j] : -100.0f;
    for (int b = 0; b < B; b++)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < M; j++)
                u[b][i][j] = t[b][i][j] < 100.0f ? t[b][i][j] : 100.0f;
    for (int b = 0; b < B; b++)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < M; j++)
                out[b][i][j] = (int)u[b][i][j];
#pragma endscop
}
