/* A size in memory that a condition compares with a number: what is asked of it stays as it is, though the region stores
   characters. */
static unsigned char s11;
void kernel(int n, short m, unsigned char C7[n + 5][n - 2], float C8[4][9], int I9[m + 171], int C10[m - 28][n + 175])
{
    unsigned C6[31][25];
    for (int x0 = 0; x0 < 31; x0++)
        for (int x1 = 0; x1 < 25; x1++)
            C6[x0][x1] = (3 * x0 + 7 * x1) % 11;
    (void)C6;  /* its reader may be dead */
#pragma scop
    for (int i = 0; i < m + 1; i++) {
        for (int j = 1; j < n - 2; j++) {
            C7[i][j] = (-2) * ((4 * ((C6[i + 1][j + 2]) % 97) + C6[i + 1][j] + C6[i][j - 1]) % 97);
        }
    }
    for (int y = 0; y < 1; y++) {
        if (s11 != 0.3) {
            for (int x = 0; x < 200; x++) {
                C10[y][x] = ((((C8[x / 64][I9[x] + I9[x]] > 0.25)) % 97) * (((C8[x / 64][I9[x] + I9[x]] > 0.25)) % 97)) % 1009;
            }
        }
    }
#pragma endscop
}
