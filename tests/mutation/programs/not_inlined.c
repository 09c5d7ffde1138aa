/* Producers that keep their nests, each for another reason. */
void not_inlined(int n, double a[n], double kept[n], double c[n], double d[n], double e[n], double f[n], double g[n])
{
    double t[n], u[n], v[n], w[n + 2], x[n];
#pragma scop
    for (int i = 0; i < n; i++)
        t[i] = 3.0 * a[i];
    for (int i = 0; i < n; i++)
        u[i] = a[i] + 1.0;
    for (int i = 2; i < n; i++)
        u[i] = a[i] - 1.0;
    for (int i = 0; i < n; i++)
        kept[i] = a[i] * a[i];
    for (int i = 0; i < n; i++)
        v[i] = a[i] * 5.0 + i;
    for (int i = 0; i < n; i++)
        w[i + 2] = a[i] / 7.0;
    for (int i = 0; i < n; i++)
        x[i] = a[i] - 9.0;
    for (int i = 0; i < n; i++)
        d[i] = u[n - 1 - i] + kept[n - 1 - i] + v[n - 1 - i];
    for (int i = 0; i < n; i++)
        e[i] = w[i + 2] - w[n + 1 - i];
    for (int i = 0; i < n; i++)
        f[i] = v[i];
    for (int i = 0; i < n; i++)
        g[i] = x[i] * 2.0;
    for (int i = 0; i < n; i++)
        a[i] = 0.25 * i;
    for (int i = 0; i < n; i++)
        c[i] = t[n - 1 - i];
#pragma endscop
}
