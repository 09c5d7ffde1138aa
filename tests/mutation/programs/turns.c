void turns(int n, int s, double x[200], double y[200], double z[200])
{
#pragma scop
    for (int i = 0; i < n; i += s)
        x[i] = 2 * y[i] + i;
    for (int i = 0; i < n % s; i++)
        z[i] += y[i + n / s];
#pragma endscop
}
