double total;

void f(int n, const double *a)
{
#pragma scop
    total = 0;
    for (int i = 0; i < n; i++)
        total += a[i];
#pragma endscop
}
