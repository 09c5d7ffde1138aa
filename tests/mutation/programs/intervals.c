/* The cheapest order of a chain of products, and where each part is cut, by the lengths of the parts. */
void intervals(int n, int p[n + 1], double m[n][n], int cut[n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        m[i][i] = 0;
    for (int len = 2; len <= n; len++)
        for (int i = 0; i + len - 1 < n; i++) {
            int j = i + len - 1;
            m[i][j] = 1e300;
            for (int k = i; k < j; k++) {
                double c = m[i][k] + m[k + 1][j] + (double)p[i] * p[k + 1] * p[j + 1];
                if (c < m[i][j]) {
                    m[i][j] = c;
                    cut[i][j] = k;
                }
            }
        }
#pragma endscop
}
