double norm, last;

void f(int n, const double *a)
{
#pragma scop
    for (int i = 1; i < n; i++) {
        norm = 0.5 * norm + a[i];
        for (int j = 0; j < i; j++)
            last += norm * a[j];
    }
#pragma endscop
}
