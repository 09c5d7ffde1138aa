void upwind(int n, double q[n], double a[n], double f[n])
{
#pragma scop
    for (int i = 1; i < n; i++)
        f[i] = a[i] > 0 ? a[i] * q[i - 1] : a[i] * q[i];
#pragma endscop
}
