/* One of the levels that a clamp allows: tiles keep those that are made, though nobody says how many the array has. */
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
void levels(int n, int m, const float in[n][m], float (*l)[n][m], float out[n][m])
{
#pragma polyc live-out(out)
#pragma scop
    for (int k = 0; k < 8; k++)
        for (int y = 0; y < n; y++)
            for (int x = 0; x < m; x++)
                l[k][y][x] = in[y][x] * (float)k;
    for (int y = 0; y < n; y++)
        for (int x = 0; x < m; x++) {
            int k = MIN(MAX((int)(in[y][x] * 7), 0), 6);
            float t = in[y][x] * 7 - (float)k;
            out[y][x] = (1.0f - t) * l[k][y][x] + t * l[k + 1][y][x];
        }
#pragma endscop
}
