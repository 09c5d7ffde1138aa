void f(int n, double a[n])
{
#pragma scop
#pragma polyc tile(16)
    for (int i = 1; i < n; i++)
        a[i] += a[i - 1];
#pragma endscop
}
