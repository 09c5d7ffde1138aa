/* Two planes of a coarse grid, read at each pixel's level and at the next one. */
void f(int n, const float in[n][200], float grid[2][n / 8 + 2][27][12], float out[n][200])
{
    float both[2];
#pragma scop
    for (int y = 0; y < n; y++)
        for (int x = 0; x < 200; x++) {
            float l = in[y][x] > 0.0f ? in[y][x] < 1.0f ? in[y][x] : 1.0f : 0.0f;
            int z = (int)(l * 10.0f);
            float v = l * 10.0f - (float)z;
            for (int c = 0; c < 2; c++)
                both[c] = (1.0f - v) * grid[c][y / 8][x / 8][z] + v * grid[c][y / 8][x / 8 + 1][z + 1];
            out[y][x] = both[0] - both[1];
        }
#pragma endscop
}
