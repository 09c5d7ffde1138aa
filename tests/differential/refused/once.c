/* isl runs what sets `t` in one iteration of the loops that set `d`, which run in parallel: no other iteration has it. */
static double b[7], e[6];
void f(short n, short m, const double (*a)[4], const double (*c)[m - 2], const int *k)
{
    double d[m + 5][5][m + 3];
#pragma scop
    for (int i = 0; i < m + 5; i++)
        for (int j = 0; j < 5; j++)
            for (int l = 0; l < m + 3; l++)
                d[i][j][l] = 0.3;
    for (int i = 4; i < 5; i++) {
        double t = d[i][i][i + 1] - a[i - 2][i - 1];
        for (int j = 3; j < m; j++)
            t += 0.07 * c[i / 2 + i % 2][j];
        b[i + 2] = i * d[i + 3][i][i] * 0.25;
        e[i] = d[i + 1][k[i]][k[i]] * e[i + 1] * 0.25;
    }
#pragma endscop
}
