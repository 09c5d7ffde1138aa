/* indep: two independent chains, reshape + cast + add and reshape + cast + mul, over (256, 7, 7, 2048) */
#ifdef HALF
#define real _Float16
#else
#define real float
#endif
#ifdef SMALL
#define B 2
#define S 3
#define C 40
#else
#define B 256
#define S 7
#define C 2048
#endif

void indep(double in[B][S][S][C], real one[B][S * S][C], real two[B][S * S][C])
{
    static double t[B][S * S][C], v[B][S * S][C];
    static real u[B][S * S][C], w[B][S * S][C];
#pragma polyc live-out(one, two)
#pragma scop
    for (int b = 0; b < B; b++)
        for (int y = 0; y < S; y++)
            for (int x = 0; x < S; x++)
                for (int c = 0; c < C; c++)
                    t[b][y * S + x][c] = in[b][y][x][c];
    for (int b = 0; b < B; b++)
        for (int s = 0; s < S * S; s++)
            for (int c = 0; c < C; c++)
                u[b][s][c] = (real)t[b][s][c];
    for (int b = 0; b < B; b++)
        for (int s = 0; s < S * S; s++)
            for (int c = 0; c < C; c++)
                one[b][s][c] = u[b][s][c] + 1.0f;
    for (int b = 0; b < B; b++)
        for (int y = 0; y < S; y++)
            for (int x = 0; x < S; x++)
                for (int c = 0; c < C; c++)
                    v[b][y * S + x][c] = in[b][y][x][c];
    for (int b = 0; b < B; b++)
        for (int s = 0; s < S * S; s++)
            for (int c = 0; c < C; c++)
                w[b][s][c] = (real)v[b][s][c];
    for (int b = 0; b < B; b++)
        for (int s = 0; s < S * S; s++)
            for (int c = 0; c < C; c++)
                two[b][s][c] = w[b][s][c] * 0.5f;
#pragma endscop
}
