/* Two readers of one stage, in tiles of other shapes: each computes it for itself; and what that stage reads. */
void computed_twice(int n, const float in[n][n], float x[n][n], float y[n][n])
{
    float t[64], a[n][n];
#pragma scop
    for (int j = 0; j < 64; j++)
        t[j] = j * 0.5f;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            a[i][j] = in[i][j] * 3.0f + t[i % 64];
    for (int i = 1; i < n - 1; i++)
        for (int j = 0; j < n; j++)
            x[i][j] = a[i - 1][j] + a[i + 1][j];
    for (int i = 0; i < n; i++)
        for (int j = 2; j < n - 2; j++)
            y[i][j] = a[i][j - 2] + a[i][j + 2];
#pragma endscop
}
