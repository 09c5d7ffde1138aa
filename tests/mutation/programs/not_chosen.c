/* Data choose what is read, and the producers keep their nests, each for another reason. */
void not_chosen(int n, double a[n], double b[8][n], int p[n], double c[n], double d[n], double e[n], double f[n])
{
    double t[8][n], u[8][n], v[8][n], w[16][n];
#pragma scop
    for (int k = 0; k < 8; k++)
        for (int i = 0; i < n; i++)
            t[k][i] = a[i] - b[k][i];
    for (int k = 0; k < 8; k++)
        for (int i = 0; i < n; i++)
            u[k][i] = a[i] * b[k][i];
    for (int i = 0; i < n; i++)
        u[5][i] = 1.0;
    for (int k = 0; k < 8; k++)
        for (int i = 0; i < n; i++)
            v[k][i] = k < 6 ? b[k][i] : 2.0;
    for (int k = 0; k < 16; k++)
        for (int i = 0; i < n; i++)
            w[15 - k][i] = a[i] * k;
    for (int i = 0; i < n; i++)
        d[i] = u[p[i] & 7][i];
    for (int i = 1; i < n; i++)
        e[i] = e[i - 1] * v[p[i] & 7][i];
    for (int i = 0; i < n; i++)
        f[i] = w[p[i] & 15][i];
    for (int i = 0; i < n; i++)
        b[3][i] = 0.25 * i;
    for (int i = 0; i < n; i++)
        c[i] = t[p[i] & 7][i];
#pragma endscop
}
