/* attention: mul + (batchmatmul, batchmatmul), (32, 12, 128, 128) x (32, 12, 128, 64) */
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

void attention(real p[B][H][N][N], real v[B][H][N][D], real w[B][H][N][D], real one[B][H][N][D], real two[B][H][N][D])
{
    static real s[B][H][N][N];
#pragma polyc live-out(one, two)
#pragma scop
    for (int b = 0; b < B; b++)
        for (int h = 0; h < H; h++)
            for (int i = 0; i < N; i++)
                for (int j = 0; j < N; j++)
                    s[b][h][i][j] = p[b][h][i][j] * 0.125f;
    for (int b = 0; b < B; b++)
        for (int h = 0; h < H; h++)
            for (int i = 0; i < N; i++)
                for (int d = 0; d < D; d++) {
                    one[b][h][i][d] = 0.0f;
                    for (int j = 0; j < N; j++)
                        one[b][h][i][d] += s[b][h][i][j] * v[b][h][j][d];
                }
    for (int b = 0; b < B; b++)
        for (int h = 0; h < H; h++)
            for (int i = 0; i < N; i++)
                for (int d = 0; d < D; d++) {
                    two[b][h][i][d] = 0.0f;
                    for (int j = 0; j < N; j++)
                        two[b][h][i][d] += s[b][h][i][j] * w[b][h][j][d];
                }
#pragma endscop
}
