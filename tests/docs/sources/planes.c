void scaled(int b, int m, int h, int w, float (*restrict out)[m][h][w], float (*restrict in)[m][h][w], float *restrict s)
{
#pragma scop
    for (int n = 0; n < b; n++)
        for (int k = 0; k < m; k++)
            for (int y = 0; y < h; y++)
                for (int x = 0; x < w; x++)
                    out[n][k][y][x] = in[n][k][y][x] * s[k];
#pragma endscop
}
