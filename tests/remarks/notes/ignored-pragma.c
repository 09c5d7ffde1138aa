void f(int n, double *a)
{
#pragma scop
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        a[i] = 0;
#pragma endscop
}
