/* Two sums over one window, which is read once for both. */
void gradient(int n, int r, float in[n + r][n + r], double across[r][r], double along[r][r], float out[n][n])
{
#pragma scop
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
            double gx = 0, gy = 0;
            for (int u = 0; u < r; u++)
                for (int v = 0; v < r; v++) {
                    gx += in[y + u][x + v] * across[u][v];
                    gy += in[y + u][x + v] * along[u][v];
                }
            out[y][x] = gx * gx + gy * gy;
        }
#pragma endscop
}
