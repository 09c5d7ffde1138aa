/* cast + add over (640, 21128) */
#ifdef HALF
#define real _Float16
#else
#define real float
#endif
#ifdef SMALL
#define N 20
#define M 300
#else
#define N 640
#define M 21128
#endif

void cadd(double x[N][M], real y[N][M], real out[N][M])
{
    static real t[N][M];
#pragma polyc live-out(out)
#pragma scop
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++)
            t[i][j] = (real)x[i][j];
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++)
            out[i][j] = t[i][j] + y[i][j];
#pragma endscop
}
