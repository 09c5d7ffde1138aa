/* cast + add over (640, 21128) */
#ifdef SMALL
#define N 20
#define M 300
#else
#define N 640
#define M 21128
#endif

void cadd(double x[N][M], float y[N][M], float out[N][M])
{
    static float t[N][M];
#pragma polyc live-out(out)
#pragma scop
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++)
            t[i][j] = (float)x[i][j];
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++)
            out[i][j] = t[i][j] + y[i][j];
#pragma endscop
}
