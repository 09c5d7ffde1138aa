/* Rows of which only a run knows how long they are. */
void f(int n, int z, const unsigned char in[n][200], float table[n][z], float out[n][200])
{
#pragma scop
    for (int y = 0; y < n; y++)
        for (int x = 0; x < 200; x++) {
            int k = in[y][x] % z;
            out[y][x] = table[y][k] + 0.5f * table[y][in[y][x] / 2 % z];
        }
#pragma endscop
}
