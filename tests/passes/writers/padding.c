/* Zeros, the image in their middle, a window of three by three. */
void f(int n, int m, const float in[n][m], const float k[3][3], float pad[n + 2][m + 2], float out[n][m])
{
#pragma polyc live-out(out)
#pragma scop
    for (int y = 0; y < n + 2; y++)
        for (int x = 0; x < m + 2; x++)
            pad[y][x] = 0.0f;
    for (int y = 0; y < n; y++)
        for (int x = 0; x < m; x++)
            pad[y + 1][x + 1] = 0.5f * in[y][x] - 1.0f;
    for (int y = 0; y < n; y++)
        for (int x = 0; x < m; x++) {
            out[y][x] = 0.0f;
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++)
                    out[y][x] += pad[y + i][x + j] * k[i][j];
        }
#pragma endscop
}
