/* A scalar of each iteration whose last value is needed afterwards. */
void last_value(int n, double a[n], double b[n], double *last)
{
    double x = 0.0;
#pragma scop
    for (int i = 0; i < n; i++) {
        x = 0.5 * a[i];
        b[i] = x * x;
    }
#pragma endscop
    *last = x;
}
