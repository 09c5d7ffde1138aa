/* A window of calls, of which no compiler makes vectors: they need not wait for each other. */
float fmaxf(float, float);
void pool(int c, int n, float in[c][n + 2][n + 2], float out[c][n][n])
{
#pragma scop
    for (int k = 0; k < c; k++)
        for (int y = 0; y < n; y++)
            for (int x = 0; x < n; x++) {
                float most = -1e30f;
                for (int u = 0; u < 3; u++)
                    for (int v = 0; v < 3; v++)
                        most = fmaxf(most, in[k][y + u][x + v]);
                out[k][y][x] = most;
            }
#pragma endscop
}
