/* A window of which only what lies inside of the image counts: a loop of its own where it is whole. */
void inside(int n, const float in[n][n], float out[n][n], const float g[3][3])
{
#pragma scop
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
            float s = 0;
            for (int u = -1; u <= 1; u++)
                for (int v = -1; v <= 1; v++)
                    if (y + u >= 0 && y + u < n && x + v >= 0 && x + v < n)
                        s += g[u + 1][v + 1] * in[y + u][x + v];
            out[y][x] = s;
        }
#pragma endscop
}
