/* `a` and `b` live in one iteration, `c` is read by the next one too, `d` is needed afterwards. */
void chain(int n, double in[n], double d[n], double out[n])
{
    double a[n], b[n], c[n];
#pragma scop
    for (int i = 0; i < n; i++)
        a[i] = 2.0 * in[i] + 1.0;
    for (int i = 0; i < n; i++)
        b[i] = a[i] > 0.5 ? a[i] : -a[i];
    for (int i = 0; i < n; i++)
        d[i] = a[i] * b[i];
    for (int i = 0; i < n; i++)
        c[i] = d[i] + b[i];
    for (int i = 1; i < n; i++)
        out[i] = c[i] - c[i - 1];
#pragma endscop
}
