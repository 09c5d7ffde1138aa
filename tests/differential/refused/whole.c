/* Rows of flat arrays whose subscripts are those of loops inside of a statement that is kept whole. */
void f(int n, short m, double *c, double (*d)[n + 40], const double *e)
{
#pragma scop
    for (int i = 0; i < n; i++) {
        if (e[i] < 0)
            break;
        for (int j = 1; j < m; j++)
            c[i * (m + 1) + j] = e[i] * j;
    }
    for (int i = 0; i < n; i++) {
        if (e[i] < 0)
            break;
        for (int j = 1; j < m; j++)
            for (int u = 0; u < 2; u++)
                for (int v = 0; v < 2; v++)
                    d[i][j] += c[(i + u) * (m + 1) + j + v];
    }
#pragma endscop
}
