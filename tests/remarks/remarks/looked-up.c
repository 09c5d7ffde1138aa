void f(int n, const unsigned char in[n][512], const float cells[n / 8 + 1][64][12], float out[n][512])
{
#pragma scop
    for (int y = 0; y < n; y++)
        for (int x = 0; x < 512; x++)
            out[y][x] = cells[y / 8][x / 8][in[y][x] % 12];
#pragma endscop
}
