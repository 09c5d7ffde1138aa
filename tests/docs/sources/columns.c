void columns(int n, int m, float a[n][m], float s[m])
{
#pragma scop
    for (int j = 0; j < m; j++) {
        s[j] = 0;
        for (int i = 0; i < n; i++)
            s[j] += a[i][j];
    }
#pragma endscop
}
