/* Another row of numbers for each four pixels, of which a vector has more. */
void not_looked_up(int n, const unsigned char in[n][200], const int fours[n][50][16], int out[n][200])
{
#pragma scop
    for (int y = 0; y < n; y++)
        for (int x = 0; x < 200; x++)
            out[y][x] = fours[y][x / 4][in[y][x] & 15];
#pragma endscop
}
