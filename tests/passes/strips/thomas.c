/* Tridiagonal systems in columns: two rows of each, and a loop that goes back. */
void columns(int n, double u[60][n], const double a[60], const double b[60], const double c[60])
{
#pragma scop
    for (int j = 0; j < n; j++) {
        double p[60], q[60];
        p[0] = c[0] / (b[0] + 4);
        q[0] = u[0][j] / (b[0] + 4);
        for (int i = 1; i < 60; i++) {
            double m = 1 / (b[i] + 4 - a[i] * p[i - 1]);
            p[i] = c[i] * m;
            q[i] = (u[i][j] - a[i] * q[i - 1]) * m;
        }
        u[59][j] = q[59];
        for (int i = 58; i >= 0; i--)
            u[i][j] = q[i] - p[i] * u[i + 1][j];
    }
#pragma endscop
}
