/* An image of twice the width and height, in a nest for even and odd cells each way, then a blur. */
void f(int n, int m, const float in[n][m], float wide[n][2 * m], float large[2 * n][2 * m], float out[2 * n][2 * m])
{
#pragma polyc live-out(out)
#pragma scop
    for (int y = 0; y < n; y++)
        for (int x = 0; x < m; x++)
            wide[y][2 * x] = in[y][x];
    for (int y = 0; y < n; y++)
        for (int x = 0; x < m - 1; x++)
            wide[y][2 * x + 1] = 0.5f * (in[y][x] + in[y][x + 1]);
    for (int y = 0; y < n; y++)
        for (int x = 0; x < 2 * m - 1; x++)
            large[2 * y][x] = wide[y][x];
    for (int y = 0; y < n - 1; y++)
        for (int x = 0; x < 2 * m - 1; x++)
            large[2 * y + 1][x] = 0.5f * (wide[y][x] + wide[y + 1][x]);
    for (int y = 1; y < 2 * n - 2; y++)
        for (int x = 1; x < 2 * m - 2; x++)
            out[y][x] = 0.2f * (large[y][x] + large[y - 1][x] + large[y + 1][x] + large[y][x - 1] + large[y][x + 1]);
#pragma endscop
}
