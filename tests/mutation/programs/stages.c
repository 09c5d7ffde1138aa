/* Five stencils, the third of them in another type and and then doubles again: places in turn. */
void stages(int n, double in[n], double out[n])
{
    double a[n], b[n], c[n], d[n];
    float s[n];
#pragma scop
    for (int i = 1; i < n - 1; i++)
        a[i] = in[i - 1] + 2.0 * in[i + 1];
    for (int i = 2; i < n - 2; i++)
        b[i] = a[i - 1] - 0.5 * a[i + 1];
    for (int i = 3; i < n - 3; i++)
        s[i] = b[i - 1] + 3.0 * b[i + 1];
    for (int i = 4; i < n - 4; i++)
        c[i] = s[i - 1] + 0.25 * s[i + 1] + in[i];
    for (int i = 5; i < n - 5; i++)
        d[i] = c[i - 1] - 2.0 * c[i + 1];
    for (int i = 6; i < n - 6; i++)
        out[i] = d[i - 1] + 0.125 * d[i + 1];
#pragma endscop
}
