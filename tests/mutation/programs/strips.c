/* Three stencils one after the other, which slide along strips of tiles with --strips. */
void strips(int n, float in[n][n], float out[n][n])
{
    float a[n][n], b[n][n];
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            a[i][j] = in[i][j] * 2.0f + 1.0f;
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
            b[i][j] = a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1];
    for (int i = 2; i < n - 2; i++)
        for (int j = 2; j < n - 2; j++)
            out[i][j] = b[i - 1][j] - b[i + 1][j] + b[i][j - 1] + b[i][j + 1];
#pragma endscop
}
