/* polyc compile --budget 90000 */
void f(int n, const float in[n][n], float A[n][n], float out[n][n])
{
#pragma polyc live-out(out)
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            A[i][j] = 2 * in[i][j];
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
            out[i][j] = A[i - 1][j] + A[i + 1][j] + A[i][j - 1] + A[i][j + 1];
#pragma endscop
}
