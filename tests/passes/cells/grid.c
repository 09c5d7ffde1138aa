void f(int n, int m, const float in[n][m], float grid[n / 8 + 2][m / 8 + 2][16])
{
#pragma scop
    for (int y = 0; y < n; y++)
        for (int x = 0; x < m; x++) {
            int z = (int)in[y][x] & 15;
            grid[(y + 4) / 8 + 1][(x + 4) / 8][z] += in[y][x];
        }
#pragma endscop
}
