/* Every second row is interpolated from its neighbours, then a stencil over all of them. */
void f(int n, int m, const unsigned char in[n][m], unsigned char full[n][m], unsigned char out[n][m])
{
#pragma polyc live-out(out)
#pragma scop
    for (int y = 1; y < n - 1; y++)
        for (int x = 0; x < m; x++) {
            if (y % 2 == 0)
                full[y][x] = in[y][x];
            else
                full[y][x] = (in[y - 1][x] + in[y + 1][x] + 1) / 2;
        }
    for (int y = 2; y < n - 2; y++)
        for (int x = 1; x < m - 1; x++)
            out[y][x] = (2 * full[y][x] + full[y - 1][x] + full[y + 1][x] + full[y][x - 1] + full[y][x + 1]) / 6;
#pragma endscop
}
