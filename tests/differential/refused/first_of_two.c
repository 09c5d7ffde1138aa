/* Nests that isl's scheduler makes one, in which two statements run in one iteration of the inner loops, one before the
   other: isl prints them apart, and what one hands to the other had a variable in each. */
void first_of_two(int n, unsigned char a[n + 7], short c[n + 4][n + 4], int d[n + 4][n + 4], float b[n + 4])
{
    unsigned t[n + 4];
#pragma scop
    for (int i = 0; i < n + 4; i++)
        t[i] = a[i + 3] + a[i];
    for (int i = 1; i < n - 1; i++) {
        b[i] = 0.3f;
        for (int k = 0; k < 3; k++)
            b[i] += t[i + k];
    }
    for (int i = 0; i < n; i++)
        for (int j = (n + 3) / 2 - 1; j > -1; j--)
            d[i][j] = -2;
    for (int i = 0; i < n; i++)
        for (int j = (n + 3) / 2 - 1; j > -1; j--)
            for (int k = j + 1; k <= n - 3; k++)
                for (int l = 0; l <= n - 1; l++)
                    d[i][j] -= (b[i + k] > 0.25f) * c[k + 2][l];
#pragma endscop
}
