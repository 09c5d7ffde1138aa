/* polyc compile --tile-sizes 8 */
void f(int n, double u[n][n], double v[n][n], double q[n][n])
{
#pragma scop
    for (int t = 0; t < 9; t++) {
        for (int i = 1; i < n - 1; i++) {
            q[i][0] = 1.0;
            for (int j = 1; j < n - 1; j++)
                q[i][j] = u[j][i - 1] + u[j][i] + u[j][i + 1] - 0.5 * q[i][j - 1];
            v[n - 1][i] = 1.0;
            for (int j = n - 2; j >= 1; j--)
                v[j][i] = 0.5 * v[j + 1][i] + q[i][j];
        }
        for (int i = 1; i < n - 1; i++)
            for (int j = 0; j < n - 1; j++)
                q[i][j] = 0.25 * v[i][j];
        for (int i = 1; i < n - 1; i++)
            for (int j = 0; j < n - 1; j++)
                u[i][j] = q[i][j] + q[i - 1][j];
    }
#pragma endscop
}
