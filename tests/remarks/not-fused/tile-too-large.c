/* polyc compile --tile-sizes 64 */
void f(int n, const float in[n][n][n], float A[n][n][n], float out[n][n][n])
{
#pragma polyc live-out(out)
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                A[i][j][k] = 2 * in[i][j][k];
    for (int i = 1; i < n - 1; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                out[i][j][k] = A[i - 1][j][k] + A[i + 1][j][k];
#pragma endscop
}
