/* Producers that are computed where they are read: transposed, with rounding, shifted, by two readers, in a chain. */
void inlined(int n, double a[n][n], float s[n], double out[n][n], double rows[n], double even[n], double odd[n])
{
    float t[n][n];
    double u[n + 1], v[2 * n], w[2 * n];
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            t[i][j] = a[i][j] / 3.0 + j;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            out[i][j] = t[j][i] - s[j];
    for (int i = 0; i <= n; i++)
        u[i] = i > 0 ? a[i - 1][0] * i : 1.0;
    for (int i = 0; i < n; i++)
        rows[i] = 2.0 - u[i + 1];
    for (int i = 0; i < 2 * n; i++)
        v[i] = 0.5 * s[i / 2] + i;
    for (int i = 0; i < 2 * n; i++)
        w[i] = v[2 * n - 1 - i] * i;
    for (int i = 0; i < n; i++)
        even[i] = w[2 * i];
    for (int i = 0; i < n; i++)
        odd[i] = w[2 * i + 1];
    for (int i = 1; i < n; i++)
        even[i] += odd[i - 1] * even[i - 1];
#pragma endscop
}
