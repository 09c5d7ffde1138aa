/* A whole array is filled, its border repaired, its inside updated in place; then a stencil. */
void f(int n, int m, const float in[n][m], float mid[n][m], float out[n][m])
{
#pragma polyc live-out(out)
#pragma scop
    for (int y = 0; y < n; y++)
        for (int x = 0; x < m; x++)
            mid[y][x] = 0.5f * in[y][x];
    for (int y = 0; y < n; y++)
        mid[y][0] = in[y][0];
    for (int y = 1; y < n - 1; y++)
        for (int x = 1; x < m - 1; x++)
            mid[y][x] += 0.125f * (in[y - 1][x] + in[y + 1][x] + in[y][x - 1] + in[y][x + 1]);
    for (int y = 1; y < n - 1; y++)
        for (int x = 1; x < m - 1; x++)
            out[y][x] = mid[y][x] - 0.25f * (mid[y - 1][x] + mid[y + 1][x] + mid[y][x - 1] + mid[y][x + 1]);
#pragma endscop
}
