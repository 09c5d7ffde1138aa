/* Sweeps in one dimension, in diamonds: values come from both sides. */
void diamonds(int steps, int n, double a[n], double b[n])
{
#pragma scop
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < n - 1; i++)
            b[i] = 0.25 * (a[i - 1] + 2.0 * a[i] + a[i + 1]);
        for (int i = 1; i < n - 1; i++)
            a[i] = 0.25 * (b[i - 1] + 2.0 * b[i] + b[i + 1]);
    }
#pragma endscop
}
