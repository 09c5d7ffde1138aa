/* intervals, as Nussinov's algorithm has them: the best of all ways to cut one in two */
void fold(int n, int s[n], int t[n][n])
{
#pragma scop
    for (int i = n - 1; i >= 0; i--)
        for (int j = i + 1; j < n; j++) {
            t[i][j] = t[i][j] >= t[i][j - 1] ? t[i][j] : t[i][j - 1];
            t[i][j] = t[i][j] >= t[i + 1][j - 1] + (s[i] + s[j] == 3 ? 1 : 0)
                          ? t[i][j]
                          : t[i + 1][j - 1] + (s[i] + s[j] == 3 ? 1 : 0);
            for (int k = i + 1; k < j; k++)
                t[i][j] = t[i][j] >= t[i][k] + t[k + 1][j] ? t[i][j] : t[i][k] + t[k + 1][j];
        }
#pragma endscop
}
