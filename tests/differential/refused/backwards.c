/* The tiles of a strip read rows from the last one down, so that a circular buffer begins where the last tile does. */
void f(long n, const int d[n + 38][n + 7], int e[n + 2][9])
{
    int c[n + 36][n + 5];
#pragma scop
    for (int i = 0; i < n + 36; i++)
        for (int j = 0; j < n + 5; j++)
            c[i][j] = (d[i + 1][j] + 2 * d[i + 2][j + 1] % 97) % 1009;
    for (int i = 0; i < (n + 3) / 2; i++) {
        int row = n - i;
        for (int j = 0; j <= n - 1; j++)
            e[i][j] = (c[row + 2][j + 2] % 97 * (c[row + 2][j + 1] + c[row + 3][j + 3]) % 97) % 1009;
    }
#pragma endscop
}
