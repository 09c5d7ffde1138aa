/* One producer of two consumers with different windows, and a third nest that takes both. */
void shared_producer(int n, double a[n + 8], double u[n], double v[n], double z[n])
{
    double p[n + 8];
#pragma scop
    for (int i = 0; i < n + 8; i++)
        p[i] = a[i] * a[i] + 1.0;
    for (int i = 0; i < n; i++)
        u[i] = p[i] + p[i + 1] + p[i + 2];
    for (int i = 0; i < n; i++)
        v[i] = p[i + 4] - p[i + 8];
    for (int i = 0; i < n; i++)
        z[i] = u[i] * v[i];
#pragma endscop
}
