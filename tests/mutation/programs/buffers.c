struct view { int w; const float *at; };
struct triple { float low, high, top; };
void buffers(int k, int n, int m, float a[restrict n * m], float b[restrict n * m], const float x[restrict 2 * n * m], float s[n])
{
#pragma scop
    for (int t = 0; t < k; t++) {
        const float *from = t % 2 == 0 ? a : b;
        float *to = t % 2 != 0 ? a : b;
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < m - 1; j++)
                to[i * m + j] = 0.25f * (from[i * m + j - 1] + from[(i - 1) * m + j] + from[i * m + j]);
    }
    for (int i = 0; i < n; i++) {
        struct view v = {m, x + i * m};
        struct triple p = {.high = i, .top = 2};
        float taps[3] = {[1] = 4, [2] = i};
        s[i] = v.at[v.w - 1] + v.at[0] * p.high + p.low * 3 + p.top + taps[0] * 7 + taps[1] - taps[2];
    }
#pragma endscop
}
