void f(int h, int w, const float in[h][w], const float cells[h + 1][w + 1][12], float out[h][w])
{
    float blur[h + 1][w + 1][12], low[h][w];
#pragma scop
    for (int y = 0; y < h + 1; y++)
        for (int x = 0; x < w + 1; x++)
            for (int z = 0; z < 12; z++)
                blur[y][x][z] = 0.5f * cells[y][x][z] + 1.0f;
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            int z = (int)in[y][x] & 7;
            float v = in[y][x] - (float)z;
            low[y][x] = (1.0f - v) * blur[y][x][z] + v * blur[y + 1][x + 1][z + 1];
        }
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            out[y][x] = low[y][x] / (1.0f + in[y][x]);
#pragma endscop
}
