/* An index temporary, clamped at the border. */
void f(int n, double c[n], const double a[n])
{
#pragma scop
    for (int x = 0; x < n; x++) {
        int xm = x < 1 ? 0 : x - 1;
        c[x] = a[x] - a[xm];
    }
#pragma endscop
}
