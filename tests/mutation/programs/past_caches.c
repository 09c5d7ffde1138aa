void past_caches(int n, float a[n][n + 40], float b[n + 4][n + 40], float c[n][n + 40])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n + 37; j++) {
            a[i][j + 3] = b[i][j] + b[i + 1][j] + b[i + 2][j] + b[i + 3][j] + b[i + 4][j];
            c[i][j] = b[i][j] * 0.5f;
        }
#pragma endscop
}
