void f(unsigned n, double *a, const double *b)
{
#pragma scop
    for (unsigned i = 0; i < n - 1; i++)
        a[i] = b[i + 1];
#pragma endscop
}
