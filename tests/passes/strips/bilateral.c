/* A window of constant size with weights that are clamped: it is unrolled inside of a loop that a pragma makes vectors of. */
void bilateral(int n, const float in[n + 4][n + 4], float out[n][n], float sigma)
{
#pragma scop
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
            float sum = 0, weights = 0;
            for (int v = 0; v < 5; v++)
                for (int u = 0; u < 5; u++) {
                    float d = (in[y + v][x + u] - in[y + 2][x + 2]) / sigma;
                    float w = 1 - d * d < 0 ? 0 : 1 - d * d > 0.9f ? 0.9f : 1 - d * d;
                    sum += w * in[y + v][x + u];
                    weights += w;
                }
            out[y][x] = sum / (weights + 1);
        }
#pragma endscop
}
