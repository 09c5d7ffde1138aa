/* Sums in cells of a flat grid, by levels that come from the data; read back by the same levels. */
void levels(int rows, int cols, int n, const float *in, float *grid, float *out)
{
#pragma scop
    for (int y = 0; y < rows; y++)
        for (int x = 0; x < cols; x++) {
            int z = (int)(in[y * cols + x] * 4.0f + 0.5f);
            grid[((y / 4) * (cols / 8 + 1) + x / 8) * (n + 4) + z + 2] += in[y * cols + x];
        }
    for (int y = 0; y < rows; y++)
        for (int x = 0; x < cols; x++) {
            int z = (int)(in[y * cols + x] * 4.0f);
            out[y * cols + x] = grid[((y / 4) * (cols / 8 + 1) + x / 8) * (n + 4) + z + 1];
        }
#pragma endscop
}
