void f(int n, double a[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
#ifdef HALVES
        a[i] = a[i] / 2;
#else
        a[i] = a[i] * 2;
#endif
#pragma endscop
}
