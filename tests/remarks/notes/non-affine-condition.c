void f(int n, const double *b, double *a)
{
#pragma scop
    for (int i = 0; i < n; i++)
        if (b[i] > 0)
            a[i] = 1;
#pragma endscop
}
