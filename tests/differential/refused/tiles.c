/* Whether a value leaves a tile was asked under all conditions on which the tiles run it: that took too long. */
static inline int clamped(int i, int n) { return i < 0 ? 0 : i < n ? i : n - 1; }
static double a[13][49], b[15][27];
void f(int n, double c[n - 12][n - 3], double d[n + 1][n + 15])
{
    double e[n + 2][n + 13];
    for (int x = 0; x < n + 2; x++)
        for (int y = 0; y < n + 13; y++)
            e[x][y] = (3 * x + 7 * y) % 11 * 0.7;
#pragma scop
    for (int i = 0; i <= n - 1; i++)
        for (int j = i / 2; j < (i + n < 40 ? i + n : 40); j += 2) {
            double s = a[i][2 * j], t = 0.07;
            for (int k = 0; k < n; k++)
                for (int l = 3; l <= n - 4; l++) {
                    s += e[n + 1][j + 1] * e[i + 1][j];
                    if (l != j + 1)
                        t -= (d[i][j + 3] - d[i + 1][clamped(j - 2, n)]) * a[i][j];
                }
            b[i + 2][j + 2] = (s + t) * 1.7 + d[i][i];
        }
    for (int i = 0; i >= 0; i--)
        for (int j = n - 4; j >= 3; j -= 2) {
            c[i][j] = 0.3;
            for (int k = j + 1; k > j - 1; k -= 2)
                c[i][j] += a[j - 2][j + k] * b[j + 1][i + 3];
        }
#pragma endscop
}
