/* polyc compile --target cuda --machine h100 --param n=2039,m=2039 */
void smooth(int n, int m, float in[n][m], float out[n][m])
{
#pragma scop
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < m - 1; j++)
            out[i][j] = 0.25f * (in[i - 1][j] + in[i + 1][j] + in[i][j - 1] + in[i][j + 1]);
#pragma endscop
}
