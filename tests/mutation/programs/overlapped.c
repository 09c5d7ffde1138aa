/* Two arrays that travel from step to step, one that each step makes anew, and a border that nobody writes. */
void overlapped(int steps, int n, double a[n], double b[n], double c[n])
{
#pragma scop
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < n - 1; i++)
            b[i] = a[i - 1] + 0.5 * a[i] + 0.25 * c[i + 1];
        for (int i = 1; i < n - 1; i++)
            a[i] = 0.5 * b[i] - 0.25 * b[i + 1];
        for (int i = 0; i < n - 2; i++)
            c[i] = 0.5 * c[i] + a[i + 1] - a[i];
    }
#pragma endscop
}
