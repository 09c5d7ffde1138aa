/* batchmatmul + transpose, (32, 12, 128, 128) x (32, 12, 128, 64) */
#ifdef HALF
#define real _Float16
#else
#define real float
#endif
#ifdef SMALL
#define B 2
#define H 3
#define N 20
#define D 17
#else
#define B 32
#define H 12
#define N 128
#define D 64
#endif

void bmmtrans(real p[B][H][N][N], real v[B][H][N][D], real out[B][N][H][D])
{
    static real t[B][H][N][D];
#pragma polyc live-out(out)
#pragma scop
    for (int b = 0; b < B; b++)
        for (int h = 0; h < H; h++)
            for (int i = 0; i < N; i++)
                for (int d = 0; d < D; d++) {
                    t[b][h][i][d] = 0.0f;
                    for (int j = 0; j < N; j++)
                        t[b][h][i][d] += p[b][h][i][j] * v[b][h][j][d];
                }
    for (int b = 0; b < B; b++)
        for (int i = 0; i < N; i++)
            for (int h = 0; h < H; h++)
                for (int d = 0; d < D; d++)
                    out[b][i][h][d] = t[b][h][i][d];
#pragma endscop
}
