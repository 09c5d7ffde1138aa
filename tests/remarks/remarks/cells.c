void f(int n, int m, const int key[n][m], int count[n / 4 + 1][32])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            count[i / 4][key[i][j] & 31]++;
#pragma endscop
}
