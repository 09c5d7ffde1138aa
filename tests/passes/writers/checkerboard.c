/* Two rules on a checkerboard, and a stencil over both. */
void f(int n, int m, const float in[n][m], float mixed[n][m], float out[n][m])
{
#pragma polyc live-out(out)
#pragma scop
    for (int y = 1; y < n - 1; y++)
        for (int x = 1; x < m - 1; x++) {
            if ((x + y) % 2 == 0)
                mixed[y][x] = 0.5f * (in[y - 1][x] + in[y + 1][x]);
            else
                mixed[y][x] = 0.5f * (in[y][x - 1] + in[y][x + 1]) - in[y][x];
        }
    for (int y = 2; y < n - 2; y++)
        for (int x = 2; x < m - 2; x++)
            out[y][x] = 0.2f * (mixed[y][x] + mixed[y - 1][x] + mixed[y + 1][x] + mixed[y][x - 1] + mixed[y][x + 1]);
#pragma endscop
}
