/* add + conv + relu, (64, 64, 224, 224), window 7 x 7, padding 3, stride 2 */
#ifdef HALF
#define real _Float16
#else
#define real float
#endif
#ifdef SMALL
#define B 1
#define C 3
#define F 4
#define S 23
#define K 7
#define PAD 3
#define STEP 2
#else
#ifndef B
#define B 64
#endif
#define C 64
#define F 64
#define S 224
#define K 7
#define PAD 3
#define STEP 2
#endif
#define P (S + 2 * PAD)
#define T ((P - K) / STEP + 1)

void conv4(real in[B][C][S][S], real shift[C], real w[F][C][K][K], real out[B][F][T][T])
{
    static real a[B][C][P][P], r[B][F][T][T];
#pragma polyc live-out(out)
#pragma scop
    for (int b = 0; b < B; b++)
        for (int c = 0; c < C; c++)
            for (int y = 0; y < P; y++)
                for (int x = 0; x < P; x++)
                    a[b][c][y][x] = (y < PAD || y >= S + PAD || x < PAD || x >= S + PAD) ? 0.0f : in[b][c][y - PAD][x - PAD] + shift[c];
    for (int b = 0; b < B; b++)
        for (int f = 0; f < F; f++)
            for (int y = 0; y < T; y++)
                for (int x = 0; x < T; x++) {
                    r[b][f][y][x] = 0.0f;
                    for (int c = 0; c < C; c++)
                        for (int u = 0; u < K; u++)
                            for (int v = 0; v < K; v++)
                                r[b][f][y][x] += a[b][c][STEP * y + u][STEP * x + v] * w[f][c][u][v];
                }
    for (int b = 0; b < B; b++)
        for (int f = 0; f < F; f++)
            for (int y = 0; y < T; y++)
                for (int x = 0; x < T; x++)
                    out[b][f][y][x] = r[b][f][y][x] > 0.0f ? r[b][f][y][x] : 0.0f;
#pragma endscop
}
