/* mul + add over (32, 12, 128, 128) */
#ifdef HALF
#define real _Float16
#else
#define real float
#endif
#ifdef SMALL
#define B 2
#define H 3
#define N 20
#define M 36
#else
#define B 32
#define H 12
#define N 128
#define M 128
#endif

void madd(real x[B][H][N][M], real mask[B][M], real out[B][H][N][M])
{
    static real t[B][H][N][M];
#pragma polyc live-out(out)
#pragma scop
    for (int b = 0; b < B; b++)
        for (int h = 0; h < H; h++)
            for (int i = 0; i < N; i++)
                for (int j = 0; j < M; j++)
                    t[b][h][i][j] = x[b][h][i][j] * 0.125f;
    for (int b = 0; b < B; b++)
        for (int h = 0; h < H; h++)
            for (int i = 0; i < N; i++)
                for (int j = 0; j < M; j++)
                    out[b][h][i][j] = t[b][h][i][j] + mask[b][j];
#pragma endscop
}
