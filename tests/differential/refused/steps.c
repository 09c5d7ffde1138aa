/* isl took the second statement's row apart from the first one's, which sets the value that it reads. */
static double c5[35][36];
void kernel(int n, double c2[n + 4][n + 5], double c3[n + 1][n + 2], double c4[n][32])
{
#pragma scop
    for (int i = 0; i < n + 1; i++)
        for (int j = 0; j < n + 2; j++)
            c3[i][j] = c2[i][j + 3] + c2[i + 2][j + 3] + c2[i + 3][j];
    for (int i = 0; i < n; i++)
        for (int j = 1; j < n - 2; j++)
            c4[i][j] = c3[i][j] * 1.7 * 0.25;
    for (int i = 1; i < n - 1; i++)
        for (int j = 0; j < n; j++)
            if (i == 6)
                c5[i + 2][j + 2] = 0.3 * (c3[i + 1][j + 2] + 0.07 * c3[i + 2][j]) * 0.25;
#pragma endscop
}
