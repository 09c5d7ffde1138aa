/* A window that is mirrored at the ends of rows and columns. */
void mirrored(int n, const float in[n][n], float out[n][n], const float g[3][3])
{
#pragma scop
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
            float s = 0;
            for (int u = -1; u <= 1; u++)
                for (int v = -1; v <= 1; v++) {
                    int row = y + u < 0 ? -(y + u) - 1 : y + u >= n ? 2 * n - 1 - (y + u) : y + u;
                    int column = x + v < 0 ? -(x + v) - 1 : x + v >= n ? 2 * n - 1 - (x + v) : x + v;
                    s += g[u + 1][v + 1] * in[row][column];
                }
            out[y][x] = s;
        }
#pragma endscop
}
