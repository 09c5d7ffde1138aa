/* Writes that happen or not, in a pipeline, and a histogram. */
void may_write(int n, double a[n], double t[n], double out[n], int h[16], int key[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        t[i] = a[i] * 2.0;
    for (int i = 0; i < n; i++)
        if (a[i] > 0.0)
            t[i] = 1.0 + a[i];
    for (int i = 0; i < n; i++)
        if (a[i] > 0.5)
            t[i] = 7.0 * a[i];
    for (int i = 1; i < n; i++)
        out[i] = t[i] - t[i - 1];
    for (int i = 0; i < n; i++)
        h[key[i] & 15] += 1;
#pragma endscop
}
