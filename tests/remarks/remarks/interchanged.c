/* polyc compile */
void columns(int n, float out[n][n][3], float in[n][n][3], float w[n])
{
#pragma scop
    for (int x = 0; x < n; x++)
        for (int y = 1; y < n; y++)
            for (int c = 0; c < 3; c++)
                out[y][x][c] = in[y][x][c] - w[x] * in[y - 1][x][c];
#pragma endscop
}
