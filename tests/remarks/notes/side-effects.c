double next(double x);

void f(int n, double *a)
{
#pragma scop
    for (int i = 0; i < n; i++)
        a[i] = next(a[i]);
#pragma endscop
}
