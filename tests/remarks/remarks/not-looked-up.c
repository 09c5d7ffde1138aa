void f(int n, const unsigned char in[n][512], const float tones[2][256], float out[n][512])
{
#pragma scop
    for (int y = 0; y < n; y++)
        for (int x = 0; x < 512; x++)
            out[y][x] = tones[y % 2][in[y][x]];
#pragma endscop
}
