/* The producer makes every other cell that the tiles read: the rest is filled in, and what it made is stored. */
void partly_defined(int n, int m, double t[n][m], double out[n][m])
{
#pragma scop
    for (int i = 0; i < n; i += 2)
        for (int j = i; j < m; j++)
            t[i][j] = i - 2.0 * j;
    for (int i = 1; i < n - 1; i++)
        for (int j = 0; j < m; j++)
            out[i][j] = t[i - 1][j] + 3.0 * t[i][j] + t[i + 1][j];
#pragma endscop
}
