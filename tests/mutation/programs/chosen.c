/* Producers of which data choose what is computed: by two subscripts, in a chain, of another type, for others as well. */
void chosen(int n, double a[n], double b[8][n], int p[n], unsigned char q[n], double c[n], double d[n], double e[n],
            double f[8][n])
{
    double s[8][n], t[8][n], u[4][8][n], v[16][n], w[8][n];
#pragma scop
    for (int k = 0; k < 8; k++)
        for (int i = 0; i < n; i++)
            s[k][i] = a[i] * k;
    for (int k = 0; k < 8; k++)
        for (int i = 0; i < n; i++)
            t[k][i] = s[k][i] - b[k][n - 1 - i];
    for (int i = 0; i < n; i++)
        c[i] = t[p[i] & 7][n - 1 - i] * t[p[i] & 3][i];
    for (int l = 0; l < 4; l++)
        for (int k = 0; k < 8; k++)
            for (int i = 0; i < n; i++)
                u[l][k][i] = b[k][i] / (l + 1) + i;
    for (long k = 0; k < 16; k++)
        for (int i = 0; i < n; i++)
            v[k][i] = a[i] + (k - 20) * i;
    for (int i = 0; i < n; i++)
        d[i] = u[p[i] & 3][q[i] / 32][i] - v[q[i] / 16][i];
    for (int k = 0; k < 8; k++)
        for (int i = 0; i < n; i++)
            w[k][i] = a[i] + b[k][i];
    for (int k = 0; k < 8; k++)
        for (int i = 1; i < n; i++)
            f[k][i] = w[k][i - 1] + w[k][i];
    for (int i = 0; i < n; i++)
        e[i] = w[p[i] & 7][i];
#pragma endscop
}
