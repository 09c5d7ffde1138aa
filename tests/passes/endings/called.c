/* The same in a function, which returns from its loop. */
static int steps(double x, double limit)
{
    for (int n = 0; n < 40; n++) {
        if (x > limit)
            return n;
        x = x + 0.25 * x * x + 0.125;
    }
    return -1;
}

void called(int n, int m, const double a[n][m], int out[n][m])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            out[i][j] = steps(a[i][j], 2.0);
#pragma endscop
}
