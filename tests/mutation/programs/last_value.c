/* A scalar of some iterations, which the data choose, whose last value is needed afterwards. */
void last_value(int n, double a[n], double b[n], double *last)
{
    double x = 0.0;
#pragma scop
    for (int i = 0; i < n; i++)
        if (a[i] > 0.0) {
            x = 0.5 * a[i];
            b[i] = x * x;
        }
#pragma endscop
    *last = x;
}
