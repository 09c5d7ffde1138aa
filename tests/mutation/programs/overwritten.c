/* The consumer overwrites what the producer reads: the producer must not run again after it. */
void overwritten(int n, double a[n])
{
    double b[n];
#pragma scop
    for (int i = 0; i < n; i++)
        b[i] = 0.5 * a[i];
    for (int i = 1; i < n - 1; i++)
        a[i] = b[i - 1] + b[i + 1] - b[i];
#pragma endscop
}
