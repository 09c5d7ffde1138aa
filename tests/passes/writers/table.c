/* A table looked up where the image says, then a stencil. */
void f(int n, int m, const unsigned char in[n][m], const float curve[256], float tone[n][m], float out[n][m])
{
#pragma polyc live-out(out)
#pragma scop
    for (int y = 0; y < n; y++)
        for (int x = 0; x < m; x++)
            tone[y][x] = curve[in[y][x]];
    for (int y = 1; y < n - 1; y++)
        for (int x = 1; x < m - 1; x++)
            out[y][x] = 0.2f * (tone[y][x] + tone[y - 1][x] + tone[y + 1][x] + tone[y][x - 1] + tone[y][x + 1]);
#pragma endscop
}
