/* Levels that are stored, counted, and read again; and others, that are counted from the end of each row. */
void counted(int n, int m, const int x[n][m], int grey[n][m], int up[n][m], int last[16], int out[n][m])
{
    int count[16];

#pragma polyc live-out(out, last)
#pragma scop
    for (int k = 0; k < 16; k++)
        count[k] = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            grey[i][j] = x[i][j] & 15;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            count[grey[i][j] & 15]++;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            out[i][j] = grey[i][j] + count[3];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            up[i][j] = x[i][j] + 1;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            count[up[i][m - 1 - j] & 15]++;
    for (int k = 0; k < 16; k++)
        last[k] = count[k];
#pragma endscop
}
