double energy(int n, int m, double x[n][m], double y[n][m])
{
    double total = 0;
#pragma scop
    for (int i = 0; i < n; i++) {
        double s = 0;
        for (int j = 0; j < m; j++)
            s += x[i][j] * x[i][j];
        for (int j = 0; j < m; j++)
            y[i][j] = x[i][j] / (1 + s);
        total += 0.5 * s;
    }
#pragma endscop
    return total;
}
