/* A coarse grid of histograms: rows of pixels that go to different cells are independent, and two planes of it. */
void grid(int n, const int in[n][n], int grid[n / 8 + 2][n / 8 + 2][16], int rows[n / 4 + 1])
{
#pragma scop
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++)
            grid[(y + 4) / 8 + 1][(x + 4) / 8][in[y][x] & 15] += in[y][x];
    for (int i = 0; i < n; i++)
        rows[i / 4] = rows[i / 4] * 3 + in[i][0];
#pragma endscop
}
