/* The inside is filtered, the border repeats what is next to it; then a stencil over all of it. */
void f(int n, int m, const float in[n][m], float mid[n][m], float out[n][m])
{
#pragma polyc live-out(out)
#pragma scop
    for (int x = 0; x < m; x++)
        mid[0][x] = in[0][x];
    for (int x = 0; x < m; x++)
        mid[n - 1][x] = in[n - 1][x];
    for (int y = 1; y < n - 1; y++)
        mid[y][0] = in[y][0];
    for (int y = 1; y < n - 1; y++)
        mid[y][m - 1] = in[y][m - 1];
    for (int y = 1; y < n - 1; y++)
        for (int x = 1; x < m - 1; x++)
            mid[y][x] = 0.2f * (in[y][x] + in[y - 1][x] + in[y + 1][x] + in[y][x - 1] + in[y][x + 1]);
    for (int y = 1; y < n - 1; y++)
        for (int x = 1; x < m - 1; x++)
            out[y][x] = mid[y][x] - 0.25f * (mid[y - 1][x] + mid[y + 1][x] + mid[y][x - 1] + mid[y][x + 1]);
#pragma endscop
}
