/* An index temporary beside an array in place. */
void f(int n, double a[n], const double b[n + 1])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        int ip = i + 1;
        a[i] = b[ip] * 2;
    }
#pragma endscop
}
