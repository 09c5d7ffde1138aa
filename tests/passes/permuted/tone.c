/* One row of numbers for all pixels of a row of the image: a table of tones. */
void f(int n, const unsigned char in[n][n], const int tones[n][16], int out[n][n])
{
#pragma scop
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++)
            out[y][x] = tones[y][in[y][x] & 15] + (int)in[y][x];
#pragma endscop
}
