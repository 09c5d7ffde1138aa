/* What lies along rows of one array and down columns of another one, and rows that all threads of a block share. */
void across(int n, int m, double a[n][m], double b[m][n], double c[n][m], double s[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            c[i][j] = a[i][j] + 2 * b[j][i];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            b[j][i] += a[i][j];
    for (int i = 0; i < n; i++) {
        double t = 0.5 * s[i];
        double u = t * t;
        for (int j = 0; j < m; j++)
            a[i][j] = a[i][j] * t + u;
    }
#pragma endscop
}
