/* Two planes of a coarse grid, read at each pixel's level and at the next one: lookups in short rows. */
void looked_up(int n, const unsigned char in[n][200], float grid[2][n / 8 + 2][27][12], float out[n][200])
{
    float both[2];
#pragma scop
    for (int y = 0; y < n; y++)
        for (int x = 0; x < 200; x++) {
            int z = in[y][x] & 7;
            float v = in[y][x] * 0.25f;
            for (int c = 0; c < 2; c++)
                both[c] = (1.0f - v) * grid[c][y / 8][x / 8][z] + v * grid[c][y / 8][x / 8 + 1][z + 1];
            out[y][x] = both[0] - both[1];
        }
#pragma endscop
}
