/* Bodies of many statements: the second one reads what the first one wrote, one waits for the row before, and a scalar
   leaves its body. */
void straight(int n, int m, double a[n][m], double b[n][m], double c[n][m], double d[n][m])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            double x0 = b[i][j] + 1;
            double y0 = b[i][j] - 1;
            double x1 = x0 * 0.5 + y0;
            double y1 = x0 - y0 * 0.25;
            double x2 = x1 * 0.5 + y1;
            double y2 = x1 - y1 * 0.25;
            double x3 = x2 * 0.5 + y2;
            double y3 = x2 - y2 * 0.25;
            double x4 = x3 * 0.5 + y3;
            double y4 = x3 - y3 * 0.25;
            x4 = x4 - y4;
            double x5 = x4 * 0.5 + y4;
            double y5 = x4 - y4 * 0.25;
            double x6 = x5 * 0.5 + y5;
            a[i][j] = x6;
            d[i][j] = x6 - y5;
        }
    for (int i = 1; i < n; i++) {
        double last;
        for (int j = 0; j < m; j++) {
            double u0 = a[n - 1 - i][j] * 0.5;
            double v0 = c[i - 1][j] * 0.5;
            double u1 = u0 * 0.5 + v0;
            double v1 = u0 - v0 * 0.25;
            double u2 = u1 * 0.5 + v1;
            double v2 = u1 - v1 * 0.25;
            double u3 = u2 * 0.5 + v2;
            double v3 = u2 - v2 * 0.25;
            double u4 = u3 * 0.5 + v3;
            double v4 = u3 - v3 * 0.25;
            double u5 = u4 * 0.5 + v4;
            double v5 = u4 - v4 * 0.25;
            double u6 = u5 * 0.5 + v5;
            double v6 = u5 - v5 * 0.25;
            last = u6;
            c[i][j] = u6 - v6;
        }
        if (m > 0)
            d[i][0] = last;
    }
#pragma endscop
}
