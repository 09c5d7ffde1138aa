/* cast + sub + mul over (32, 1, 1, 128) */
#ifdef HALF
#define real _Float16
#else
#define real float
#endif
#ifdef SMALL
#define B 3
#define M 36
#else
#define B 32
#define M 128
#endif

void csn(int mask[B][1][1][M], real out[B][1][1][M])
{
    real t[B][1][1][M], u[B][1][1][M];
#pragma polyc live-out(out)
#pragma scop
    for (int b = 0; b < B; b++)
        for (int j = 0; j < M; j++)
            t[b][0][0][j] = (real)mask[b][0][0][j];
    for (int b = 0; b < B; b++)
        for (int j = 0; j < M; j++)
            u[b][0][0][j] = 1.0f - t[b][0][0][j];
    for (int b = 0; b < B; b++)
        for (int j = 0; j < M; j++)
            out[b][0][0][j] = u[b][0][0][j] * -10000.0f;
#pragma endscop
}
