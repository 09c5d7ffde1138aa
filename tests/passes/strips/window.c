/* A filter of any radius: rows of the image beside each other in a strip, each with a sum of its own. */
void filter(int n, int r, float in[n + 2 * r][n + 2 * r], float w[2 * r + 1][2 * r + 1], float out[n][n])
{
#pragma scop
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
            float sum = 0.5f;
            for (int u = 0; u <= 2 * r; u++)
                for (int v = 0; v <= 2 * r; v++)
                    sum += in[y + u][x + v] * w[u][v];
            out[y][x] = sum > 0 ? sum : 0.25f * sum;
        }
#pragma endscop
}
